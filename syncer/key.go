package syncer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// freshKey is how old an answer of /me may be to spare another request.
const freshKey = 10 * time.Second

// connect makes the source ready: what is stored is taken over, and /me answers.
// On an error the source is in trouble and the next probe is set.
func (s *source) connect(ctx context.Context) error {
	if err := s.opening.Take(ctx); err != nil {
		return err
	}
	defer s.opening.Release()
	if s.IsReady() {
		return nil
	}
	return s.askKey(ctx)
}

// Refresh asks /me again, unless it has just answered.
func (s *source) Refresh(ctx context.Context) error {
	if err := s.opening.Take(ctx); err != nil {
		return err
	}
	defer s.opening.Release()
	if recent, ready := s.condition.Answered(time.Now().Add(-freshKey)); recent && ready {
		return nil
	}
	return s.askKey(ctx)
}

// askKey asks /me and acts on the answer. The caller holds opening.
func (s *source) askKey(ctx context.Context) error {
	if err := s.restore(ctx); err != nil {
		if ctx.Err() == nil {
			s.condition.Troubled(stream.Failing(err))
		}
		return err
	}
	me, err := s.me(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.condition.Troubled(stream.Diagnose(err))
		return err
	}
	if err := s.open(ctx, me.Value); err != nil {
		if ctx.Err() == nil {
			s.condition.Troubled(stream.Failing(err))
		}
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.accept(ctx, me)
	return nil
}

// me asks /me, one at a time.
func (s *source) me(ctx context.Context) (api.Document[types.Me], error) {
	stored := s.stored.Load()
	failed := slices.ContainsFunc(stored.Statuses, func(st sinks.StreamStatus) bool { return st.State == status.StateFailing })
	return s.link.Me(ctx, s.IsReady(), stored.Business != "" && !failed)
}

// tryChangedKey asks /me when a key is another than when it was last asked with: one that
// was put in place is not left waiting for a probe, and is used for nothing else before.
func (s *source) tryChangedKey(ctx context.Context) {
	if !s.link.Changed() {
		return
	}
	if s.opening.Take(ctx) != nil {
		return // ctx has ended
	}
	defer s.opening.Release()
	if err := s.askKey(ctx); err != nil && ctx.Err() == nil {
		s.Log.Debug("the changed key is refused", "err", err)
	}
}

// open takes over what the sink has stored, once.
func (s *source) open(ctx context.Context, me types.Me) error {
	if s.opened {
		return s.sameBusiness(s.Business(), me.Business.ID)
	}
	if err := s.restore(ctx); err != nil {
		return err
	}
	stored := *s.stored.Load()
	if err := s.sameBusiness(stored.Business, me.Business.ID); err != nil {
		return err
	}
	if err := s.settlePersonal(ctx, me.Business.ID); err != nil {
		return err
	}
	for _, st := range s.streams {
		st.Restore(stored)
	}
	s.opened = true
	return nil
}

// sameBusiness refuses a key of another restaurant: checkpoints belong to a
// source's name, and those of one restaurant say nothing about another.
func (s *source) sameBusiness(stored, now string) error {
	if stored == "" || stored == now {
		return nil
	}
	return fmt.Errorf("the key belongs to business %s, but source %q has mirrored business %s: give the other restaurant a source name of its own", now, s.cfg.Name, stored)
}

// accept acts on what /me says: limits, scopes, locations. It stores the row of the key when that
// has changed.
func (s *source) accept(ctx context.Context, me api.Document[types.Me]) {
	s.NoteServiceTime(me.Date)
	s.link.Accept(me.Value)
	key := s.admit(ctx, me.Value)
	state, detail := status.StateRunning, ""
	switch {
	case len(key.Unknown) > 0:
		state, detail = status.StateFailing, unknownLocations(key)
	case len(key.Inactive) > 0:
		detail = fmt.Sprintf("locations %s of the configuration are not active, or not the key's any more: their rows stay until a full resync does not find them", quoted(key.Inactive))
	}
	s.condition.Healthy(state, detail)
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

func unknownLocations(key stream.Identity) string {
	return fmt.Sprintf("locations %q of the configuration are not among the key's active locations (%s): correct or remove them", key.Unknown, quoted(key.Locations))
}

func quoted(ids []string) string {
	var q []string
	for _, id := range ids {
		q = append(q, fmt.Sprintf("%q", id))
	}
	return strings.Join(q, ", ")
}

// askKeyRow asks for the key's row, also when it is not understood.
func askKeyRow(ctx context.Context, lane *api.Client) ([][]byte, time.Time, error) {
	me, err := lane.Me(ctx)
	if len(me.Raw) == 0 && err != nil {
		return nil, time.Time{}, err
	}
	return [][]byte{me.Raw}, me.Date, nil
}
