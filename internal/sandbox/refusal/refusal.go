// Package refusal is why a request to the service is not carried out: the codes of the API's
// description (docs/openapi.yaml, Error). Contents: codes and details.
package refusal

import "fmt"

// The codes of the API's description, and one that it lacks, for a method that an address does
// not have.
const (
	Unauthorized        = "unauthorized"
	KeyDisabled         = "api_key_disabled"
	APIDisabled         = "api_disabled"
	Scope               = "insufficient_scope"
	LocationForbidden   = "location_forbidden"
	NotFound            = "not_found"
	Method              = "method_not_allowed"
	BadRequest          = "bad_request"
	Validation          = "validation_failed"
	NoWebhook           = "webhook_not_configured"
	RateLimited         = "rate_limited"
	ServerError         = "server_error"
	Unavailable         = "service_unavailable"
	LocationUnavailable = "location_unavailable"
	ItemsUnavailable    = "items_unavailable"
	PriceChanged        = "price_changed"
	CannotCancel        = "cannot_cancel"
)

// Refusal is why a request was not carried out. It has changed nothing.
type Refusal struct {
	Code    string
	Details map[string]any
}

// Of is a refusal without details.
func Of(code string) *Refusal { return &Refusal{Code: code} }

// Error is the code and its details.
func (r *Refusal) Error() string { return fmt.Sprintf("%s %v", r.Code, r.Details) }

// Invalid collects what is wrong with a request, by field or parameter.
type Invalid map[string][]string

// Add says what is wrong with a field.
func (v Invalid) Add(field, format string, args ...any) {
	v[field] = append(v[field], fmt.Sprintf(format, args...))
}

// Refusal is nil when nothing is wrong.
func (v Invalid) Refusal() *Refusal {
	if len(v) == 0 {
		return nil
	}
	return &Refusal{Code: Validation, Details: map[string]any{"fields": map[string][]string(v)}}
}
