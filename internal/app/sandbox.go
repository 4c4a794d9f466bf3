package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

// service is a sandbox that listens.
type service struct {
	*sandbox.Sandbox
	listener net.Listener
	server   *http.Server
}

// startSandbox makes the world and listens; serve answers.
func startSandbox(ctx context.Context, listen string, o sandbox.Options) (*service, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, UsageError(fmt.Errorf("%s is taken by another process; stop that one, or name another address with --listen", listen))
	}
	if err != nil {
		return nil, UsageError(err)
	}
	box, err := sandbox.New(o)
	if err != nil {
		return nil, UsageError(errors.Join(err, l.Close()))
	}
	s := &service{Sandbox: box, listener: l}
	s.server = &http.Server{
		Handler: box.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return s, nil
}

func (s *service) baseURL() string { return "http://" + s.listener.Addr().String() + "/v1" }

func (s *service) serve() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the sandbox: %w", err)
	}
	return nil
}

// close lets answers under way end until ctx ends. Faults may hang on purpose, so
// what is left is cut.
func (s *service) close(ctx context.Context) error {
	if err := s.server.Shutdown(ctx); err != nil {
		return s.server.Close()
	}
	return nil
}

// Sandbox serves the sandbox until ctx ends. ready is called when it answers.
func Sandbox(ctx context.Context, listen string, o sandbox.Options, ready func(baseURL string, keys []sandbox.Key)) error {
	s, err := startSandbox(ctx, listen, o)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- s.serve() }()
	ready(s.baseURL(), s.Keys())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.close(stop)
}
