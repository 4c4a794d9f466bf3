package syncer

import (
	"context"
	"errors"
	"time"

	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// CheckSource implements stream.Owner: it asks /me after a walk's error that may be the whole
// source's. If that fails as well the source is in trouble, and its other streams are spared
// the attempt; if it answers, the trouble is the stream's own.
func (s *source) CheckSource(ctx context.Context, t stream.Trouble) {
	failed := time.Now()
	if s.opening.Take(ctx) != nil {
		return // ctx has ended
	}
	defer s.opening.Release()
	answered, ready := s.condition.Answered(failed)
	refused := t.State == status.StateUnauthorized || t.State == status.StateKeyDisabled
	switch {
	case !ready, answered: // another stream has found out meanwhile
		return
	case !refused && time.Since(s.condition.Confirmed()) < freshKey: // streams fail, and the source does not
		return
	}
	if refused && s.syncer.keys.Full() {
		s.condition.Troubled(t) // and is asked when there is room
		s.condition.ProbeNow()
		return
	}
	err := s.askKey(ctx)
	switch {
	case err == nil:
		s.condition.NoteConfirmed()
	case !errors.Is(err, context.Canceled):
		s.Log.Debug("the source does not answer", "err", err)
	}
}
