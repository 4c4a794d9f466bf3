package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const socketName = "larder.sock"

// closeGrace is how long answers under way may take when the engine closes.
const closeGrace = 3 * time.Second

// ways are the ways in: each an HTTP server over the front.
type ways struct {
	mu      sync.Mutex
	inside  *pipeListener
	mounted *http.ServeMux // of the socket
	servers []*http.Server
	socket  string
	serving sync.WaitGroup
}

// serve serves a listener. An idle time-out is for strangers only: a connection
// that ends just when an insert begins on it fails that insert.
func (w *ways) serve(e *Engine, l net.Listener, h http.Handler, idle time.Duration) {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       idle,
		BaseContext:       func(net.Listener) context.Context { return e.stopped },
	}
	w.mu.Lock()
	w.servers = append(w.servers, server)
	w.mu.Unlock()
	w.serving.Go(func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			e.log.Error("embedded engine: a listener ended", "address", l.Addr().String(), "error", err)
		}
	})
}

// close lets answers under way end for a moment, then ends them.
func (w *ways) close() error {
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

// listenInside opens the ways in that every engine has: inside the process and
// on the socket.
func (e *Engine) listenInside() error {
	front := &front{engine: e, rights: full}
	e.ways.inside = newPipeListener()
	e.ways.serve(e, e.ways.inside, front, 0)

	e.ways.mounted = http.NewServeMux()
	e.ways.mounted.Handle("/", front)
	listener, err := listenSocket(filepath.Join(e.path, socketName))
	if err != nil {
		return unwritable(e.path, err)
	}
	e.ways.socket = filepath.Join(e.path, socketName)
	e.ways.serve(e, listener, e.ways.mounted, 0)
	return nil
}

// Dial connects to the engine inside the process, with full rights. Its form is
// that of clickhouse.Options.DialContext; the address does not matter.
func (e *Engine) Dial(ctx context.Context, _ string) (net.Conn, error) {
	return e.ways.inside.dial(ctx)
}

// Handle mounts a handler on the folder's socket, for the commands of the same
// user that come in there; pattern is one of http.ServeMux and begins with
// /larder/.
func (e *Engine) Handle(pattern string, h http.Handler) { e.ways.mounted.Handle(pattern, h) }

// ListenTCP serves the read-only way in (warehouse.http_listen) and returns the
// address, whose port may have been chosen by the system. An address that is not
// loopback needs a user and a password.
func (e *Engine) ListenTCP(ctx context.Context, address, user, password string) (net.Addr, error) {
	if password == "" && !isLoopback(address) {
		return nil, fmt.Errorf("listen on %s: an address that others can reach needs a user and a password: set them, or listen on 127.0.0.1", address)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s (warehouse.http_listen): %w", address, err)
	}
	e.ways.serve(e, listener, &front{engine: e, rights: reading, user: user, password: password}, 2*time.Minute)
	return listener.Addr(), nil
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// DialHeld returns a dialler to the engine of the process that holds the data
// folder, with full rights, for clickhouse.Options.DialContext or an
// http.Transport. What the holder mounted with Handle is reached the same way.
func DialHeld(path string) func(ctx context.Context, addr string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := dialSocket(ctx, filepath.Join(path, socketName))
		if err != nil {
			return nil, fmt.Errorf("reach the process that holds %s: %w", path, err)
		}
		return conn, nil
	}
}
