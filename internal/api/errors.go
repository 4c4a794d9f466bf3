package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
)

// Codes of the error envelope that the read side knows (docs/openapi.yaml, Error).
const (
	CodeKeyDisabled       = "api_key_disabled"
	CodeAPIDisabled       = "api_disabled"
	CodeInsufficientScope = "insufficient_scope"
	CodeLocationForbidden = "location_forbidden"
	CodeNotFound          = "not_found"
)

// Error is an answer other than 200.
type Error struct {
	Route  string // "GET /products/{id}"
	Status int
	// Code is empty when the body was not the envelope of the API's description: then Message
	// tells what was seen instead, and a proxy on the way is likely to have
	// answered.
	Code    string
	Message string
	Fields  string // of a 422: what is wrong with each, "; cursor: changed; to: bad"
	// Scopes of a 403 insufficient_scope.
	RequiredScope string
	GrantedScopes string
	RetryAfter    time.Duration // 0: not said
	Date          time.Time     // the service's clock, zero when not said
	// Limit is X-RateLimit-Limit, -1 when missing: the service counts every
	// request of a valid key to a route that exists (docs/openapi.yaml, Limits a minute).
	Limit    int
	Attempts int
}

// ExitCode is that of a refused key, of a base_url that is no endpoint, or of any other problem.
func (e *Error) ExitCode() int {
	switch {
	case IsUnauthorized(e), IsKeyDisabled(e), IsScope(e), IsLocationForbidden(e):
		return lifecycle.ExitAPI
	case IsNoEndpoint(e):
		return lifecycle.ExitUsage
	}
	return lifecycle.ExitProblem
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d %s", e.Route, e.Status, cmp.Or(e.Code, http.StatusText(e.Status)))
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.RequiredScope != "" {
		fmt.Fprintf(&b, " (needs %s, the key has %s)", brief(e.RequiredScope), brief(cmp.Or(e.GrantedScopes, "none")))
	}
	b.WriteString(brief(e.Fields))
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, " (retry after %s)", e.RetryAfter)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return text.Visible(b.String()) // the service's words are on one line, and cannot play at being ours
}

// IsUnauthorized is true of a missing, wrong or deleted key.
func IsUnauthorized(err error) bool { return hasStatus(err, http.StatusUnauthorized) }

// IsKeyDisabled is true of a key that the restaurant disabled.
func IsKeyDisabled(err error) bool { return forbidden(err, CodeKeyDisabled) }

// IsAPIDisabled is true when online ordering is off, which is normal life.
func IsAPIDisabled(err error) bool { return forbidden(err, CodeAPIDisabled) }

// IsScope is true of a call outside the key's scopes.
func IsScope(err error) bool { return forbidden(err, CodeInsufficientScope) }

// IsLocationForbidden is true of a location_id that the key is not allowed.
func IsLocationForbidden(err error) bool { return forbidden(err, CodeLocationForbidden) }

// IsNotFound is true of an id that the service does not know. A 404 that the service
// did not count is an address that is no endpoint, which proves nothing about
// the id: see [IsNoEndpoint].
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusNotFound && e.Code == CodeNotFound && e.Limit >= 0
}

// IsNoEndpoint is true of an address that the service does not serve: the base URL
// is wrong, or a proxy answered.
func IsNoEndpoint(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusNotFound && (e.Code != CodeNotFound || e.Limit < 0)
}

// IsValidation is true of a 422: a refused cursor, date, instant or filter.
func IsValidation(err error) bool { return hasStatus(err, http.StatusUnprocessableEntity) }

// IsRateLimited is true of a 429.
func IsRateLimited(err error) bool { return hasStatus(err, http.StatusTooManyRequests) }

// IsTemporary is true of errors that may pass by themselves: no answer, an answer
// that makes no sense, 429, and 5xx of the service or of a proxy. An ended context is none.
func IsTemporary(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status == http.StatusTooManyRequests || e.Status >= 500
	}
	if e, ok := errors.AsType[*ProxyError](err); ok {
		return e.Status >= 500
	}
	if _, ok := errors.AsType[*BodyError](err); ok {
		return true
	}
	_, ok := errors.AsType[*TransportError](err)
	return ok
}

func hasStatus(err error, status int) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == status
}

// forbidden is true of a 403 with this code; without a code, a proxy has answered.
func forbidden(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusForbidden && e.Code == code
}
