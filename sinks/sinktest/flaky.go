package sinktest

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// Dialler opens connections to a warehouse; its form is that of
// clickhouse.Options.DialContext.
type Dialler = func(ctx context.Context, addr string) (net.Conn, error)

// Flaky puts faults between a sink and its warehouse: it can be down, and it can
// cut connections after some number of bytes, in the middle of a statement.
type Flaky struct {
	dial Dialler

	mu    sync.Mutex
	down  bool
	conns map[*flakyConn]bool

	// sent counts the bytes of all connections towards the warehouse; it is cut
	// when they pass limit.
	sent, limit atomic.Int64
	cuts        atomic.Int64
	muted       atomic.Bool
}

// NewFlaky returns a way to a warehouse that works, until told otherwise.
func NewFlaky(dial Dialler) *Flaky {
	f := &Flaky{dial: dial, conns: map[*flakyConn]bool{}}
	f.limit.Store(-1)
	return f
}

var errDown = &net.OpError{Op: "dial", Net: "flaky", Err: errors.New("connection refused")}

// Dial is a [Dialler].
func (f *Flaky) Dial(ctx context.Context, addr string) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, errDown
	}
	conn, err := f.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	c := &flakyConn{Conn: conn, flaky: f}
	f.conns[c] = true
	return c, nil
}

// Down makes the warehouse unreachable and cuts all connections.
func (f *Flaky) Down() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = true
	f.cutAll()
}

// Up ends Down, and forgets a cut that has not come.
func (f *Flaky) Up() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = false
	f.limit.Store(-1)
	f.muted.Store(false)
}

// CutAfter cuts all connections, once, when n more bytes have been sent.
func (f *Flaky) CutAfter(n int64) {
	f.sent.Store(0)
	f.limit.Store(n)
}

// CutReply cuts all connections, once, when the next answer comes: its statement
// was done, and nobody learns of it.
func (f *Flaky) CutReply() { f.muted.Store(true) }

// Cuts is how many cuts there have been.
func (f *Flaky) Cuts() int64 { return f.cuts.Load() }

func (f *Flaky) cutAll() {
	for c := range f.conns {
		_ = c.Conn.Close() // the fault is that it closes
		delete(f.conns, c)
	}
}

type flakyConn struct {
	net.Conn
	flaky *Flaky
}

// Write sends what may still be sent, and cuts the connection then.
func (c *flakyConn) Write(p []byte) (int, error) {
	f := c.flaky
	limit := f.limit.Load()
	if limit < 0 || f.sent.Add(int64(len(p))) <= limit {
		return c.Conn.Write(p)
	}
	if !f.limit.CompareAndSwap(limit, -1) {
		return c.Conn.Write(p)
	}
	allowed := max(0, int64(len(p))-(f.sent.Load()-limit))
	n, err := c.Conn.Write(p[:min(allowed, int64(len(p)))])
	f.cut()
	return n, errors.Join(err, net.ErrClosed)
}

// Read receives, unless the answer is to be lost.
func (c *flakyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.flaky.muted.CompareAndSwap(true, false) {
		c.flaky.cut()
		return 0, net.ErrClosed
	}
	return n, err
}

func (f *Flaky) cut() {
	f.cuts.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cutAll()
}

func (c *flakyConn) Close() error {
	c.flaky.mu.Lock()
	delete(c.flaky.conns, c)
	c.flaky.mu.Unlock()
	return c.Conn.Close()
}
