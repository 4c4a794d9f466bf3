package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
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

// TestHostileService has one service attack in every way, one after the other. Each attack
// begins and ends with a mirror that is whole.
func TestHostileService(t *testing.T) {
	notInShort(t)
	s := newSiege(t, nil)
	s.whole(t)
	t.Run("bodies", s.bodies)
	t.Run("headers", s.headers)
	t.Run("pages", s.manyPagesAlike)
	t.Run("rows", s.rows)
	t.Run("rows without end", s.badRowsWithoutEnd)
	t.Run("a long Retry-After", s.longRetryAfter) // the last: the source pauses
}

// A body that cannot be used fails the walk of its stream, in words; nothing else is
// touched, and all lands when the service behaves again. What bodies there are is tested in
// internal/api, TestHostileBodies.
func (s *siege) bodies(t *testing.T) {
	const page = `{"data":[%s],"next_cursor":null,"has_more":false}`
	for _, a := range []struct {
		name    string
		handler http.HandlerFunc
		says    []string
	}{
		{"a NUL byte", answering(200, fmt.Sprintf(page, "{\"id\":\"a\x00b\"}")), []string{"expecting non-control character", `\x00`}},
		{"one cursor for ever", answering(200, `{"data":[],"has_more":true,"next_cursor":"same"}`), []string{"a cursor that it had sent before"}},
		{"a body that never ends", endless, []string{"larger than 16 MiB"}},
		{"a body that stands still", trickle(time.Hour), []string{"the body stood still", "after 2s", "2 attempts"}},
		{"a redirect to another host", answering(302, "", "Location", "https://attacker.example/v1/products"), []string{`a redirect to "https://attacker.example" was not followed`, "base URL"}},
		{"a message of megabytes", answering(500, `{"error":{"code":"server_error","message":"`+strings.Repeat("m", 4<<20)+`"}}`), []string{"500"}},
		{"a long message", answering(422, `{"error":{"code":"validation_failed","message":"`+strings.Repeat("m", 50<<10)+`"}}`), []string{"422 validation_failed: mmm", "(51200 bytes)"}},
		{"the key in an error", answering(418, `{"error":{"code":"teapot","message":"you sent `+s.key+`"}}`), []string{"teapot", "[key]"}},
	} {
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
	s.touched(t)
	if strings.Contains(s.log.String(), s.key) {
		t.Error("the log shows the key")
	}
}

// touched changes some products, and expects that they are mirrored with all else.
func (s *siege) touched(t *testing.T) {
	t.Helper()
	products := s.Restaurant(0).IDs(sandbox.StreamProducts)
	if err := s.Restaurant(0).Touch(sandbox.StreamProducts, products[:9]...); err != nil {
		t.Fatal(err)
	}
	s.whole(t)
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
