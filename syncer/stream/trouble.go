package stream

import (
	"errors"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// Trouble is why a source or a stream is not served, and how it shows.
type Trouble struct {
	State  string
	Detail string
	// Explained: another log line is about it.
	Explained bool
	// RetryAfter is what the service asked for, zero for nothing.
	RetryAfter time.Duration
}

// MayPass is true when the trouble is not the key's.
func (t Trouble) MayPass() bool {
	return t.State == status.StateUnreachable || t.State == status.StateFailing
}

// Failing is a trouble that is not the service's.
func Failing(err error) Trouble {
	return Trouble{State: status.StateFailing, Detail: err.Error(), Explained: errors.Is(err, sinks.ErrUnreachable)}
}

// Diagnose reads off an error what the source or stream is in, in words that say
// what to do next. What it does not know is failing, and tried again.
func Diagnose(err error) Trouble {
	t := Failing(err)
	if e, ok := errors.AsType[*api.Error](err); ok {
		t.RetryAfter = e.RetryAfter
	}
	switch {
	case api.IsUnauthorized(err):
		t.State, t.Detail = status.StateUnauthorized, "the API refuses the key (401): it is wrong or was deleted; put a valid one in place"
	case api.IsKeyDisabled(err):
		t.State, t.Detail = status.StateKeyDisabled, "the restaurant has disabled the key: ask it to enable the key or to create another"
	case api.IsAPIDisabled(err):
		t.State, t.Detail = status.StateAPIDisabled, "online ordering is switched off at the restaurant; it is asked again"
	case api.IsScope(err), api.IsLocationForbidden(err):
		t.State = status.StateForbidden
	case api.IsNoEndpoint(err):
		t.State, t.Detail = status.StateUnreachable, "the address is no endpoint of the API: is base_url right, version prefix included? "+err.Error()
	case api.IsRateLimited(err):
		t.State = status.StateFailing
	case api.IsTemporary(err):
		t.State = status.StateUnreachable
	}
	return t
}

// Misfit is the error of a configuration that wants what the key does not have.
func Misfit(text string) error {
	return &lifecycle.ExitError{Err: errors.New(text), Code: lifecycle.ExitUsage}
}

// ErrNoScope is what errors.Is finds when the key lacks the scope for what was asked.
var ErrNoScope error = &lifecycle.ExitError{Err: errors.New("the key lacks the scope"), Code: lifecycle.ExitAPI}
