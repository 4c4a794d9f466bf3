package api

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object whose fields are read one by one: one that is of another
// shape than api.md says is no reason to lose the others.
type object map[string]jsontext.Value

// lenient reads what it can of a refusal or a row; names are told apart by case.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func readObject(raw []byte) (o object) {
	if json.Unmarshal(raw, &o, lenient) != nil {
		return nil
	}
	return o
}

// of is a field, zero when it is not there or of another shape.
func of[T any](o object, name string) (v T) {
	if raw, ok := o[name]; !ok || json.Unmarshal(raw, &v, lenient) != nil {
		return *new(T)
	}
	return v
}

// refusal is the error of an answer other than 200.
func (k *call) refusal() *Error {
	e := &Error{
		Route: k.target.route.name(), Status: k.status, Attempts: k.attempts,
		RetryAfter: k.verdict.RetryAfter, Date: k.verdict.Date, Limit: k.verdict.Limit,
	}
	body := readObject(readObject(k.body)["error"]) // api.md, "Errors"
	code := of[string](body, "code")
	if code == "" {
		e.Message = k.unusual()
		return e
	}
	e.Code = brief(redact(code, k.key))
	e.Message = brief(redact(of[string](body, "message"), k.key))
	e.readDetails(readObject([]byte(redact(string(body["details"]), k.key))))
	return e
}

// readDetails reads the details that the read side has a use for.
func (e *Error) readDetails(d object) {
	e.RequiredScope = of[string](d, "required_scope")
	e.GrantedScopes = of[[]string](d, "granted_scopes")
	for name, raw := range of[object](d, "fields") {
		var messages []string
		if json.Unmarshal(raw, &messages, lenient) != nil {
			continue
		}
		if e.Fields == nil {
			e.Fields = map[string][]string{}
		}
		e.Fields[name] = messages
	}
	if needed := of[[]string](d, "required_scopes"); e.RequiredScope == "" && len(needed) > 0 {
		e.RequiredScope = needed[0]
	}
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
	to, err := url.Parse(k.location)
	if err != nil || to.Host == "" {
		return "a redirect that leads nowhere"
	}
	return fmt.Sprintf("a redirect to %q was not followed; if that is the service, put it into the base URL", to.Scheme+"://"+to.Host)
}
