package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/socket"
)

const socketName = "larder.sock"

// closeGrace is how long answers under way may take when the engine closes.
const closeGrace = 3 * time.Second

// listeners are the ways in: each an HTTP server over a handler.
type listeners struct {
	mu      sync.Mutex
	servers []*http.Server
	socket  string
	serving sync.WaitGroup
}

// ours is an HTTP server for the daemon and the folder's owner. It has no idle time-out:
// a connection that ends just when an insert begins on it fails that insert.
func (s *Server) ours(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}

// serve serves a listener.
func (s *Server) serve(l net.Listener, server *http.Server) {
	server.BaseContext = func(net.Listener) context.Context { return s.stopped }
	s.listeners.mu.Lock()
	s.listeners.servers = append(s.listeners.servers, server)
	s.listeners.mu.Unlock()
	s.listeners.serving.Go(func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("embedded engine: a listener ended", "address", l.Addr().String(), "error", err)
		}
	})
}

// close lets answers under way end for a moment, then ends them.
func (w *listeners) close() error {
	w.mu.Lock()
	servers := w.servers
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	var all []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			all = append(all, server.Close())
		}
	}
	w.serving.Wait()
	if w.socket != "" {
		if err := os.Remove(w.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// listenInside listens on the socket in the data folder.
func (s *Server) listenInside() error {
	path := filepath.Join(s.Path(), socketName)
	listener, err := socket.Listen(path)
	if err != nil {
		return embedded.Unwritable(s.Path(), err)
	}
	s.listeners.socket = path
	s.serve(listener, s.ours(&handler{server: s, rights: full}))
	return nil
}

// Dial connects to the engine, with full rights. Its form is that of
// clickhouse.Options.DialContext; the address does not matter.
func (s *Server) Dial(ctx context.Context, _ string) (net.Conn, error) {
	return DialHeld(s.Path())(ctx, "")
}

// DialHeld returns a dialler to the engine that has a data folder open, with full rights, for
// clickhouse.Options.DialContext or an http.Transport.
func DialHeld(path string) func(ctx context.Context, addr string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := socket.Dial(ctx, filepath.Join(path, socketName))
		if err != nil {
			return nil, fmt.Errorf("reach the engine of %s: %w", path, err)
		}
		return conn, nil
	}
}
