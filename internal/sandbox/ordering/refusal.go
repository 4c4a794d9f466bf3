package ordering

import "fmt"

// The codes of api.md, "Errors", that a Book refuses with.
const (
	CodeBadRequest          = "bad_request"
	CodeValidation          = "validation_failed"
	CodeNotFound            = "not_found"
	CodeLocationForbidden   = "location_forbidden"
	CodeLocationUnavailable = "location_unavailable"
	CodeItemsUnavailable    = "items_unavailable"
	CodePriceChanged        = "price_changed"
	CodeCannotCancel        = "cannot_cancel"
)

// Refusal is why a request was not carried out. It has changed nothing.
type Refusal struct {
	Code    string
	Details map[string]any
}

// Error is the code and its details.
func (r *Refusal) Error() string { return fmt.Sprintf("%s %v", r.Code, r.Details) }

// invalid collects what is wrong with a request, by the path of the field.
type invalid map[string][]string

func (v invalid) add(field, format string, args ...any) {
	v[field] = append(v[field], fmt.Sprintf(format, args...))
}

// refusal is nil when nothing is wrong.
func (v invalid) refusal() *Refusal {
	if len(v) == 0 {
		return nil
	}
	return &Refusal{Code: CodeValidation, Details: map[string]any{"fields": map[string][]string(v)}}
}
