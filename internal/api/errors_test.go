package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// kinds are the predicates by name.
var kinds = map[string]func(error) bool{
	"unauthorized": IsUnauthorized, "key_disabled": IsKeyDisabled, "api_disabled": IsAPIDisabled, "scope": IsScope,
	"location": IsLocationForbidden, "not_found": IsNotFound, "no_endpoint": IsNoEndpoint, "validation": IsValidation,
	"rate_limited": IsRateLimited, "temporary": IsTemporary,
}

func TestRefusals(t *testing.T) {
	const counted = "X-RateLimit-Limit"
	cases := []struct {
		name    string
		handler http.HandlerFunc
		kinds   string // sorted
		says    string
	}{
		{"unauthorized", answers(401, errorBody("unauthorized")), "unauthorized", "GET /products: 401 unauthorized: what went wrong"},
		{"unauthorized by a proxy", answers(401, "no", "Content-Type", "text/plain"), "unauthorized", `GET /products: 401 Unauthorized: content type "application/json", "no"`},
		{"key disabled", answers(403, errorBody("api_key_disabled")), "key_disabled", "GET /products: 403 api_key_disabled: what went wrong"},
		{"api disabled", answers(403, errorBody("api_disabled"), counted, "120"), "api_disabled", "GET /products: 403 api_disabled: what went wrong"},
		{"scope", answers(403, `{"error":{"code":"insufficient_scope","message":"no","details":{"required_scope":"menu:read","required_scopes":["menu:read"],"granted_scopes":["sales:read","stock:read"]}}}`),
			"scope", "GET /products: 403 insufficient_scope: no (needs menu:read, the key has sales:read stock:read)"},
		{"scope of several", answers(403, `{"error":{"code":"insufficient_scope","details":{"required_scopes":["locations:read","orders:write"],"granted_scopes":[]}}}`),
			"scope", "GET /products: 403 insufficient_scope (needs locations:read, the key has none)"},
		{"location", answers(403, errorBody("location_forbidden")), "location", "GET /products: 403 location_forbidden: what went wrong"},
		{"not found", answers(404, errorBody("not_found"), counted, "120"), "not_found", "GET /products: 404 not_found: what went wrong"},
		{"not counted", answers(404, errorBody("not_found")), "no_endpoint", "GET /products: 404 not_found: what went wrong"},
		{"another field's code", answers(404, `{"Error":{"Code":"not_found"}}`, counted, "120"), "no_endpoint",
			`GET /products: 404 Not Found: content type "application/json", "{\"Error\":{\"Code\":\"not_found\"}}"`},
		{"not an endpoint", answers(404, "<html>nginx"), "no_endpoint", `GET /products: 404 Not Found: no such endpoint, is the base URL right? content type "application/json", "<html>nginx"`},
		{"validation", answers(422, `{"error":{"code":"validation_failed","message":"no","details":{"fields":{"to":["too far","bad"],"cursor":["changed"]}}}}`),
			"validation", "GET /products: 422 validation_failed: no; cursor: changed; to: too far, bad"},
		{"details of another shape", answers(422, `{"error":{"code":"validation_failed","message":"no","details":["x"]}}`), "validation", "GET /products: 422 validation_failed: no"},
		{"more than the API's description says", answers(403, `{"trace":[],"error":{"code":"insufficient_scope","Code":"api_disabled","hint":{"x":1},"message":"no","MESSAGE":"x","display_message":{"ro":"nu"},`+
			`"details":{"required_scope":"menu:read","Required_Scope":"x","required_scopes":7,"granted_scopes":["sales:read"],"fields":{"to":["bad"],"x":{"y":1}},"more":null}},"Error":{"code":"location_forbidden"}}`),
			"scope", "GET /products: 403 insufficient_scope: no (needs menu:read, the key has sales:read); to: bad"},
		{"rate limited", answers(429, errorBody("rate_limited"), "Retry-After", "12"), "rate_limited temporary", "GET /products: 429 rate_limited: what went wrong (retry after 12s)"},
		{"server error", answers(500, errorBody("server_error")), "temporary", "GET /products: 500 server_error: what went wrong (2 attempts)"},
		{"unavailable", answers(503, ""), "temporary", "GET /products: 503 Service Unavailable: no body (2 attempts)"},
		{"a code of 200", answers(200, errorBody("server_error")), "temporary",
			"GET /products: the answer cannot be used: no \"data\" (content type \"application/json\", 109 bytes, at 0: \"{\\\"error\\\":{\\\"code\\\":\\\"server_error\\\",\\\"message\\\":\\\"what went wrong\\\",\\\"display_message\\\":\\\"ce nu a mers\\\",\\\"details\\\":null}}\"); it is asked for again by itself; if it stays so, show this to the service"},
		{"reset", reset, "temporary", "GET /products: no answer: EOF (2 attempts)"},
		{"elsewhere in it", answers(308, "", "Location", "v2/products/?secret=1#x"), "", `GET /products: 308 Permanent Redirect: a redirect to "/v1/v2/products/" was not followed; is the path of base_url right?`},
		{"elsewhere", answers(302, "", "Location", "https://other.example/v1?secret=1"), "", `GET /products: 302 Found: a redirect to "https://other.example" was not followed; if that is the service, put it into the base URL`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.handler, func(o *Options) { o.RetryMax = 1 })
			_, err := products.Page(t.Context(), s.Client, ListQuery{})
			if err == nil {
				t.Fatal("no error")
			}
			if is := are(err); is != c.kinds || err.Error() != c.says {
				t.Errorf("is %q, says:\n%s\nwant %q:\n%s", is, err, c.kinds, c.says)
			}
		})
	}
}

// The status line of a refusal counts, whatever is wrong with its body; what can be read of
// that is shown.
func TestARefusalWithABrokenBodyIsThatRefusal(t *testing.T) {
	statuses := map[int]struct{ code, kinds string }{
		401: {"unauthorized", "unauthorized"}, 403: {"api_key_disabled", "key_disabled"}, 404: {"not_found", "not_found"}, 422: {"validation_failed", "validation"},
		429: {"rate_limited", "rate_limited temporary"}, 500: {"server_error", "temporary"}, 503: {"service_unavailable", "temporary"}, 418: {"teapot", ""},
	}
	for status, want := range statuses {
		body := errorBody(want.code)
		zipped := string(zip(t, body))
		for name, c := range map[string]struct {
			headers []string
			body    string
			code    bool // can be read
		}{
			"gzip on plain text":   {[]string{"Content-Encoding", "gzip"}, body, false},
			"gzip cut":             {[]string{"Content-Encoding", "gzip"}, zipped[:len(zipped)-9], true},
			"gzip of nothing else": {[]string{"Content-Encoding", "gzip"}, zipped[:5], false},
			"brotli":               {[]string{"Content-Encoding", "br"}, "\x0b\x02\x80", false},
			"cut":                  {[]string{"Content-Length", "1000"}, body, true},
			"cut JSON":             {nil, body[:20], false},
		} {
			synctest.Test(t, func(t *testing.T) {
				handler := answers(status, c.body, slices.Concat(c.headers, []string{"Retry-After", "9", "X-RateLimit-Limit", "120"})...)
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					handler(w, r)
					w.(http.Flusher).Flush()
					if name == "cut" {
						panic(http.ErrAbortHandler)
					}
				}, func(o *Options) { o.RetryMax = -1 })
				gate := &tally{}
				_, err := products.Page(t.Context(), s.Through(gate), ListQuery{})
				e, ok := errors.AsType[*Error](err)
				if !ok || e.Status != status || e.RetryAfter != 9*time.Second || c.code != (e.Code == want.code) || gate.verdicts[0].Status != status {
					t.Fatalf("%d, %s: %v", status, name, err)
				}
				if is := are(err); c.code && is != want.kinds {
					t.Errorf("%d, %s: is %q, want %q", status, name, is, want.kinds)
				}
			})
		}
	}
}

// are are the kinds of an error, sorted.
func are(err error) string {
	var is []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if kinds[name](err) {
			is = append(is, name)
		}
	}
	return strings.Join(is, " ")
}

func TestPredicatesLeaveOthersAlone(t *testing.T) {
	for _, err := range []error{nil, errors.New("x"), context.Canceled} {
		for name, is := range kinds {
			if is(err) {
				t.Errorf("%v is %s", err, name)
			}
		}
	}
}

func TestFieldsOfARefusal(t *testing.T) {
	s := serve(t, answers(403, `{"error":{"code":"insufficient_scope","message":"m","display_message":"d","details":{"required_scope":"a","extra":1}}}`,
		"Date", "Sat, 14 Mar 2026 19:12:58 GMT", "X-RateLimit-Limit", "30"), nil)
	_, err := s.Me(t.Context())
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Message != "m" || e.RequiredScope != "a" || e.Limit != 30 ||
		!e.Date.Equal(time.Date(2026, 3, 14, 19, 12, 58, 0, time.UTC)) {
		t.Errorf("error %+v", e)
	}
}
