package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Options configure a [Client]. Zero fields take the defaults named here.
type Options struct {
	// BaseURL is the address the service gave, version prefix included.
	BaseURL string
	// Key returns the key to send, asked before every attempt, so that a rotated
	// key needs no new client. It is secret: it goes into the Authorization
	// header of requests to BaseURL's origin and nowhere else.
	Key func() string
	// UserAgent defaults to "larder".
	UserAgent string
	// Transport carries the requests; default one of [NewTransport]. Clients of
	// many sources share one.
	Transport http.RoundTripper
	// Memory bounds what the bodies of all clients that share it take together;
	// default one of [DefaultMemory] for this client alone.
	Memory *Memory
	// Timeouts default to defaultTimeouts, field by field.
	Timeouts Timeouts
	// Keep says what is kept of an order placed through the key, whose JSON it is given: of
	// its customer nothing else is known behind the client (docs/rules.md R14). What is given stays
	// as it is. Without it no such order is asked for.
	Keep func(order Raw) Raw
	// RetryMax is how many times a request is sent again; default 4, negative
	// for never. A 429 counts too, and is sent again only through a [Gate].
	RetryMax int
	// Logger takes attempts as debug lines; default none.
	Logger *slog.Logger
	// Observe is called with every attempt, for metrics: its route, "GET /products/{id}", never an
	// id, a query or a key, and the status of the answer, 0 for none. It must not block.
	Observe func(route string, status int)
	// Jitter returns numbers in [0,1) that spread the waits between attempts;
	// default from math/rand/v2.
	Jitter func() float64
}

// Gate is asked before every attempt, retries included, and holds it until it
// may be sent. It is the consumer's side of a budget.
type Gate interface {
	// Enter waits its turn. Heavy requests (/sales/daily, /sales/products) have
	// a limit of their own (docs/openapi.yaml, Limits a minute). Leave must be called exactly once
	// when the service has answered, or will not; it may be called from another
	// goroutine. An error ends the request as it is, without a retry.
	Enter(ctx context.Context, heavy bool) (leave func(Verdict), err error)
}

// Verdict is what an answer says about the limits.
type Verdict struct {
	Status     int           // 0: no answer
	Limit      int           // X-RateLimit-Limit; -1: not said
	Remaining  int           // X-RateLimit-Remaining; -1: not said
	RetryAfter time.Duration // 0: not said
	Date       time.Time     // the service's clock; zero: not said
}

// Client asks one service with one key. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	opts  Options
	gate  Gate
	http  *retryablehttp.Client
	proto *atomic.Int32 // major version of HTTP of the last answer, 0 before

	tenant *tenant // of opts.Memory
}

// New makes a client. The base URL must be http or https and carry neither credentials nor a
// query. It is not repeated in an error, since people put secrets there.
func New(opts Options) (*Client, error) {
	base, err := url.Parse(opts.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" ||
		base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "" {
		return nil, errors.New("base URL: want http:// or https://, a host and a path, without credentials, a query or a fragment")
	}
	base.Host = strings.TrimSuffix(base.Host, ":") // an empty port is none
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), strings.TrimRight(base.RawPath, "/")
	if opts.Key == nil {
		return nil, errors.New("api client: no key given")
	}
	opts = opts.withDefaults()
	c := &Client{base: base, opts: opts, proto: new(atomic.Int32), tenant: opts.Memory.tenant()}
	c.http = c.retrying()
	return c, nil
}

// Through is the same client with every attempt passing g.
func (c *Client) Through(g Gate) *Client {
	view := *c
	view.gate = g
	return &view
}
