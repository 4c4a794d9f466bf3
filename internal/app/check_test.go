package app

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
)

// Two branches of a restaurant, the second with a key that was rotated: check says what
// larder run would do with them.
func TestCheckOfSiblingsAndOfARotatedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
	key := w.Key(0, sandbox.RoleLimited).Value
	branch := w.app.Config.Sources[0]
	branch.Name, branch.KeyFile, branch.NextKeyFile = "branch", filepath.Join(w.dir, "branch"), filepath.Join(w.dir, "next")
	w.app.Config.Sources = append(w.app.Config.Sources, branch)
	for file, value := range map[string]string{branch.KeyFile: "svc_live_deleted", branch.NextKeyFile: key} {
		if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func(on int, wants ...string) {
		t.Helper()
		var lines []string
		for _, f := range w.app.Checker().CheckSources(t.Context()) {
			lines = append(lines, fmt.Sprintf("%s %s", f.Mark, f.Text))
		}
		all := strings.Join(lines, "\n")
		for _, want := range wants {
			if !strings.Contains(all, want) {
				t.Errorf("check does not say %q:\n%s", want, all)
			}
		}
		if n := strings.Count(all, "sales_daily, sales_products"); n != on {
			t.Errorf("sales_products is on in %d sources, want %d:\n%s", n, on, all)
		}
	}
	look(2, "! source branch: the API refuses the key (401); the next key works")

	w.app.Config.Sources[1].Locations = w.Key(0, sandbox.RoleLimited).LocationIDs
	look(2)

	if err := os.Remove(branch.NextKeyFile); err != nil {
		t.Fatal(err)
	}
	w.app.Config.Sources[1].Locations = nil
	look(1, "✗ source branch: the API refuses the key (401)")
}

// The proxy that requests go through is tried and named, without its password.
func TestCheckOfAProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
	target, err := url.Parse(w.app.Config.Sources[0].BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	w.app.Config.Sources[0].BaseURL = "http://pos.example" + target.Path
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host})
	wanted := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:secret"))
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != wanted {
			rw.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		r.URL.Scheme, r.URL.Host = "", "" // a forward proxy is given whole addresses
		forward.ServeHTTP(rw, r)
	}))
	defer proxy.Close()
	address := strings.TrimPrefix(proxy.URL, "http://")
	for by, want := range map[string]string{
		"http://u:secret@" + address:  "✓ source r0: through the proxy http://" + address,
		"http://u:wrong@" + address:   "✗ source r0: GET /me: 407 Proxy Authentication Required: the proxy wants a user name and a password",
		"http://u:secret@127.0.0.1:1": "✗ source r0: GET /me: no answer: proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused (2 attempts); Check the proxy http://127.0.0.1:1, base_url and the network.",
	} {
		at, err := url.Parse(by)
		if err != nil {
			t.Fatal(err)
		}
		transport := api.NewTransport(api.Timeouts{})
		transport.Proxy = http.ProxyURL(at)
		w.app.api.Transport = transport
		var lines []string
		for _, f := range w.app.Checker().CheckSources(t.Context()) {
			lines = append(lines, fmt.Sprintf("%s %s; %s", f.Mark, f.Text, f.Advice))
		}
		transport.CloseIdleConnections()
		if all := strings.Join(lines, "\n"); !strings.Contains(all, want) || strings.Contains(all, "secret") {
			t.Errorf("%s: check says\n%s", want, all)
		}
	}
}
