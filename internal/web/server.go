package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/syncer/status"
)

// Options are what a [Server] needs.
type Options struct {
	Listen   string        // host:port; port 0 picks a free one
	User     string        // empty: no password
	Password config.Secret // of User

	Status   func() status.Status
	Gatherer prometheus.Gatherer
	About    func() About // asked for each page: the engine's address is known late
	Logger   *slog.Logger
}

// About is what the page says of the daemon itself.
type About struct {
	Version   string
	Warehouse string // the DSN as it may be shown
	QueryURL  string // the engine's ClickHouse HTTP interface; empty: none
}

// Server serves the page. Its listener is bound by [New].
type Server struct{ *inbound.Listener }

// New binds the listener; [inbound.Listener.Serve] answers on it.
func New(ctx context.Context, o Options) (*Server, error) {
	l, err := inbound.Listen(ctx, "web.listen", o.Listen, Handler(o), inbound.Limits{
		Connections: inbound.PerFiles(maxConnections, 8),
		Header:      1 << 14,
		Request:     10 * time.Second,
		Answer:      30 * time.Second,
		Idle:        time.Minute,
		Full: "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n" +
			"Cross-Origin-Resource-Policy: same-origin\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 42\r\n\r\ntoo many connections are open to this page\n",
	}, o.Logger)
	if err != nil {
		return nil, err
	}
	return &Server{l}, nil
}

// maxConnections is how many the page holds, or an eighth of the open files
// allowed: a browser takes up to six, a scraper one.
const maxConnections = 128

// URL is where the page is, for a person on this machine.
func (s *Server) URL() string {
	addr, ok := s.Addr().(*net.TCPAddr)
	if !ok {
		return "http://" + s.Addr().String()
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}
