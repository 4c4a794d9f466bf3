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
)

const socketName = "larder.sock"

// closeGrace is how long answers under way may take when the engine closes.
const closeGrace = 3 * time.Second

// listeners are the ways in: each an HTTP server over a handler.
type listeners struct {
	mu      sync.Mutex
	inside  *pipeListener
	mounted *http.ServeMux // of the socket
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

// listenInside opens the ways in that every server has: inside the process and on the
// socket.
func (s *Server) listenInside() error {
	s.listeners.inside = newPipeListener()
	s.serve(s.listeners.inside, s.ours(&handler{server: s, rights: full}))

	s.listeners.mounted = http.NewServeMux()
	s.listeners.mounted.Handle("/", &handler{server: s, rights: full})
	socket := filepath.Join(s.Path(), socketName)
	listener, err := ListenSocket(socket)
	if err != nil {
		return embedded.Unwritable(s.Path(), err)
	}
	s.listeners.socket = socket
	s.serve(listener, s.ours(s.listeners.mounted))
	return nil
}

// Dial connects to the engine inside the process, with full rights. Its form is
// that of clickhouse.Options.DialContext; the address does not matter.
func (s *Server) Dial(ctx context.Context, _ string) (net.Conn, error) {
	return s.listeners.inside.dial(ctx)
}

// Handle mounts a handler on the folder's socket, for the commands of the same
// user that come in there; pattern is one of http.ServeMux and begins with
// /larder/.
func (s *Server) Handle(pattern string, h http.Handler) { s.listeners.mounted.Handle(pattern, h) }

// DialHeld returns a dialler to the engine of the process that holds the data
// folder, with full rights, for clickhouse.Options.DialContext or an
// http.Transport. What the holder mounted with Handle is reached the same way.
func DialHeld(path string) func(ctx context.Context, addr string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := DialSocket(ctx, filepath.Join(path, socketName))
		if err != nil {
			return nil, fmt.Errorf("reach the process that holds %s: %w", path, err)
		}
		return conn, nil
	}
}
