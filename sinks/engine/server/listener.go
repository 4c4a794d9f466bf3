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
	"time"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/socket"
)

const socketName = "larder.sock"

// closeGrace is how long answers under way may take when the engine closes.
const closeGrace = 3 * time.Second

// listen listens on the socket in the data folder.
func (s *Server) listen() error {
	s.socket = filepath.Join(s.Path(), socketName)
	listener, err := socket.Listen(s.socket)
	if err != nil {
		return engine.Unwritable(s.Path(), err)
	}
	s.serve(listener)
	return nil
}

// serve answers on a listener. There is no idle time-out: a connection that ends just when an
// insert begins on it fails that insert.
func (s *Server) serve(l net.Listener) {
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return s.stopped },
	}
	s.serving.Go(func() {
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("embedded engine: a listener ended", "address", l.Addr().String(), "error", err)
		}
	})
}

// endListener lets answers under way end for a moment, then ends them.
func (s *Server) endListener() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.serving.Wait()
	if s.engine.Health() != nil {
		return err // what is at the socket's path is another process's
	}
	if gone := os.Remove(s.socket); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
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
