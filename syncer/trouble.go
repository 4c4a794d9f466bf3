package syncer

import (
	"errors"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/outage"
)

// trouble is why a source or a stream is not served, and how it shows.
type trouble struct {
	state  string
	detail string
	// explained: somebody else tells the log of it.
	explained bool
	// retryAfter is what the service asked for, zero for nothing.
	retryAfter time.Duration
}

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
func probeDelay(t trouble, failures int, jitter float64) time.Duration {
	before, base := max(failures-1, 0), refusedProbe
	switch {
	case t.mayPass():
		base = min(unreachableFirst<<min(before, 10), unreachableMost)
	case t.state == StateKeyDisabled && before < disabledSoon:
		base = disabledFirst << before
	}
	return max(base*3/4+time.Duration(jitter*float64(base)/2), t.retryAfter)
}

// mayPass tells that the trouble is not the key's.
func (t trouble) mayPass() bool { return t.state == StateUnreachable || t.state == StateFailing }

// failing is a trouble that is not the service's.
func failing(err error) trouble {
	return trouble{state: StateFailing, detail: err.Error(), explained: outage.OfWarehouse(err)}
}

// diagnose reads off an error what the source or stream is in, in words that say
// what to do next. What it does not know is failing, and tried again.
func diagnose(err error) trouble {
	t := failing(err)
	if e, ok := errors.AsType[*api.Error](err); ok {
		t.retryAfter = e.RetryAfter
	}
	switch {
	case api.IsUnauthorized(err):
		t.state, t.detail = StateUnauthorized, "the API refuses the key (401): it is wrong or was deleted; put a valid one in place"
	case api.IsKeyDisabled(err):
		t.state, t.detail = StateKeyDisabled, "the restaurant has disabled the key: ask it to enable the key or to create another"
	case api.IsAPIDisabled(err):
		t.state, t.detail = StateAPIDisabled, "online ordering is switched off at the restaurant; it is asked again"
	case api.IsScope(err), api.IsLocationForbidden(err):
		t.state = StateForbidden
	case api.IsNoEndpoint(err):
		t.state, t.detail = StateUnreachable, "the address is no endpoint of the API: is base_url right, version prefix included? "+err.Error()
	case api.IsRateLimited(err):
		t.state = StateFailing
	case api.IsTemporary(err):
		t.state = StateUnreachable
	}
	return t
}
