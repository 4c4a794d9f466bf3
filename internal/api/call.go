package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// call is one request of the client through all its attempts: what an attempt needs, and
// leaves behind.
type call struct {
	client *Client
	target target
	// parse reads a 200's body inside the attempt: a cut body is tried again.
	parse func(body []byte) error

	attempts int
	// Of the last attempt.
	key     string // to be kept out of errors
	verdict Verdict
	Received
	answer
	err error // why it gave no usable answer
}

// answer is what an attempt received.
type answer struct {
	status      int
	contentType string
	location    string // where a redirect points
	etag        string // the version of what it shows; empty when it says none
	body        []byte
	hold        *hold // what body takes of the memory; nil for a small one
}

// Received is what an answer was like, and what it took.
type Received struct {
	Date     time.Time // the service's clock, zero when not said
	Bytes    int       // of the body, decompressed
	Attempts int       // requests that it took
}

// release gives the body back, which is not needed any more.
func (a *answer) release() { a.hold.release() }

// get asks for one address and has parse read the body of its 200. The answer is the
// caller's to release. With an error there is only its number of attempts.
func (c *Client) get(ctx context.Context, t target, query url.Values, parse func([]byte) error) (*call, error) {
	k := &call{client: c, target: t, parse: parse}
	req, err := c.request(context.WithValue(ctx, callKey{}, k), t, query)
	if err != nil {
		return k, fmt.Errorf("%s: %w", t.route.name(), err)
	}
	resp, err := c.http.Do(req)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // read and closed inside the attempt
	}
	if err != nil {
		k.release()
		return k, k.failed(ctx, err)
	}
	if unchanged := k.status == http.StatusNotModified && t.unless != ""; k.status != http.StatusOK && !unchanged {
		return k, k.refusal()
	}
	k.Bytes, k.Attempts = len(k.body), k.attempts
	return k, nil
}

// request builds the request without its key, which each attempt adds.
func (c *Client) request(ctx context.Context, t target, query url.Values) (*retryablehttp.Request, error) {
	if t.empty {
		return nil, errors.New("an empty id names nothing")
	}
	address := *c.base
	address.RawPath = c.base.EscapedPath() + t.escaped
	address.Path = c.base.Path + t.plain
	address.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, t.route.method(), address.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", c.opts.UserAgent)
	if t.unless != "" {
		req.Header.Set("If-None-Match", t.unless)
	}
	return retryablehttp.FromRequest(req)
}

// failed is the error of a request that ended without an answer.
func (k *call) failed(ctx context.Context, err error) error {
	route := k.target.route.name()
	if barred, ok := errors.AsType[*gateError](err); ok {
		return fmt.Errorf("%s: %w", route, barred.err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", route, context.Cause(ctx))
	}
	if k.err != nil {
		err = k.err
	}
	if shape, ok := errors.AsType[*shapeError](err); ok {
		return k.bodyError(shape)
	}
	return &TransportError{Route: route, Attempts: k.attempts, Err: scrub(err, k.key)}
}

// bodyError is the error of an answer that cannot be used.
func (k *call) bodyError(shape *shapeError) *BodyError {
	return &BodyError{
		Route: k.target.route.name(), Kind: shape.kind, Reason: redact(shape.reason, k.key), ContentType: k.contentType,
		Size: len(k.body), Offset: shape.offset, Seen: k.excerpt(shape.offset), Attempts: k.attempts,
	}
}

// excerpt is a piece of the answer's body, fit for a log: empty where it may tell of people.
func (k *call) excerpt(offset int) string {
	if k.target.route.personal {
		return ""
	}
	return excerpt(k.body, offset, k.key)
}

// scrub takes the address, which repeats cursors and ids, and the key off an
// error of net/http.
func scrub(err error, key string) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if text := err.Error(); key != "" && redact(text, key) != text {
		return errors.New(redact(text, key))
	}
	return err
}

// gateError is a gate that let nobody through.
type gateError struct{ err error }

func (e *gateError) Error() string { return e.err.Error() }
func (e *gateError) Unwrap() error { return e.err }
