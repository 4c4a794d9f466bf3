package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
)

// Server is the listener of a [Receiver].
type Server struct {
	listener net.Listener
	server   *http.Server
}

// ListenError tells that an address could not be listened on.
type ListenError struct {
	Addr string
	Err  error
}

func (e *ListenError) Error() string {
	if errors.Is(e.Err, syscall.EADDRINUSE) {
		return fmt.Sprintf("webhooks.listen: %s is taken by another process; stop that one, or set webhooks.listen to another address", e.Addr)
	}
	return fmt.Sprintf("webhooks.listen: %v", e.Err)
}

func (e *ListenError) Unwrap() error { return e.Err }

// maxConnections is how many the listener holds, or an eighth of the open files.
const maxConnections = 512

// Listen binds the listener; [Server.Serve] answers on it.
func Listen(ctx context.Context, address string, r *Receiver, log *slog.Logger) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &ListenError{Addr: address, Err: err}
	}
	server, l := inbound.Server(l, r, inbound.Limits{
		Connections: inbound.PerFiles(maxConnections, 8),
		Header:      1 << 14,
		Request:     10 * time.Second,
		Answer:      answerWithin + 6*time.Second,
		Idle:        time.Minute,
		Full: "HTTP/1.1 503 Service Unavailable\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nRetry-After: 60\r\n" +
			"Connection: close\r\nContent-Length: 0\r\n\r\n",
	}, log)
	return &Server{listener: l, server: server}, nil
}

// Addr is where it listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers until [Server.Close].
func (s *Server) Serve() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	return nil
}

// Close lets what is under way finish until ctx ends, and frees the port.
func (s *Server) Close(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if cerr := s.listener.Close(); cerr != nil && !errors.Is(cerr, net.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	return err
}
