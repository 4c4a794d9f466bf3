package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// proxy is [http.ProxyFromEnvironment], which leaves out a proxy whose address it cannot read:
// requests would go past it. The address may hold a password, and is not repeated.
func proxy(req *http.Request) (*url.URL, error) {
	name := strings.ToUpper(req.URL.Scheme) + "_PROXY"
	text := os.Getenv(name)
	if text == "" {
		name = strings.ToLower(name)
		text = os.Getenv(name)
	}
	if text != "" && !isProxy(text) && !loopback(req.URL.Hostname()) {
		return nil, &proxySettingError{name}
	}
	return http.ProxyFromEnvironment(req)
}

// isProxy reports whether net/http can use the address of a proxy, which may be without a scheme.
func isProxy(text string) bool {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	at, err := url.Parse(text)
	return err == nil && at.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, at.Scheme)
}

// loopback reports whether a host is this machine, to which no proxy is used.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// proxySettingError is a variable of the environment with something else than a proxy's address.
type proxySettingError struct{ name string }

func (e *proxySettingError) Error() string {
	return e.name + " is not the address of a proxy, so nothing was sent: write it as http://host:port, or http://user:password@host:port " +
		"with % and other special characters of the password as %25 and the like, or unset it"
}

// ProxyError is a proxy that opens no connection to the service.
type ProxyError struct {
	Proxy  string // host and port
	Status int
}

func (e *ProxyError) Error() string {
	return fmt.Sprintf("the proxy %s answers %d %s", e.Proxy, e.Status, http.StatusText(e.Status))
}

// wantsPassword is what to do about a 407.
const wantsPassword = "the proxy wants a user name and a password: put them into HTTPS_PROXY (HTTP_PROXY for a base_url without TLS) as http://user:password@host:port"

func connectedThrough(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &ProxyError{Proxy: proxy.Host, Status: resp.StatusCode}
}

// IsProxyRefusal reports whether a proxy wants a user name and a password.
func IsProxyRefusal(err error) bool {
	e, ok := errors.AsType[*ProxyError](err)
	return ok && e.Status == http.StatusProxyAuthRequired || hasStatus(err, http.StatusProxyAuthRequired)
}

// IsProxySetting reports whether the environment names a proxy that cannot be one.
func IsProxySetting(err error) bool {
	_, ok := errors.AsType[*proxySettingError](err)
	return ok
}

// Proxy returns the address of the proxy that requests go through, without user name and
// password; empty for none.
func (c *Client) Proxy() string {
	transport, ok := c.opts.Transport.(*http.Transport)
	if !ok || transport.Proxy == nil {
		return ""
	}
	at, err := transport.Proxy(&http.Request{URL: c.base})
	if err != nil || at == nil {
		return "" // the error is one of each request
	}
	return at.Scheme + "://" + at.Host
}
