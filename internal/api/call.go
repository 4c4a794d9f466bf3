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
	parse  func(body []byte) error

	attempts int
	// Of the last attempt.
	key     string // to be kept out of errors
	verdict Verdict
	Received
	answer
	err    error // why it gave no usable answer
	barred error // why the gate did not let it through
}

// answer is what an attempt received.
type answer struct {
	status      int
	contentType string
	location    string // where a redirect points
	etag        string // the version of what it shows; empty when it says none
	body        []byte
}

// Received is what an answer was like, and what it took.
type Received struct {
	Date     time.Time // the service's clock, zero when not said
	Bytes    int       // of the body, decompressed
	Attempts int       // requests that it took

	hold *hold // what the body takes of the memory; nil for a small one
}

// Release gives the answer back. It is not needed any more, nor what points into it. Until then
// it counts in the client's [Memory]. More than once does no harm.
func (r Received) Release() { r.hold.release() }

// get asks for one address and returns what parse makes of the body of its 200, which happens inside
// the attempt: a cut body is tried again. The answer is the caller's to release. With an error
// there is only its number of attempts.
func get[T any](ctx context.Context, c *Client, t target, asked query, parse func(body []byte) (T, error)) (value T, k *call, err error) {
	k = &call{client: c, target: t, parse: func(body []byte) (err error) {
		value, err = parse(body)
		return err
	}}
	if err := k.do(ctx, asked); err != nil {
		k.Release()
		k.Received, k.answer = Received{Attempts: k.attempts}, answer{}
		return *new(T), k, err
	}
	k.Bytes, k.Attempts = len(k.body), k.attempts
	return value, k, nil
}

// do builds the request, without its headers, which each attempt adds, and sends it until it is answered.
func (k *call) do(ctx context.Context, asked query) error {
	address, err := k.target.in(k.client.base)
	if err != nil {
		return fmt.Errorf("%s: %w", k.target.name(), err)
	}
	address.RawQuery = string(asked)
	plain := &http.Request{Method: k.target.method(), URL: address, Host: address.Host, Header: http.Header{}}
	req, err := retryablehttp.FromRequest(plain.WithContext(context.WithValue(ctx, callKey{}, k)))
	if err != nil {
		return fmt.Errorf("%s: build the request: %w", k.target.name(), err)
	}
	resp, err := k.client.http.Do(req)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // read and closed inside the attempt
	}
	if err != nil {
		return k.failed(ctx, err)
	}
	if unchanged := k.status == http.StatusNotModified && k.target.unless != ""; k.status != http.StatusOK && !unchanged {
		return k.refusal()
	}
	return nil
}

// failed is the error of a request that ended without an answer.
func (k *call) failed(ctx context.Context, err error) error {
	route := k.target.name()
	if k.barred != nil {
		return fmt.Errorf("%s: %w", route, k.barred)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", route, context.Cause(ctx))
	}
	if k.err != nil {
		err = k.err
	}
	if shape, ok := errors.AsType[*BodyError](err); ok {
		return shape
	}
	return &TransportError{Route: route, Attempts: k.attempts, Err: scrub(err, k.key)}
}

// bodyError is what is wrong with a body, and of which answer.
func (k *call) bodyError(wrong *BodyError) *BodyError {
	e := *wrong
	e.Route, e.Reason, e.ContentType = k.target.name(), redact(e.Reason, k.key), k.contentType
	e.Size, e.Seen = len(k.body), k.excerpt(e.Offset)
	return &e
}

// excerpt is a piece of the answer's body, fit for a log: empty where it may tell of people.
func (k *call) excerpt(offset int) string {
	if k.target.personal {
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
