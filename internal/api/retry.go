package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// Waits between attempts. A Retry-After longer than maxHold is not waited for
// here: it goes back to the caller as the next time to ask, so that no worker is
// pinned by it.
const (
	firstWait = 250 * time.Millisecond
	maxWait   = 15 * time.Second
	maxHold   = 30 * time.Second
)

// maxRedirects of one attempt; only within the base URL's origin.
const maxRedirects = 3

// do sends the request again until it has an answer, an error that the next attempt would meet
// too, or no attempt left.
func (k *call) do(req *http.Request) error {
	hc := http.Client{Transport: k, CheckRedirect: k.client.redirect}
	for retries := 0; ; retries++ {
		resp, err := hc.Do(req)
		if err == nil {
			_ = resp.Body.Close() // it was read inside the attempt
		}
		wait, again := k.retry(err, retries)
		if !again || retries >= k.client.opts.RetryMax {
			return err
		}
		if !lifecycle.Pause(req.Context(), wait) {
			return context.Cause(req.Context())
		}
	}
}

// retry decides whether the attempt that just ended is followed by another, and when.
func (k *call) retry(err error, retries int) (wait time.Duration, again bool) {
	wait = backoff(retries, k.client.opts.Jitter())
	if err != nil {
		return wait, passing(err)
	}
	switch k.status {
	case http.StatusTooManyRequests: // the gate holds the next attempt until it is allowed
		return 0, k.client.gate != nil
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return max(wait, k.verdict.RetryAfter), k.verdict.RetryAfter <= maxHold
	}
	return 0, false
}

// passing is true of errors that the next attempt may not meet.
func passing(err error) bool {
	if shape, ok := errors.AsType[*shapeError](err); ok {
		// What a proxy or a service in the middle of a restart has put there goes by.
		// What is too large, or encoded as nobody asked for, costs much and comes again.
		return shape.kind != BodyTooLarge && shape.kind != BodyEncoding
	}
	if _, ok := errors.AsType[*gateError](err); ok {
		return false
	}
	if p, ok := errors.AsType[*ProxyError](err); ok {
		return p.Status >= http.StatusInternalServerError
	}
	return !errors.Is(err, errNoKey) && !errors.Is(err, errBadKey) && !untrusted(err)
}

// untrusted is true of a server that is not who it should be, or speaks no TLS.
func untrusted(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}

// backoff doubles from firstWait to maxWait, spread by jitter in [0,1) over the
// upper half.
func backoff(attempt int, jitter float64) time.Duration {
	base := lifecycle.Backoff(firstWait, maxWait, attempt)
	return lifecycle.Between(base/2, base, jitter)
}

// redirect follows redirects within the origin of the base URL; another origin
// must never see the key, and is answered with the redirect itself.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !sameOrigin(req.URL, c.base) {
		return http.ErrUseLastResponse
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Host == b.Host
}
