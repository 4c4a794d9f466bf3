package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/syncer"
)

// Options are what a [Server] needs.
type Options struct {
	Listen   string        // host:port; port 0 picks a free one
	User     string        // empty: no password
	Password config.Secret // of User

	Status   func() syncer.Status
	Problems func() []string // those of Status that keep the daemon from being ready; empty: none
	Gatherer prometheus.Gatherer
	About    func() About // asked for each page: the engine's address is known late
	Logger   *slog.Logger
}

// About is what the page says of the daemon itself.
type About struct {
	Version   string
	Warehouse string // the DSN as it may be shown
	Lost      string // Warehouse, once the data folder was removed or replaced; else empty
	QueryURL  string // the engine's ClickHouse HTTP interface; empty: none
}

// ListenError tells that an address could not be listened on.
type ListenError struct {
	Addr string
	Err  error
}

func (e *ListenError) Error() string {
	if errors.Is(e.Err, syscall.EADDRINUSE) {
		return fmt.Sprintf("web.listen: %s is taken by another process; stop that one, or set web.listen to another address", e.Addr)
	}
	return fmt.Sprintf("web.listen: %v", e.Err)
}

func (e *ListenError) Unwrap() error { return e.Err }

// Server serves the page. Its listener is bound by [New].
type Server struct {
	listener net.Listener
	server   *http.Server
}

// New binds the listener; [Server.Serve] answers on it.
func New(ctx context.Context, o Options) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, &ListenError{Addr: o.Listen, Err: err}
	}
	server, l := inbound.Server(l, Handler(o), inbound.Limits{
		Connections: inbound.PerFiles(maxConnections, 8),
		Header:      1 << 14,
		Request:     10 * time.Second,
		Answer:      30 * time.Second,
		Idle:        time.Minute,
		Full: "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n" +
			"Cross-Origin-Resource-Policy: same-origin\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 42\r\n\r\ntoo many connections are open to this page\n",
	}, o.Logger)
	return &Server{listener: l, server: server}, nil
}

// maxConnections is how many the page holds, or an eighth of the open files
// allowed: a browser takes up to six, a scraper one.
const maxConnections = 128

// URL is where the page is, for a person on this machine.
func (s *Server) URL() string {
	addr, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok {
		return "http://" + s.listener.Addr().String()
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// Serve answers until [Server.Close].
func (s *Server) Serve() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the status page: %w", err)
	}
	return nil
}

// Close lets requests under way finish until ctx ends, and frees the port, even
// when Serve was never called.
func (s *Server) Close(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if cerr := s.listener.Close(); cerr != nil && !errors.Is(cerr, net.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	return err
}
