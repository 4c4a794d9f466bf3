package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

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

// IsProxyLogin reports whether a proxy wants a user name and a password.
func IsProxyLogin(err error) bool {
	e, ok := errors.AsType[*ProxyError](err)
	return ok && e.Status == http.StatusProxyAuthRequired || hasStatus(err, http.StatusProxyAuthRequired)
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
		return "" // a request reports the error
	}
	return at.Scheme + "://" + at.Host
}
