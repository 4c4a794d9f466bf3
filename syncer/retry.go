package syncer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/link"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/stream"
)

// A pass tries what has failed again, from its checkpoint, as the daemon does at its
// next turns: with pauses that grow, until nothing has come of it for some time.
const (
	firstPause = time.Second
	mostPause  = time.Minute
)

// retryUntil runs f until it goes well, fails in a way that no trying mends, or has not
// moved for as long as the limit. moved is how far it is: any other number than before
// is further. A step without pages succeeds or fails as a whole.
func (s *source) retryUntil(ctx context.Context, limit time.Duration, st *stream.Stream, moved func() uint64, f func(context.Context) error) error {
	// After a 401 it goes on when /me has answered since, with another key, say.
	mayPass := func(err error) bool {
		_, stuck := errors.AsType[*list.StuckError](err)
		return stuck || errors.Is(err, link.ErrBusy) || api.IsTemporary(err) || api.LeadsNowhere(err) ||
			api.IsUnauthorized(err) && s.IsReady()
	}
	began, at := time.Now(), moved()
	stuck := time.Time{}
	for failures := 1; ; failures++ {
		err := f(ctx)
		if err == nil || ctx.Err() != nil || limit == 0 || !mayPass(err) {
			return err
		}
		if e, ok := errors.AsType[*list.StuckError](err); ok {
			if e.Since.Equal(stuck) {
				return err // pages came again, and led nowhere again
			}
			stuck = e.Since
		}
		if now := moved(); now != at {
			began, at, failures = time.Now(), now, 1
		}
		pause := link.Pause(s.cfg.Name, firstPause, mostPause, failures)
		if st != nil {
			pause = max(pause, time.Until(st.WaitUntil())) // the service has asked for that
		}
		if time.Since(began)+pause > limit {
			return fmt.Errorf("%w; it was tried again for %s and came no further", err, time.Since(began).Round(time.Second))
		}
		if st == nil && failures == 1 { // of a stream, its walk has logged it
			s.Log.Warn("the source is tried again", "for_at_most", limit, "err", err)
		}
		if !lifecycle.Pause(ctx, pause) {
			return context.Cause(ctx)
		}
		if st == nil {
			continue
		}
		if err := s.askKey(ctx, s.IsReady); err != nil && !mayPass(err) {
			return err
		}
	}
}
