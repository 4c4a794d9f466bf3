package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient reads what it can of a row; names are told apart by case.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// soft is a value, or zero where it is of another shape: that is no reason to lose what is beside it.
type soft[T any] struct{ is T }

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (s *soft[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if s.is = *new(T); err == nil && json.Unmarshal(raw, &s.is, lenient) != nil {
		s.is = *new(T)
	}
	return err
}

// refusal is the error of an answer other than 200.
func (k *call) refusal() *Error {
	e := &Error{
		Route: k.target.name(), Status: k.status, Attempts: k.attempts,
		RetryAfter: k.verdict.RetryAfter, Date: k.verdict.Date, Limit: k.verdict.Limit,
	}
	var body struct { // docs/openapi.yaml, Error
		Error soft[struct {
			Code    soft[string] `json:"code"`
			Message soft[string] `json:"message"`
			Details soft[struct {
				RequiredScope  soft[string]                    `json:"required_scope"`
				RequiredScopes soft[[]string]                  `json:"required_scopes"`
				GrantedScopes  soft[[]string]                  `json:"granted_scopes"`
				Fields         soft[map[string]soft[[]string]] `json:"fields"`
			}] `json:"details"`
		}] `json:"error"`
	}
	err := json.Unmarshal(k.body, &body, lenient)
	seen, details := &body.Error.is, &body.Error.is.Details.is
	if err != nil || seen.Code.is == "" { // what is no JSON to its end says nothing
		e.Message = k.unusual()
		return e
	}
	e.Code, e.Message = brief(redact(seen.Code.is, k.key)), brief(redact(seen.Message.is, k.key))
	e.RequiredScope = redact(cmp.Or(append([]string{details.RequiredScope.is}, details.RequiredScopes.is...)...), k.key)
	e.GrantedScopes = redact(strings.Join(details.GrantedScopes.is, " "), k.key)
	var fields strings.Builder
	for _, field := range slices.Sorted(maps.Keys(details.Fields.is)) {
		if messages := details.Fields.is[field].is; len(messages) > 0 {
			fields.WriteString("; " + field + ": " + strings.Join(messages, ", "))
		}
	}
	e.Fields = redact(fields.String(), k.key)
	return e
}

// unusual describes a refusal without the envelope of the API's description.
func (k *call) unusual() string {
	if k.status == http.StatusNotModified {
		return "it says that nothing has changed, and was not asked whether: a cache on the way may have answered"
	}
	if k.status >= 300 && k.status < 400 {
		return k.redirected()
	}
	if k.status == http.StatusProxyAuthRequired {
		return wantsPassword
	}
	if len(k.body) == 0 {
		return "no body"
	}
	text := fmt.Sprintf("content type %q, %q", k.contentType, k.excerpt(0))
	if k.status == http.StatusNotFound && k.verdict.Limit < 0 {
		return "no such endpoint, is the base URL right? " + text
	}
	return text
}

func (k *call) redirected() string {
	base := k.client.base
	asked, _ := k.target.in(base) // no error: it was asked
	to, err := asked.Parse(k.location)
	if err != nil || k.location == "" || to.Host == "" {
		return "a redirect that leads nowhere"
	}
	where, advice := to.Scheme+"://"+to.Host, "if that is the service, put it into the base URL"
	if to.Scheme == base.Scheme && strings.EqualFold(to.Host, base.Host) {
		where, advice = to.Path, "is the path of base_url right?" // a query may hold anything
	}
	return fmt.Sprintf("a redirect to %q was not followed; %s", brief(redact(where, k.key)), advice)
}
