package syncer

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
)

const (
	// restoreAgain is how old a reading of the stored state may be when it is
	// taken over.
	restoreAgain = time.Minute
	// coldStartWithin is how long after the last checkpoint a process before this one is
	// taken to have been at work until just now. What it spends is forgotten after
	// a minute; but the stamps are the service's, whose clock is not known yet, and
	// walks that bring nothing leave none.
	coldStartWithin = time.Hour
)

// restore reads what the sink has stored before anything is asked of the API, once,
// and again when that was long ago. Where a process before this one was at work
// lately, the key's budget starts with care: how much that one has spent is
// known to nobody but the service (DESIGN B2).
func (s *source) restore(ctx context.Context) error {
	if s.opened || !s.restoredAt.IsZero() && time.Since(s.restoredAt) < restoreAgain {
		return nil
	}
	if err := s.awaitPrevious(ctx); err != nil {
		return err
	}
	state, err := s.syncer.opts.Sink.State(ctx, s.cfg.Name)
	if err != nil {
		return fmt.Errorf("read the stored state: %w", err)
	}
	s.mu.Lock()
	s.stored = state // status reads it, from goroutines of its own
	s.mu.Unlock()
	if s.restoredAt.IsZero() && s.syncer.opts.Now().Sub(lastSeen(state)) < coldStartWithin {
		return s.coldStart(ctx)
	}
	s.restoredAt = time.Now()
	return nil
}

// coldStart has the first request wait, and waits for it here: it would else hold
// the place among the tried keys meanwhile, which many sources share.
func (s *source) coldStart(ctx context.Context) error {
	wait := s.link.Key.Succeed()
	if !stream.Sleep(ctx, wait) {
		return context.Cause(ctx)
	}
	s.restoredAt = time.Now()
	return nil
}

// lastSeen is when a process was last seen at work on the source, zero if never.
func lastSeen(state sinks.State) (at time.Time) {
	for _, cp := range state.Checkpoints {
		at = stream.Later(at, cp.UpdatedAt)
	}
	for _, st := range state.Statuses {
		at = stream.Later(at, st.ChangedAt)
	}
	return at
}
