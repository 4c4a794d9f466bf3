package api

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// Timeouts bound each phase of an attempt. Waiting at a gate counts for none.
type Timeouts struct {
	Ping   time.Duration // an HTTP/2 connection without a frame, and then without an answer to a ping; only for transports of NewTransport
	Header time.Duration // from sending to the answer's headers, dial and TLS included
	Idle   time.Duration // between two reads of the body
	Whole  time.Duration // from sending to the last byte
}

// defaultTimeouts suit pages of a few hundred kilobytes over a slow line.
var defaultTimeouts = Timeouts{
	Ping:   15 * time.Second,
	Header: 60 * time.Second,
	Idle:   30 * time.Second,
	Whole:  5 * time.Minute,
}

func (t Timeouts) withDefaults() Timeouts {
	t.Ping = cmp.Or(t.Ping, defaultTimeouts.Ping)
	t.Header = cmp.Or(t.Header, defaultTimeouts.Header)
	t.Idle = cmp.Or(t.Idle, defaultTimeouts.Idle)
	t.Whole = cmp.Or(t.Whole, defaultTimeouts.Whole)
	return t
}

const defaultRetryMax = 4

func (o Options) withDefaults() Options {
	o.Timeouts = o.Timeouts.withDefaults()
	o.UserAgent = cmp.Or(o.UserAgent, "larder")
	o.RetryMax = cmp.Or(o.RetryMax, defaultRetryMax)
	if o.Transport == nil {
		o.Transport = NewTransport(o.Timeouts)
	}
	if o.Memory == nil {
		o.Memory = NewMemory(DefaultMemory)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(string, int) {}
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	return o
}

// connecting bounds a connection, and then its handshake.
const connecting = 10 * time.Second

// maxHeader is the most bytes of an answer's headers.
const maxHeader = 64 << 10

// NewTransport makes a transport that many clients can share: connections are
// reused, HTTP/2 is spoken where the service does, proxies come from the
// environment. Decompression is the client's, who bounds what comes out of it.
func NewTransport(t Timeouts) *http.Transport {
	t = t.withDefaults()
	dialer := net.Dialer{Timeout: connecting, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		OnProxyConnectResponse: connectedThrough,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connecting,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		DisableCompression:     true,
		// The defaults are 10 MB of headers and, over HTTP/2, 4 MB of each body that
		// nobody reads yet.
		MaxResponseHeaderBytes: maxHeader,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: 512 << 10,
			// A connection that has gone silent is used for many minutes otherwise: a
			// time-out of a request ends that request alone.
			SendPingTimeout: t.Ping,
			PingTimeout:     t.Ping,
		},
	}
}

// connectionAge is how long new requests are sent over a connection. A service that has moved
// is found only by a new one, and one in steady use is never closed for being idle.
const connectionAge = 5 * time.Minute

// Connections are transports that follow each other, see [Renewed].
type Connections struct {
	fresh func() *http.Transport

	mu    sync.Mutex // guards what follows
	now   *http.Transport
	since time.Time
}

// Renewed sends requests through transports that fresh makes, each of them for five minutes.
// What is under way on an earlier one ends there; its connections close when they are idle.
func Renewed(fresh func() *http.Transport) *Connections {
	return &Connections{fresh: fresh, now: fresh(), since: time.Now()}
}

// RoundTrip implements [http.RoundTripper].
func (c *Connections) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	if time.Since(c.since) >= connectionAge {
		c.now.CloseIdleConnections()
		c.now, c.since = c.fresh(), time.Now()
	}
	now := c.now
	c.mu.Unlock()
	return now.RoundTrip(req)
}

// CloseIdleConnections closes those of the present transport.
func (c *Connections) CloseIdleConnections() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.CloseIdleConnections()
}
