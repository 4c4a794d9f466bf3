package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// What a proxy answers is its own, with TLS and without, and its password is nowhere.
func TestAProxyThatRefuses(t *testing.T) {
	for _, c := range []struct {
		scheme   string
		status   int
		requests int
		is       bool
		says     string
	}{
		{"https", 407, 1, true, "wants a user name and a password"},
		{"http", 407, 1, true, "wants a user name and a password"},
		{"https", 403, 1, false, "answers 403 Forbidden"},
		{"https", 502, 2, false, "answers 502 Bad Gateway"},
	} {
		requests := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			if (r.Method == http.MethodConnect) != (c.scheme == "https") {
				t.Errorf("%s %s", r.Method, r.RequestURI)
			}
			w.WriteHeader(c.status)
		}))
		at, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		at.User = url.UserPassword("u", "secret")
		transport := NewTransport(Timeouts{})
		transport.Proxy = http.ProxyURL(at)
		client, err := New(Options{BaseURL: c.scheme + "://pos.example/v1", Key: func() string { return testKey }, Transport: transport, RetryMax: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Me(t.Context())
		if err == nil || IsProxyLogin(err) != c.is || requests != c.requests || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s, %d: %d requests: %v", c.scheme, c.status, requests, err)
		}
		if temporary := c.status >= 500; IsTemporary(err) != temporary {
			t.Errorf("%s, %d: temporary: %v", c.scheme, c.status, !temporary)
		}
		if refused, ok := errors.AsType[*ProxyError](err); ok && refused.Proxy != at.Host {
			t.Errorf("the proxy is called %s", refused.Proxy)
		}
		if client.Proxy() != server.URL {
			t.Errorf("proxy %q", client.Proxy())
		}
		transport.CloseIdleConnections()
		server.Close()
	}
}
