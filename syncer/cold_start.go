package syncer

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// restoreAgain is how old a reading of the stored state may be when it is taken over.
const restoreAgain = time.Minute

// restore reads what the sink has stored before anything is asked of the API, once,
// and again when that was long ago. Where a process before this one was at work,
// the key's budget starts with care: how much that one has spent is known to nobody
// but the service (DESIGN B2). How long ago that was is not asked: what was stored
// bears the stamps of another clock, and either may be wrong by hours.
func (s *source) restore(ctx context.Context) error {
	if s.opened || !s.restoredAt.IsZero() && time.Since(s.restoredAt) < restoreAgain {
		return nil
	}
	state, err := s.syncer.opts.Sink.State(ctx, s.cfg.Name)
	if err != nil {
		return fmt.Errorf("read the stored state: %w", err)
	}
	s.stored.Store(&state) // status reads it, from goroutines of its own
	for _, st := range s.wholes {
		st.Restore(state) // for siblings, which ask what the source lists also while its key is refused
	}
	if s.restoredAt.IsZero() && len(state.Checkpoints)+len(state.Statuses) > 0 {
		// The first request has to wait, and is waited for here: it would else hold the place
		// among the tried keys meanwhile, which many sources share.
		if !lifecycle.Pause(ctx, s.link.FollowProcess(state.Business)) {
			return context.Cause(ctx)
		}
	}
	s.restoredAt = time.Now()
	return nil
}
