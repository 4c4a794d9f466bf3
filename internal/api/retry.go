package api

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

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

// retrying is a client that tries again. Every attempt of a request goes through [attempt],
// which has the request's [call] in its context.
func (c *Client) retrying() *retryablehttp.Client {
	return &retryablehttp.Client{
		// A redirect is an answer as others: the host that it names never sees the key.
		HTTPClient:   &http.Client{Transport: attempt{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		RetryMax:     max(c.opts.RetryMax, 0),
		CheckRetry:   passes,
		Backoff:      c.wait,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// callKey is a context's key of the call that is made.
type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) } //nolint:errcheck,forcetypeassert // only get makes requests

// attempt carries the attempts of calls.
type attempt struct{}

// RoundTrip is one attempt.
func (attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	return callOf(req.Context()).attempt(req)
}

// passes decides whether the attempt that just ended is followed by another.
func passes(ctx context.Context, resp *http.Response, err error) (bool, error) {
	k := callOf(ctx)
	if err != nil || ctx.Err() != nil {
		return ctx.Err() == nil && k.barred == nil && passing(err), nil // the call reports the context's cause
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		// The gate has been told and holds the next attempt until it is allowed.
		return k.client.gate != nil, nil
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return k.verdict.RetryAfter <= maxHold, nil
	}
	return false, nil
}

// passing is true of errors that the next attempt may not meet.
func passing(err error) bool {
	if body, ok := errors.AsType[*BodyError](err); ok {
		// What a proxy or a service in the middle of a restart has put there goes by.
		// What is too large, or encoded as nobody asked for, costs much and comes again.
		return body.Kind != BodyTooLarge && body.Kind != BodyEncoding
	}
	if p, ok := errors.AsType[*ProxyError](err); ok {
		return p.Status >= http.StatusInternalServerError
	}
	return !errors.Is(err, errNoKey) && !errors.Is(err, errBadKey) && !untrusted(err)
}

// untrusted is true of a server that is not who it should be, or speaks no TLS.
func untrusted(err error) bool {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return certificate || plain
}

// wait is how long to wait before the next attempt.
func (c *Client) wait(_, _ time.Duration, attempt int, resp *http.Response) time.Duration {
	wait := backoff(attempt, c.opts.Jitter())
	switch {
	case resp == nil:
		return wait
	case resp.StatusCode == http.StatusTooManyRequests:
		return 0 // the gate's to decide
	}
	return max(wait, callOf(resp.Request.Context()).verdict.RetryAfter)
}

// backoff doubles from firstWait to maxWait, spread by jitter in [0,1) over the
// upper half.
func backoff(attempt int, jitter float64) time.Duration {
	base := lifecycle.Backoff(firstWait, maxWait, attempt)
	return lifecycle.Between(base/2, base, jitter)
}
