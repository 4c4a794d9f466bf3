// Package simulated mirrors in simulated time (testing/synctest) into the real engine, whose
// clock is the machine's.
//
// Contents: the way out of a bubble, and the clock of SQL. Nothing but tests imports this.
package simulated

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"testing"

	"github.com/larder-sync/larder/sinks/engine/server"
)

// pipes is a listener whose connections are in memory: what waits for one waits as
// synctest means it.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial(ctx context.Context, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// WayOut leads out of a bubble to the engine of a folder. An engine in the bubble
// would stop its clock: it waits for the system. So the bubble has a proxy, which
// makes a connection for each request: while one is under way simulated time stands
// still, and between two of them nothing is waited for.
func WayOut(t testing.TB, folder string) func(ctx context.Context, addr string) (net.Conn, error) {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	socket := server.DialHeld(folder)
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server := &http.Server{
		ErrorLog: quiet,
		Handler: &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "embedded" },
			Transport: &http.Transport{
				DialContext:       func(ctx context.Context, _, a string) (net.Conn, error) { return socket(ctx, a) },
				DisableKeepAlives: true, DisableCompression: true,
			},
			FlushInterval: -1,
			ErrorLog:      quiet,
		},
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve the way to the engine: %v", err)
		}
	}()
	t.Cleanup(func() { _ = server.Close() }) // nothing can be done about it at the end of a test
	return l.dial
}
