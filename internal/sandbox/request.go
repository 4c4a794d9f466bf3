package sandbox

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// request is one request on its way through the service.
type request struct {
	s       *Sandbox
	r       *http.Request
	w       http.ResponseWriter
	now     int64
	route   *route
	id      string // from the path
	key     Key
	b       *world.Business
	q       *query
	cursors cursorSealer
	view    world.View
	out     []byte
	rows    int
	status  int // of the answer; 0 is 200
	page    pageFaults
	struck  []string // kinds of the faults that the request met
	trusted bool     // asked by a test for the truth: no faults
}

var requests = sync.Pool{New: func() any { return new(request) }}

// Handler serves the API under /v1 and what tests and people steer it with under
// /admin, for this machine only.
func (s *Sandbox) Handler() http.Handler { return http.HandlerFunc(s.serve) }

func (s *Sandbox) serve(w http.ResponseWriter, r *http.Request) {
	now := s.opts.Now()
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	path := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(path, "/v1"); ok && strings.HasPrefix(rest, "/") {
		s.serveAPI(w, r, rest, now.UnixMicro())
		return
	}
	if strings.HasPrefix(path, "/admin/") {
		s.serveAdmin(w, r)
		return
	}
	writeJSON(w, r, http.StatusNotFound, fail(codeNotFound).body())
}

func (s *Sandbox) serveAPI(w http.ResponseWriter, r *http.Request, path string, now int64) {
	rt, id, allow := findRoute(r.Method, path)
	switch {
	case rt == nil && allow != nil:
		w.Header().Set("Allow", strings.Join(allow, ", "))
		writeError(w, r, fail(codeMethod))
		return
	case rt == nil: // api.md: an unknown URL answers without rate-limit headers
		writeError(w, r, fail(codeNotFound))
		return
	}
	rq := requests.Get().(*request)
	*rq = request{s: s, r: r, w: w, now: now, route: rt, id: id, out: rq.out[:0], view: rq.view}
	status := 0
	defer func() { // a connection cut on purpose leaves by panic
		s.stats.count(rq, status)
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
	rq.q = newQuery(rq.r.URL.RawQuery)
	if err := rq.route.handle(rq); err != nil {
		return rq.refuse(err)
	}
	return rq.deliver()
}

func (rq *request) refuse(err *apiError) int {
	writeError(rq.w, rq.r, err)
	return errorTexts[err.code].status
}

// authorize checks the scope (api.md, "Authentication" 4).
func (rq *request) authorize() *apiError {
	if len(rq.route.scopes) == 0 {
		return nil
	}
	for _, have := range rq.key.Scopes {
		for _, want := range rq.route.scopes {
			if have == want {
				return nil
			}
		}
	}
	return &apiError{code: codeScope, details: map[string]any{
		"required_scope": rq.route.scopes[0], "required_scopes": rq.route.scopes, "granted_scopes": units.NotNil(rq.key.Scopes),
	}}
}

func writeError(w http.ResponseWriter, r *http.Request, err *apiError) {
	writeJSON(w, r, errorTexts[err.code].status, err.body())
}

// smallest body that is worth compressing
const gzipFrom = 1024

var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic("sandbox: gzip level: " + err.Error())
	}
	return w
}}

// writeJSON sends a body, compressed when the client takes gzip. Errors of
// writing mean that the client has gone; nobody is left to tell.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Vary", "Accept-Encoding")
	if len(body) >= gzipFrom && acceptsGzip(r) && r.Method != http.MethodHead {
		h.Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		z := gzipWriters.Get().(*gzip.Writer)
		defer gzipWriters.Put(z)
		z.Reset(w)
		if _, err := z.Write(body); err == nil {
			_ = z.Close() // the client has gone
		}
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client has gone
	}
}

func acceptsGzip(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
			if (name == "gzip" || name == "*") && strings.ReplaceAll(q, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}
