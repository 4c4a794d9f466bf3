package syncer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/link"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Refresh implements stream.Owner.
func (s *source) Refresh(ctx context.Context) error { return s.askKey(ctx, s.link.IsRecent) }

// CheckSource implements stream.Owner: it asks /me after a walk's error that may be the whole
// source's. If that fails as well the source is in trouble, and its other streams are spared
// the attempt; if it answers, the trouble is the stream's own.
func (s *source) CheckSource(ctx context.Context, err error) {
	failed := time.Now()
	trouble := s.askKey(ctx, func() bool { return !s.link.IsInDoubt(err, failed) })
	if trouble != nil && !errors.Is(trouble, context.Canceled) {
		s.Log.Debug("the source does not answer", "err", trouble)
	}
}

// askKey takes over what is stored, asks /me and acts on the answer, one at a time, unless skip
// returns true by then. On an error the source is in trouble, and the next probe is set.
func (s *source) askKey(ctx context.Context, skip func() bool) error {
	return s.opening.Run(ctx, func(ctx context.Context) error {
		if skip() {
			return nil
		}
		me, err := s.probe(ctx)
		if err == nil {
			err = s.open(ctx, me.Value.Business.ID)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, link.ErrBusy) {
			s.link.PutOff()
			return err
		}
		if err != nil {
			s.link.Troubled(stream.Diagnose(err))
			return err
		}
		s.accept(ctx, me)
		return nil
	})
}

// restore reads what the sink has stored, once in a life: no other process writes it meanwhile. Where
// a process before this one was at work, the key's budget starts with care: how much that one has
// spent is known to nobody but the service (docs/rules.md B2). How long ago that was is not asked: what
// was stored bears the stamps of another clock, and either may be wrong by hours.
func (s *source) restore(ctx context.Context) error {
	if s.restored {
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
	if len(state.Checkpoints)+len(state.Statuses) > 0 {
		// The first request has to wait, and is waited for here: it would else hold the place
		// among the tried keys meanwhile, which many sources share.
		if !lifecycle.Pause(ctx, s.link.FollowProcess(state.Business)) {
			return context.Cause(ctx)
		}
	}
	s.restored = true
	return nil
}

// probe reads what is stored of the source, and asks /me. A key of another restaurant is refused:
// checkpoints belong to a source's name, and those of one restaurant say nothing about another.
func (s *source) probe(ctx context.Context) (me api.Document[types.Me], err error) {
	if err := s.restore(ctx); err != nil {
		return me, err
	}
	stored := s.stored.Load()
	failed := slices.ContainsFunc(stored.Statuses, func(st sinks.StreamStatus) bool { return st.State == status.StateFailing })
	if me, err = s.link.Me(ctx, stored.Business != "" && !failed); err != nil {
		return me, err
	}
	was, now := stored.Business, me.Value.Business.ID
	if s.opened { // else it is what the last life knew
		was = s.Business()
	}
	if was != "" && was != now {
		return me, fmt.Errorf("the key belongs to business %s, but source %q has mirrored business %s: give the other restaurant a source name of its own", now, s.cfg.Name, was)
	}
	return me, nil
}

// open takes over what the sink has stored, once. It erases what is stored of customers beyond what
// the policy keeps, before anything is asked for.
func (s *source) open(ctx context.Context, business string) error {
	if s.opened {
		return nil
	}
	if err := s.readForgotten(ctx, business); err != nil {
		return err
	}
	if _, err := s.syncer.onlineOrders(business, s.Log).Settle(ctx, s.cfg.Name, s.cfg.Personal, s.cfg.ErasesBeyond); err != nil {
		if ctx.Err() != nil {
			return err
		}
		// The restaurant's other data is not kept waiting for that.
		s.Log.Error("what is not to be kept of customers could not be erased; it is tried again when the source is next opened", "err", err)
	}
	for _, st := range s.streams {
		st.Kind.Restore(*s.stored.Load())
	}
	s.opened = true
	return nil
}

// accept acts on what /me says: limits, and each stream is switched on or off by configuration and
// scopes, and asked for in the locations that the key lets it. It stores the row of the key when
// that has changed. The caller holds opening.
func (s *source) accept(ctx context.Context, me api.Document[types.Me]) {
	key := s.identify(me)
	for _, l := range s.lists {
		l.NoteKey(ctx) // of one that is off, too: what its walks have passed by is still to come
	}
	for _, st := range s.streams {
		if reason := offReason(st, key); reason != "" {
			st.Set(ctx, status.StateOff, reason)
		} else if st.Off() {
			st.Set(ctx, status.StateStarting, "")
		}
	}
	state, detail := status.StateRunning, ""
	if err := configurationError(key); err != nil {
		state, detail = status.StateFailing, err.Error()
	} else if len(key.Inactive) > 0 {
		detail = fmt.Sprintf("locations %q of the configuration are not active, or not the key's any more: their rows stay until a full resync does not find them", key.Inactive)
	}
	s.link.Healthy(state, detail)
	st := s.keyRow
	if st.Off() {
		return
	}
	err := st.Guard.Run(ctx, func(ctx context.Context) error {
		return st.Attempt(ctx, sinks.WalkSnapshot, func(ctx context.Context) error {
			return st.ReplaceWith(ctx, [][]byte{me.Raw}, s.AnswerTime(me.Date))
		})
	})
	if err != nil && ctx.Err() == nil {
		s.Log.Error("store the key", "err", err)
	}
}

// configurationError is the error of configured locations that the key does not have.
func configurationError(key stream.Identity) error {
	if len(key.Unknown) == 0 {
		return nil
	}
	return stream.Misfit(fmt.Sprintf("locations %q of the configuration are not among the key's active locations %q: correct or remove them", key.Unknown, key.Locations))
}

// askKeyRow asks for the key's row, also when it is not understood.
func askKeyRow(ctx context.Context, lane *api.Client) ([][]byte, time.Time, error) {
	me, err := lane.Me(ctx)
	if len(me.Raw) == 0 && err != nil {
		return nil, time.Time{}, err
	}
	return [][]byte{me.Raw}, me.Date, nil
}
