package syncer

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/keyprobe"
	"github.com/larder-sync/larder/syncer/link"
	"github.com/larder-sync/larder/syncer/registry"
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
	s.accept(ctx, me)
	return nil
}

// me asks with the keys there are, one after the other until one is not refused (a key
// can be rotated with 24 hours of overlap: api.md, "Authentication" 7).
func (s *source) me(ctx context.Context) (me api.Document[types.Me], err error) {
	var first error
	for i, key := range s.link.Candidates() {
		if i > 0 {
			s.Log.Debug("the key was refused, trying the next one")
		}
		me, err = s.meWith(ctx, key)
		if !isUnauthorized(err) {
			return me, err
		}
		first = cmp.Or(first, err)
	}
	return me, first
}

// meWith asks /me with one key. A key that may be wrong waits for its turn, since the service
// counts wrong keys. The key in use of a source that is served is known to be right and asks
// at once.
func (s *source) meWith(ctx context.Context, key link.Candidate) (api.Document[types.Me], error) {
	leave := func(refused bool) {
		if refused {
			s.syncer.keys.Refused()
		}
	}
	if !key.InUse || !s.IsReady() {
		var err error
		if leave, err = s.syncer.keys.Enter(ctx, s.rankOf(key)); err != nil {
			return api.Document[types.Me]{}, err
		}
	}
	refused := true // also when it panics
	defer func() { leave(refused) }()
	me, err := s.link.Try(ctx, key)
	// The service may count a disabled key among the wrong ones, and does not answer
	// otherwise than with 429 where there were too many.
	refused = err != nil && (api.IsUnauthorized(err) || api.IsKeyDisabled(err) || api.IsRateLimited(err))
	return me, err
}

// rankOf is how soon a key may be tried.
func (s *source) rankOf(key link.Candidate) keyprobe.Rank {
	failed := func(st sinks.StreamStatus) bool { return st.State == status.StateFailing }
	switch {
	case key.Refused:
		return keyprobe.Repeat
	case key.InUse, s.stored.Business != "" && !slices.ContainsFunc(s.stored.Statuses, failed):
		return keyprobe.Known
	}
	return keyprobe.New
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
	if err := s.sameBusiness(s.stored.Business, me.Business.ID); err != nil {
		return err
	}
	if err := s.settlePersonal(ctx, me.Business.ID); err != nil {
		return err
	}
	for _, st := range s.streams {
		st.Restore(s.stored)
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

// accept acts on what /me says: limits, scopes, locations.
func (s *source) accept(ctx context.Context, me api.Document[types.Me]) {
	v := me.Value
	s.NoteServiceTime(me.Date)
	s.link.UseTried()
	s.link.TakeLimits(v)
	key, err := s.admit(ctx, v)
	if err != nil {
		return // ctx has ended
	}
	state, detail := status.StateRunning, ""
	switch {
	case len(key.Unknown) > 0:
		state, detail = status.StateFailing, unknownLocations(key)
	case len(key.Inactive) > 0:
		detail = fmt.Sprintf("locations %s of the configuration are not active, or not the key's any more: their rows stay until a full resync does not find them", quoted(key.Inactive))
	}
	s.condition.Healthy(state, detail)
	s.storeKey(ctx, me)
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

// storeKey writes the key's row when it has changed.
func (s *source) storeKey(ctx context.Context, me api.Document[types.Me]) {
	st := s.keyRow
	if st.Off() {
		return
	}
	err := st.Exclusive(ctx, st.Guard, func(ctx context.Context) error {
		return st.Attempt(ctx, sinks.WalkSnapshot, func(ctx context.Context) error {
			return st.ReplaceWith(ctx, [][]byte{me.Raw}, s.AnswerTime(me.Date))
		})
	})
	if err != nil && ctx.Err() == nil {
		s.Log.Error("store the key", "err", err)
	}
}

// askKeyRow asks for the key's row, also when it is not understood.
func askKeyRow(ctx context.Context, lane *api.Client) ([][]byte, time.Time, error) {
	me, err := lane.Me(ctx)
	if len(me.Raw) == 0 && err != nil {
		return nil, time.Time{}, err
	}
	return [][]byte{me.Raw}, me.Date, nil
}

// observe counts an attempt of a request.
func (s *source) observe(e api.Exchange) {
	if e.Status == http.StatusUnauthorized && e.Route != registry.RouteKey {
		s.syncer.keys.Refused()
	}
	s.counters.requested(s.cfg.Name, e.Route, e.Status)
}
