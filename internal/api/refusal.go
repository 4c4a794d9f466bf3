package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// refused is the error envelope (api.md, "Errors").
type refused struct {
	Error *struct {
		Code           string          `json:"code"`
		Message        string          `json:"message"`
		DisplayMessage string          `json:"display_message"`
		Details        json.RawMessage `json:"details"`
	} `json:"error"`
}

// refusalDetails are the details that the read side has a use for.
type refusalDetails struct {
	RequiredScope  string              `json:"required_scope"`
	RequiredScopes []string            `json:"required_scopes"`
	GrantedScopes  []string            `json:"granted_scopes"`
	Fields         map[string][]string `json:"fields"`
}

// refusal is the error of an answer other than 200.
func (k *call) refusal() *Error {
	e := &Error{
		Route: k.target.route.name(), Status: k.answer.status, Attempts: k.attempts,
		RetryAfter: k.verdict.RetryAfter, Date: k.verdict.Date, Limit: k.verdict.Limit,
	}
	var body refused
	if err := json.Unmarshal(k.answer.body, &body); err != nil || body.Error == nil || body.Error.Code == "" {
		e.Message = k.unusual()
		return e
	}
	e.Code = redact(body.Error.Code, k.key)
	e.Message = redact(body.Error.Message, k.key)
	e.DisplayMessage = redact(body.Error.DisplayMessage, k.key)
	e.Details = json.RawMessage(redact(string(body.Error.Details), k.key))
	e.readDetails()
	return e
}

// readDetails reads what it can: details of another shape are no reason to lose
// the code and the message.
func (e *Error) readDetails() {
	var d refusalDetails
	if len(e.Details) == 0 || json.Unmarshal(e.Details, &d) != nil {
		return
	}
	e.RequiredScope, e.RequiredScopes, e.GrantedScopes, e.Fields = d.RequiredScope, d.RequiredScopes, d.GrantedScopes, d.Fields
	if e.RequiredScope == "" && len(d.RequiredScopes) > 0 {
		e.RequiredScope = d.RequiredScopes[0]
	}
}

// unusual describes a refusal without the envelope of api.md.
func (k *call) unusual() string {
	a := &k.answer
	if a.status >= 300 && a.status < 400 {
		return k.redirected()
	}
	if len(a.body) == 0 {
		return "no body"
	}
	text := fmt.Sprintf("content type %q, %q", a.contentType, excerpt(a.body, 0, k.key))
	if a.status == http.StatusNotFound && k.verdict.Limit < 0 {
		return "no such endpoint, is the base URL right? " + text
	}
	return text
}

func (k *call) redirected() string {
	to, err := url.Parse(k.answer.location)
	if err != nil || to.Host == "" {
		return "a redirect that leads nowhere"
	}
	return fmt.Sprintf("a redirect to %q was not followed; if that is the service, put it into the base URL", to.Scheme+"://"+to.Host)
}
