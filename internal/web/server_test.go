package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/syncer/status"
)

func get(t *testing.T, url string, auth ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(auth) == 2 {
		r.SetBasicAuth(auth[0], auth[1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

func TestRoutes(t *testing.T) {
	p := small()
	o := p.options()
	registry := prometheus.NewRegistry()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "larder_requests_total", Help: "x"})
	registry.MustRegister(c)
	o.Gatherer = registry
	base := serve(t, o)

	for path, want := range map[string]string{
		"/":              "Trattoria Cișmigiu",
		"/?part=live":    `<main id="live"`,
		"/metrics":       "larder_requests_total 0",
		"/healthz":       "alive",
		"/readyz":        "ready",
		"/page/live.js":  "refresh",
		"/page/page.css": "--paper",
		"/page/icon.svg": "<svg",
	} {
		code, h, body := get(t, base+path)
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("GET %s = %d, want 200 with %q:\n%.300s", path, code, want, body)
		}
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("GET %s: Content-Security-Policy = %q", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s: content may be sniffed", path)
		}
	}
	if code, _, _ := get(t, base+"/nothing"); code != http.StatusNotFound {
		t.Errorf("unknown path = %d", code)
	}
	var s status.Status
	_, _, body := get(t, base+"/status.json")
	if err := json.Unmarshal([]byte(body), &s); err != nil || len(s.Sources) != 5 || s.Sources[1].Streams[6].Progress.RequestsLeft != 1430 {
		t.Errorf("status.json does not give the status back: %v\n%.300s", err, body)
	}
	res, err := http.Post(base+"/", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST / = %d", res.StatusCode)
	}
}

// A fleet's status is what is wrong, whole, and a line of each other source; all of it is there for who
// asks for it.
func TestTheStatusOfAFleetIsShort(t *testing.T) {
	p := thousand()
	base := serve(t, p.options())
	read := func(path string) (s status.Status, raw []map[string]any, size int) {
		_, _, body := get(t, base+path)
		var sources struct{ Sources []map[string]any }
		if err := errors.Join(json.Unmarshal([]byte(body), &s), json.Unmarshal([]byte(body), &sources)); err != nil {
			t.Fatalf("%s: %v\n%.300s", path, err, body)
		}
		return s, sources.Sources, len(body)
	}
	s, raw, size := read("/status.json")
	if len(s.Sources) != 1000 || size > 500_000 {
		t.Errorf("%d sources in %d bytes", len(s.Sources), size)
	}
	for i, of := range raw {
		one, err := json.Marshal(of)
		if _, whole := of["streams"]; whole != (i < wholeShown) || err != nil || !whole && len(one) > 300 {
			t.Fatalf("source %d: %.400s %v", i, one, err)
		}
	}
	if s.Sources[0].Name != "restaurant-0005" || s.Sources[0].State != status.StateUnauthorized || len(s.Sources[0].Streams) != 5 {
		t.Errorf("the first is %.300v", raw[0])
	}
	if got := fmt.Sprint(raw[999]); got != "map[health:up_to_date lag_seconds:12 name:restaurant-0999 proven_until:2026-03-13 state:running]" {
		t.Error(got)
	}
	if s, _, _ := read("/status.json?all=1"); len(s.Sources) != 1000 || s.Sources[999].Name != "restaurant-0999" || len(s.Sources[999].Streams) != 9 {
		t.Errorf("all of them: %d, the last %.300v", len(s.Sources), s.Sources[999])
	}
	if s, _, _ := read("/status.json?source=restaurant-0999"); len(s.Sources) != 1 || s.Sources[0].Name != "restaurant-0999" || len(s.Sources[0].Streams) != 9 {
		t.Errorf("one of them: %.300v", s.Sources)
	}
	if code, _, _ := get(t, base+"/status.json?source=restaurant-9999"); code != http.StatusNotFound {
		t.Errorf("a source that is not there: %d", code)
	}
}

func TestReadyz(t *testing.T) {
	p := small()
	base := serve(t, p.options())
	p.problems = []string{"the warehouse embedded:./x does not answer: connection refused", "the configuration is refused"}
	p.change(func(s *status.Status) { s.Sources[0].State = status.StateStarting })
	const want = "not ready\n- the warehouse embedded:./x does not answer: connection refused\n- not started yet, since the key has had no answer: ancora\n"
	if code, _, body := get(t, base+"/readyz"); code != http.StatusServiceUnavailable || body != want {
		t.Errorf("readyz = %d\n%s", code, body)
	}
	if code, _, _ := get(t, base+"/healthz"); code != http.StatusOK {
		t.Errorf("healthz = %d: a process that waits is alive", code)
	}
}

func TestReadyzSaysWhatNeedsAttention(t *testing.T) {
	p := small()
	p.change(func(s *status.Status) { s.Sources = []status.SourceStatus{drifting()} })
	o := p.options()
	o.User, o.Password = "me", config.NewSecret("hunter2")
	base := serve(t, o)
	const want = "ready\n! 90 days differ from the service's totals.\n! 12 rows are in quarantine.\n"
	if code, _, body := get(t, base+"/readyz", "me", "hunter2"); code != http.StatusOK || body != want {
		t.Errorf("readyz = %d, %q: it serves, and does not pass for well", code, body)
	}
	if code, _, body := get(t, base+"/readyz"); code != http.StatusOK || body != "ready\n" {
		t.Errorf("readyz without the password = %d, %q", code, body)
	}
	p.change(func(s *status.Status) { s.Sources = []status.SourceStatus{healthy("ancora", "Ancora Veche")} })
	if _, _, body := get(t, base+"/readyz", "me", "hunter2"); body != "ready\n" {
		t.Errorf("readyz = %q", body)
	}
}

func TestPassword(t *testing.T) {
	p := small()
	o := p.options()
	o.User, o.Password = "me", config.NewSecret("hunter2")
	p.problems = []string{"inner matters"}
	base := serve(t, o)
	for _, path := range []string{"/", "/?part=live", "/status.json", "/metrics", "/page/live.js"} {
		for _, auth := range [][]string{nil, {"me", "wrong"}, {"you", "hunter2"}, {"", ""}} {
			code, h, body := get(t, base+path, auth...)
			if code != http.StatusUnauthorized || !strings.Contains(h.Get("WWW-Authenticate"), "Basic") || strings.Contains(body, "bistro") {
				t.Errorf("GET %s as %q = %d", path, auth, code)
			}
		}
		if code, _, _ := get(t, base+path, "me", "hunter2"); code != http.StatusOK {
			t.Errorf("GET %s with the password = %d", path, code)
		}
	}
	if code, _, _ := get(t, base+"/healthz"); code != http.StatusOK {
		t.Errorf("healthz asks for a password: %d", code)
	}
	code, _, body := get(t, base+"/readyz")
	if code != http.StatusServiceUnavailable || strings.Contains(body, "inner matters") {
		t.Errorf("readyz without the password = %d, %q", code, body)
	}
	if _, _, body := get(t, base+"/readyz", "me", "hunter2"); !strings.Contains(body, "inner matters") {
		t.Errorf("readyz with the password = %q", body)
	}
}

func TestTextIsEscaped(t *testing.T) {
	const attack = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`
	p := small()
	p.problems = []string{attack}
	p.change(func(s *status.Status) {
		for i := range s.Sources {
			src := &s.Sources[i]
			src.Name, src.BusinessName, src.Detail = attack, attack, attack
			for j := range src.Streams {
				src.Streams[j].Name, src.Streams[j].Detail, src.Streams[j].LastError = attack, attack, attack+"2"
			}
		}
	})
	base := serve(t, p.options())
	for _, path := range []string{"/", "/?q=" + attackInURL, "/?show=" + attackInURL, "/?source=" + attackInURL} {
		_, _, body := get(t, base+path)
		for _, tag := range []string{"<script>alert", "<img"} {
			if strings.Contains(body, tag) {
				t.Errorf("GET %s holds %s", path, tag)
			}
		}
	}
}

const attackInURL = `%22%3E%3Cscript%3Ealert(1)%3C/script%3E%3Cimg%20src=x%3E`

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := small().options()
	o.Listen = l.Addr().String()
	_, err = New(t.Context(), o)
	var le *inbound.ListenError
	if !errors.As(err, &le) || !strings.Contains(err.Error(), "is taken by another process; stop that one, or set web.listen") {
		t.Errorf("err = %v", err)
	}
}

func TestServeAndClose(t *testing.T) {
	s, err := New(t.Context(), small().options())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	if code, _, _ := get(t, s.URL()+"/healthz"); code != http.StatusOK {
		t.Errorf("healthz = %d", code)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("serve: %v", err)
	}
	unserved, err := New(t.Context(), small().options())
	if err != nil {
		t.Fatal(err)
	}
	if err := unserved.Close(context.Background()); err != nil {
		t.Errorf("close before serving: %v", err)
	}
}
