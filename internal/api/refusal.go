package api

import (
	"cmp"
	encodingjson "encoding/json"
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

// refusal is the error of an answer other than 200.
func (k *call) refusal() *Error {
	e := &Error{
		Route: k.target.name(), Status: k.status, Attempts: k.attempts,
		RetryAfter: k.verdict.RetryAfter, Date: k.verdict.Date, Limit: k.verdict.Limit,
	}
	var body struct { // api.md, "Errors"
		Error struct {
			Code, Message string
			Details       struct {
				RequiredScope  string   `json:"required_scope"`
				RequiredScopes []string `json:"required_scopes"`
				GrantedScopes  []string `json:"granted_scopes"`
				Fields         map[string][]string
			}
		}
	}
	// Unlike the package that reads rows, encoding/json goes on behind a field of another shape.
	_ = encodingjson.Unmarshal(k.body, &body) // what cannot be read is not shown
	seen, details := &body.Error, &body.Error.Details
	if seen.Code == "" {
		e.Message = k.unusual()
		return e
	}
	e.Code, e.Message = brief(redact(seen.Code, k.key)), brief(redact(seen.Message, k.key))
	e.RequiredScope = redact(cmp.Or(append([]string{details.RequiredScope}, details.RequiredScopes...)...), k.key)
	e.GrantedScopes = redact(strings.Join(details.GrantedScopes, " "), k.key)
	var fields strings.Builder
	for _, field := range slices.Sorted(maps.Keys(details.Fields)) {
		if messages := details.Fields[field]; len(messages) > 0 {
			fields.WriteString("; " + field + ": " + strings.Join(messages, ", "))
		}
	}
	e.Fields = redact(fields.String(), k.key)
	return e
}

// unusual describes a refusal without the envelope of api.md.
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
	to, err := k.client.base.Parse(k.location)
	if err != nil || k.location == "" || to.Host == "" {
		return "a redirect that leads nowhere"
	}
	return fmt.Sprintf("a redirect to %q was not followed; if that is the service, put it into the base URL", to.Scheme+"://"+to.Host)
}
