package app

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
)

// hostile is a service that answers as an attacker would: it stands before the
// sandbox, and passes on what no attack takes.
type hostile struct {
	*httptest.Server
	behind http.Handler

	mu     sync.Mutex
	attack func(w http.ResponseWriter, r *http.Request) bool // false: not taken
}

// newHostile serves a sandbox; a certificate makes it speak TLS.
func newHostile(t *testing.T, box *sandbox.Sandbox, certificate *tls.Certificate) *hostile {
	t.Helper()
	h := &hostile{behind: box.Handler()}
	h.Server = httptest.NewUnstartedServer(h)
	h.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if certificate == nil {
		h.Start()
	} else {
		h.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}}
		h.EnableHTTP2 = true
		h.StartTLS()
	}
	t.Cleanup(func() {
		h.behave()
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	attack := h.attack
	h.mu.Unlock()
	if attack == nil || !attack(w, r) {
		h.behind.ServeHTTP(w, r)
	}
}

func (h *hostile) attackWith(attack func(w http.ResponseWriter, r *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attack = attack
}

func (h *hostile) behave() { h.attackWith(nil) }

// on attacks one route.
func on(path string, handler http.HandlerFunc) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if strings.TrimPrefix(r.URL.Path, "/v1") != path {
			return false
		}
		handler(w, r)
		return true
	}
}

// answering answers with a body, and headers in pairs.
func answering(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the client may have gone
	}
}

// tampering lets the sandbox answer, and changes the body of its 200.
func (h *hostile) tampering(change func(body string) string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		got := httptest.NewRecorder()
		h.behind.ServeHTTP(got, r)
		body := got.Body.String()
		if got.Code == http.StatusOK {
			body = change(body)
		}
		for name, values := range got.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		answering(got.Code, body, headers...)(w, r)
	}
}

// withRows puts rows in front of those of a page.
func withRows(rows ...string) func(string) string {
	return func(body string) string {
		before, after, _ := strings.Cut(body, `"data":[`)
		if !strings.HasPrefix(after, "]") {
			after = "," + after
		}
		return before + `"data":[` + strings.Join(rows, ",") + after
	}
}

// siege is a daemon with two sources: r0, whose service is hostile, and r1.
type siege struct {
	*world
	*hostile
	daemon *Daemon
	log    *polling.Text
	key    string
}

func newSiege(t *testing.T, certificate *tls.Certificate) *siege {
	t.Helper()
	w := newWorld(t, sandbox.Options{Seed: 21, Businesses: 2, Orders: 300, Days: 10, NoLimits: true})
	w.migrated(t)
	s := &siege{world: w, hostile: newHostile(t, w.Sandbox, certificate), log: &polling.Text{}}
	s.key = w.Key(0, sandbox.RoleMain).Value
	w.app.Config.Sources[0].BaseURL = s.URL + "/v1"
	w.app = w.another(w.app.Config, slog.NewTextHandler(s.log, nil))
	w.app.api.RetryMax = 1
	w.app.api.Timeouts = api.Timeouts{Header: 2 * time.Second, Idle: 2 * time.Second, Whole: 4 * time.Second}
	var stop func()
	s.daemon, stop = w.daemon(t, w.app)
	t.Cleanup(stop)
	<-s.daemon.ready
	return s
}

// pass is one pass of a source.
func (s *siege) pass(t *testing.T, source string, streams ...string) syncer.SourceReport {
	t.Helper()
	report, err := s.daemon.RunOnce(t.Context(), syncer.Selection{Sources: []string{source}, Streams: streams}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report.Sources[0]
}

// whole passes once more, without an error, and compares every row.
func (s *siege) whole(t *testing.T) {
	t.Helper()
	for _, source := range []string{"r0", "r1"} {
		report := syncer.Report{Sources: []syncer.SourceReport{s.pass(t, source)}}
		if err := report.Err(); err != nil {
			t.Errorf("when the service behaves again: %v", err)
		}
	}
	s.equalsTruth(t)
	if used := s.daemon.app.api.Memory.Used(); used != 0 {
		t.Errorf("%d bytes of bodies are taken at rest", used)
	}
}

// failure is why a pass of one stream of the hostile source failed.
func (s *siege) failure(t *testing.T, stream string) string {
	t.Helper()
	report := s.pass(t, "r0", stream)
	for _, st := range report.Streams {
		if st.Stream == stream && st.Err != nil {
			return st.Err.Error()
		}
	}
	if report.Err != nil {
		return report.Err.Error()
	}
	return ""
}

// A body that cannot be used fails the walk of its stream, in words; nothing else is
// touched, and all lands when the service behaves again.
func TestHostileBodies(t *testing.T) {
	s := newSiege(t, nil)
	s.whole(t)
	const page = `{"data":[%s],"next_cursor":null,"has_more":false}`
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	attacks := []struct {
		name    string
		handler http.HandlerFunc
		says    []string
	}{
		{"deep nesting", answering(200, fmt.Sprintf(page, deep(5_000_000))), []string{"exceeded max depth"}},
		{"deep nesting in an unknown field", answering(200, fmt.Sprintf(`{"future":%s,"data":[],"has_more":false}`, deep(20_000))), []string{"exceeded max depth"}},
		{"a NUL byte", answering(200, fmt.Sprintf(page, "{\"id\":\"a\x00b\"}")), []string{"expecting non-control character", `\x00`}},
		{"data is null", answering(200, `{"data":null,"has_more":false}`), []string{`"data" is not an array`}},
		{"data is an object", answering(200, `{"data":{},"has_more":false}`), []string{`"data" is not an array`}},
		{"an array", answering(200, `[]`), []string{"it is not an object"}},
		{"nothing", answering(200, `null`), []string{"it is not an object"}},
		{"an empty object", answering(200, `{}`), []string{`no "data"`}},
		{"data twice", answering(200, `{"data":[],"data":[],"has_more":false}`), []string{`"data" comes twice`}},
		{"has_more is text", answering(200, `{"data":[],"has_more":"true"}`), []string{`"/has_more" does not fit bool`}},
		{"a cursor that is a number", answering(200, `{"data":[],"has_more":true,"next_cursor":5}`), []string{`"/next_cursor" does not fit string`}},
		{"a cursor of a megabyte", answering(200, `{"data":[],"has_more":true,"next_cursor":"`+strings.Repeat("c", 1<<20)+`"}`), []string{`"next_cursor" has 1048576 bytes`, "4096"}},
		{"no cursor", answering(200, `{"data":[],"has_more":true,"next_cursor":null}`), []string{"has_more without a next_cursor"}},
		{"one cursor for ever", answering(200, `{"data":[],"has_more":true,"next_cursor":"same"}`), []string{"a cursor that it had sent before"}},
		{"a flood of rows", answering(200, fmt.Sprintf(page, strings.Repeat("{},", 3_000_000)+"{}")), []string{"more than 20000 rows"}},
		{"60 MB", answering(200, fmt.Sprintf(page, `{"id":"`+strings.Repeat("x", 60<<20)+`"}`)), []string{"larger than 16 MiB"}},
		{"a gzip bomb", answering(200, bomb(t, 1<<30), "Content-Encoding", "gzip"), []string{"larger than 16 MiB"}},
		{"brotli", answering(200, "x", "Content-Encoding", "br"), []string{`encoding is "br"`}},
		{"HTML", answering(200, "<html>", "Content-Type", "text/html"), []string{"it is HTML", "is base_url right"}},
		{"a longer Content-Length", answering(200, `{"data":[]`, "Content-Length", "100"), []string{"unexpected EOF", "2 attempts"}},
		{"a body that never ends", endless, []string{"larger than 16 MiB"}},
		{"a byte at a time", trickle(300 * time.Millisecond), []string{"the answer did not end", "after 4s", "2 attempts"}},
		{"a body that stands still", trickle(time.Hour), []string{"the body stood still", "after 2s", "2 attempts"}},
		{"headers that never come", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, []string{"no complete headers", "after 2s"}},
		{"headers that never end", endlessHeaders, []string{"no answer", "headers"}},
		{"a header of a megabyte", answering(200, fmt.Sprintf(page, ""), "X-Large", strings.Repeat("x", 1<<20)), []string{"no answer", "headers"}},
		{"a redirect to another host", answering(302, "", "Location", "https://attacker.example/v1/products"), []string{`a redirect to "https://attacker.example" was not followed`, "base URL"}},
		{"redirects without end", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, s.URL+"/v1/products", http.StatusFound)
		}, []string{"302", "was not followed"}},
		{"a message of megabytes", answering(500, `{"error":{"code":"server_error","message":"`+strings.Repeat("m", 4<<20)+`"}}`), []string{"500"}},
		{"a long message", answering(422, `{"error":{"code":"validation_failed","message":"`+strings.Repeat("m", 50<<10)+`"}}`), []string{"422 validation_failed: mmm", "(51200 bytes)"}},
		{"the key in an error", answering(418, `{"error":{"code":"teapot","message":"you sent `+s.key+`"}}`), []string{"teapot", "[key]"}},
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			s.attackWith(on("/products", a.handler))
			defer s.behave()
			says := s.failure(t, "products")
			for _, want := range append(a.says, "products") {
				if !strings.Contains(says, want) {
					t.Errorf("%q is not in: %s", want, says)
				}
			}
			if len(says) > 1200 || strings.Contains(says, s.key) {
				t.Errorf("%d bytes: %.2000s", len(says), says)
			}
			for _, other := range []struct{ source, stream string }{{"r0", "sales_orders"}, {"r1", "products"}} {
				for _, st := range s.pass(t, other.source, other.stream).Streams {
					if st.Err != nil {
						t.Errorf("%s %s beside it: %v", other.source, st.Stream, st.Err)
					}
				}
			}
		})
	}
	products := s.Restaurant(0).IDs(sandbox.StreamProducts)
	if err := s.Restaurant(0).Touch(sandbox.StreamProducts, products[:9]...); err != nil {
		t.Fatal(err)
	}
	s.whole(t)
	if strings.Contains(s.log.String(), s.key) {
		t.Error("the log shows the key")
	}
}

// bomb is zeros, zipped.
func bomb(t *testing.T, size int) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range size / len(zeros) {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// endless sends rows for as long as they are taken.
func endless(w http.ResponseWriter, _ *http.Request) {
	if _, err := w.Write([]byte(`{"data":[{}`)); err != nil {
		return
	}
	piece := []byte(strings.Repeat(",{}", 1<<14))
	for {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// trickle sends a byte at a time.
func trickle(every time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, b := range []byte(`{"data":[` + strings.Repeat(" ", 1000)) {
			if _, err := w.Write([]byte{b}); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-time.After(every):
			case <-r.Context().Done():
				return
			}
		}
	}
}

// endlessHeaders sends one header after the other.
func endlessHeaders(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n")); err != nil {
		return
	}
	for i := 0; ; i++ {
		if _, err := conn.Write([]byte("X-" + strconv.Itoa(i) + ": x\r\n")); err != nil {
			return
		}
	}
}
