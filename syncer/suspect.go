package syncer

import (
	"context"
	"errors"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Suspect implements owner: it asks /me after a walk's error that may be the whole source's: if it
// fails as well the source is in trouble, and its other streams are spared the
// attempt; if it answers, the trouble is the stream's own.
func (s *source) Suspect(ctx context.Context, t stream.Trouble) {
	failed := time.Now()
	if s.opening.Take(ctx) != nil {
		return // ctx has ended
	}
	defer s.opening.Free()
	s.mu.Lock()
	asked, vouched, ready := s.asked, s.vouched, s.ready
	s.mu.Unlock()
	refused := t.State == status.StateUnauthorized || t.State == status.StateKeyDisabled
	switch {
	case !ready, asked.After(failed): // another stream has found out meanwhile
		return
	case !refused && time.Since(vouched) < freshKey: // streams fail, and the source does not
		return
	}
	if refused && s.syncer.keys.Full() {
		s.troubled(t) // and is asked when there is room
		s.probeNow()
		return
	}
	err := s.askKey(ctx)
	switch {
	case err == nil:
		s.mu.Lock()
		s.vouched = time.Now()
		s.mu.Unlock()
	case !errors.Is(err, context.Canceled):
		s.Log.Debug("the source does not answer", "err", err)
	}
}

func isUnauthorized(err error) bool { return err != nil && api.IsUnauthorized(err) }

// Probes of a source in trouble: a refusal is a person's to mend, so it is asked
// about every few minutes, far from the 30 wrong-key requests a minute that shut
// an address out (api.md, "Limits"). A key that was put in another's place is not waited
// for (keyLook). A disabled key is often enabled again soon, which shows in nothing but
// an answer; a service that does not answer usually comes back soon, too.
const (
	refusedProbe     = 5 * time.Minute
	disabledFirst    = 30 * time.Second
	unreachableFirst = 15 * time.Second
	unreachableMost  = 5 * time.Minute
)

// disabledSoon is how many probes of a disabled key come sooner.
const disabledSoon = 3

// keyLook is how often a source in trouble looks whether its keys are others.
const keyLook = 3 * time.Second

// probeDelay is how long to wait before the next probe of a source whose last
// failures probes in a row ended in t; jitter in [0,1) spreads it.
func probeDelay(t stream.Trouble, failures int, jitter float64) time.Duration {
	before, base := max(failures-1, 0), refusedProbe
	switch {
	case t.MayPass():
		base = min(unreachableFirst<<min(before, 10), unreachableMost)
	case t.State == status.StateKeyDisabled && before < disabledSoon:
		base = disabledFirst << before
	}
	return max(base*3/4+time.Duration(jitter*float64(base)/2), t.RetryAfter)
}
