package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// stopGrace is how long requests under way may take once Serve is asked to stop.
const stopGrace = 5 * time.Second

// Serve answers on ln until ctx ends, and closes it. Webhooks are sent, and a live world
// also moves while nobody asks. It returns nil after a stop that was asked for.
func Serve(ctx context.Context, ln net.Listener, s *Sandbox) error {
	return ServeThrough(ctx, ln, s, s.Handler())
}

// ServeThrough is [Serve] with a handler that stands before the sandbox's own.
func ServeThrough(ctx context.Context, ln net.Listener, s *Sandbox, h http.Handler) error {
	// Hanging requests end with the base context, so that a stop is never held
	// up by a fault.
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	err := s.live(ctx, served)
	if err != nil {
		return fmt.Errorf("serve sandbox on %s: %w", ln.Addr(), err)
	}
	cut()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		return errors.Join(fmt.Errorf("stop sandbox: %w", err), server.Close())
	}
	return nil
}

// ordersEvery is how often Serve looks whether an order moves or a webhook is due: a tenth of
// what one may take to arrive.
const ordersEvery = 100 * time.Millisecond

// live ticks until ctx ends (nil) or the server gives up.
func (s *Sandbox) live(ctx context.Context, served <-chan error) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	orders := time.NewTicker(ordersEvery)
	defer orders.Stop()
	var sending sync.WaitGroup // a receiver that is slow holds up no other
	defer sending.Wait()
	sent, stop := context.WithCancel(ctx)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			return err
		case <-ticker.C:
			if s.opts.Live {
				s.Tick(s.opts.Now())
			}
		case <-orders.C:
			if s.somethingDue() {
				sending.Go(func() { s.DeliverWebhooks(sent) })
			}
		}
	}
}
