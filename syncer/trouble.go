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
