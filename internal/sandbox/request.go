package sandbox

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/answers"
	"github.com/larder-sync/larder/internal/sandbox/keys"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// request is one request on its way through the service.
type request struct {
	s     *Sandbox
	r     *http.Request
	w     http.ResponseWriter
	now   int64
	route *route
	id    string // from the path
	key   keys.Key
	q     *query
	view  world.View
	output
	struck  []string // kinds of the faults that the request met
	trusted bool     // asked by a test for the truth: no faults
}

var requests = sync.Pool{New: func() any { return new(request) }}

// Handler serves the API under /v1, its description, and what tests and people steer it with
// under /admin, for this machine only.
func (s *Sandbox) Handler() http.Handler { return http.HandlerFunc(s.serve) }

func (s *Sandbox) serve(w http.ResponseWriter, r *http.Request) {
	now := s.opts.Now()
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	path := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(path, "/v1"); ok && strings.HasPrefix(rest, "/") {
		s.serveAPI(w, r, rest, now.UnixMicro())
		return
	}
	switch {
	case strings.HasPrefix(path, "/admin/"):
		admin{s}.serve(w, r)
		return
	case path == descriptionYAML || path == descriptionJSON:
		serveDescription(w, r, path)
		return
	}
	writeJSON(w, r, http.StatusNotFound, envelope(refusal.Of(refusal.NotFound)))
}

func (s *Sandbox) serveAPI(w http.ResponseWriter, r *http.Request, path string, now int64) {
	rt, id, allow := findRoute(r.Method, path)
	switch {
	case rt == nil && allow != nil:
		w.Header().Set("Allow", strings.Join(allow, ", "))
		s.refuse(w, r, nil, refusal.Of(refusal.Method))
		return
	case rt == nil: // the API's description: an unknown URL answers without rate-limit headers
		s.refuse(w, r, nil, refusal.Of(refusal.NotFound))
		return
	}
	rq := requests.Get().(*request)
	*rq = request{s: s, r: r, w: w, now: now, route: rt, id: id, output: output{out: rq.out[:0], spoil: rq.spoil}, view: rq.view}
	status := 0
	defer func() { // a connection cut on purpose leaves by panic
		s.count(rq, status)
		requests.Put(rq)
	}()
	status = rq.run()
}

// run answers and returns the status, 0 when the connection was cut.
func (rq *request) run() int {
	if status, done := rq.earlyFaults(); done {
		return status
	}
	if err := rq.admit(); err != nil {
		return rq.refuse(err)
	}
	if status, done := rq.answerFaults(); done {
		return status
	}
	return rq.answer()
}

// answer is what the route says to a request that was let in.
func (rq *request) answer() int {
	if err := rq.authorize(); err != nil {
		return rq.refuse(err)
	}
	rq.s.catchUp(rq.key.Business, rq.now)
	rq.q = newQuery(rq.r.URL.RawQuery, &rq.s.opts.Readings)
	if err := rq.route.handle(rq); err != nil {
		return rq.refuse(err)
	}
	return rq.deliver()
}

func (rq *request) refuse(err *refusal.Refusal) int {
	if len(rq.struck) > 0 || rq.trusted {
		writeJSON(rq.w, rq.r, errorTexts[err.Code].status, envelope(err))
	} else {
		rq.s.refuse(rq.w, rq.r, rq.route, err)
	}
	return errorTexts[err.Code].status
}

// refuse answers with an error, at an address that may be none of the API's.
func (s *Sandbox) refuse(w http.ResponseWriter, r *http.Request, rt *route, err *refusal.Refusal) {
	status, body := errorTexts[err.Code].status, envelope(err)
	s.inspect(rt, status, w.Header(), body)
	writeJSON(w, r, status, body)
}

// inspect shows an answer to Options.Inspect.
func (s *Sandbox) inspect(rt *route, status int, header http.Header, body []byte) {
	if s.opts.Inspect == nil || s.Tampered() {
		return
	}
	a := answers.Answer{Status: status, Header: header, Body: body, NewValues: s.opts.Readings.NewMapKeys}
	if rt != nil {
		a.Route = rt.method + " /" + strings.Join(rt.parts, "/")
	}
	s.opts.Inspect(a)
}

// admit finds the key and counts the request against every limit that applies.
func (rq *request) admit() *refusal.Refusal {
	address, _, err := net.SplitHostPort(rq.r.RemoteAddr)
	if err != nil {
		address = rq.r.RemoteAddr
	}
	v := rq.s.Admit(bearer(rq.r.Header.Get("Authorization")), address, rq.route.limit, rq.now)
	rq.key = v.Key
	if v.Counted {
		rq.w.Header().Set("X-RateLimit-Limit", strconv.Itoa(v.Limit))
		rq.w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(v.Left))
	}
	if v.Refused != nil && v.Refused.Code == refusal.RateLimited {
		rq.retryAfter(v.Retry)
	}
	return v.Refused
}

func bearer(header string) string {
	scheme, value, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(value)
}

func (rq *request) retryAfter(d time.Duration) {
	seconds := max(1, int((d+time.Second-1)/time.Second))
	rq.w.Header().Set("Retry-After", strconv.Itoa(seconds))
}

// authorize checks the scope (docs/openapi.yaml, Keys).
func (rq *request) authorize() *refusal.Refusal {
	want := rq.route.scopes
	if len(want) == 0 || slices.ContainsFunc(want, func(scope string) bool { return slices.Contains(rq.key.Scopes, scope) }) {
		return nil
	}
	return &refusal.Refusal{Code: refusal.Scope, Details: map[string]any{
		"required_scope": want[0], "required_scopes": want, "granted_scopes": units.NotNil(rq.key.Scopes),
	}}
}

// open holds the restaurant still, as the key sees it. The caller closes the view.
func (rq *request) open() {
	rq.view.Open(rq.s.Business(rq.key.Business), func(id string) bool { return rq.key.AllLocations || slices.Contains(rq.key.LocationIDs, id) }, rq.now)
}

// orderingOff is true when online ordering is off, of the restaurant or of the key. The view
// is open.
func (rq *request) orderingOff() bool { return rq.key.OrderingOff || rq.view.OrderingOff() }
