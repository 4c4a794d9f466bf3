package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/config"
)

// from asks a handler as a request from an address does; header are name, value
// pairs, Host among them.
func from(h http.Handler, remote, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr, r.Host = remote, "127.0.0.1:9464"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const somebody = "192.0.2.1:4000"

func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	h := Handler(small().options())
	for name, header := range map[string][]string{
		"a script":       {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "script"},
		"Grafana's page": {"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"},
		"an old browser": {"Origin", "https://evil.example"},
		"a sandbox":      {"Origin", "null"},
		"a rebound name": {"Host", "evil.example:9464"},
	} {
		for _, path := range []string{"/", "/?part=live", "/status.json", "/metrics", "/healthz", "/readyz", "/page/live.js", "/nothing"} {
			w := from(h, somebody, path, header...)
			if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "bistro") {
				t.Errorf("%s: GET %s = %d\n%.200s", name, path, w.Code, w.Body)
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" {
				t.Errorf("%s: GET %s: %v", name, path, w.Header())
			}
		}
	}
	// Who follows a link is led on, to the page and to nothing else.
	w := from(h, somebody, "/?source=bistro", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), `<a href="/">`) || strings.Contains(w.Body.String(), "bistro") {
		t.Errorf("a link = %d\n%s", w.Code, w.Body)
	}
	for name, header := range map[string][]string{
		"curl":             {"User-Agent", "curl/8.5.0"},
		"Prometheus":       {"User-Agent", "Prometheus/3.5.0", "Accept", "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "X-Prometheus-Scrape-Timeout-Seconds", "10"},
		"its own script":   {"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"},
		"the address bar":  {"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Host", "localhost:9464"},
		"a probe by IPv6":  {"Host", "[::1]:9464", "User-Agent", "kube-probe/1.33"},
		"a probe by v1.0":  {"Host", ""},
		"a name of itself": {"Host", "larder.localhost:9464"},
	} {
		if w := from(h, somebody, "/metrics", header...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// A page that a network reaches is scraped by the name of its service; with a
// password by any.
func TestNamesOfThePage(t *testing.T) {
	o := small().options()
	o.Listen = "0.0.0.0:9464"
	if w := from(Handler(o), somebody, "/metrics", "Host", "larder:9464"); w.Code != http.StatusOK {
		t.Errorf("by a service's name: %d", w.Code)
	}
	if w := from(Handler(o), somebody, "/metrics", "Host", "larder.example.com:9464"); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "without a password") {
		t.Errorf("by a public name: %d %s", w.Code, w.Body)
	}
	o.User, o.Password = "me", config.NewSecret("hunter2")
	if w := from(Handler(o), somebody, "/metrics", "Host", "larder.example.com:9464", "Authorization", "Basic bWU6aHVudGVyMg=="); w.Code != http.StatusOK {
		t.Errorf("by a public name, with the password: %d", w.Code)
	}
}

func TestWrongPasswordsAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := small().options()
		o.User, o.Password = "me", config.NewSecret("hunter2")
		h := Handler(o)
		looked, refused, begun := 0, 0, time.Now()
		for i := 0; time.Since(begun) < time.Minute; i++ {
			r := httptest.NewRequest(http.MethodGet, []string{"/", "/status.json"}[i%2], nil)
			r.SetBasicAuth("me", fmt.Sprint("guess", i))
			r.RemoteAddr, r.Host = somebody, "localhost"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			switch {
			case w.Code == http.StatusUnauthorized:
				looked++
			case w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "1":
				refused++
				time.Sleep(time.Second / 10)
			default:
				t.Fatalf("GET %s = %d", r.URL.Path, w.Code)
			}
		}
		if looked > 80 {
			t.Errorf("%d guesses in a minute", looked)
		}
		time.Sleep(time.Second)
		if w := from(h, somebody, "/", "Authorization", "Basic bWU6aHVudGVyMg=="); w.Code != http.StatusOK {
			t.Errorf("the right one from there: %d", w.Code)
		}
	})
}
