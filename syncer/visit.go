package syncer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// visit is the scaffold of a pass: it visits sources, so many at the same time, and calls
// tell about every second meanwhile and at the end. The error is the sink's, the
// caller's, or a panic.
func (y *Syncer) visit(ctx context.Context, sources []*source, atOnce int, tell func(), f func(ctx context.Context, i int, s *source)) error {
	if err := y.start(ctx); err != nil {
		return err
	}
	leave, err := y.leases.Enter(ctx, func() []string { return namesOf(sources) })
	if err != nil {
		return err
	}
	defer leave()
	return y.forEach(ctx, sources, atOnce, tell, f)
}

// forEach calls f with each source, so many at the same time, and tell as [Syncer.visit] does.
func (y *Syncer) forEach(ctx context.Context, sources []*source, atOnce int, tell func(), f func(ctx context.Context, i int, s *source)) error {
	stop := every(y.log, time.Second, tell)
	failed := make([]error, len(sources)) // by a panic; other errors are in the reports
	places := make(chan struct{}, max(atOnce, 1))
	var visits sync.WaitGroup
	for i, s := range sources {
		visits.Go(func() {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				failed[i] = s.Protected(ctx, "pass", func(ctx context.Context) error { f(ctx, i, s); return nil })
			case <-ctx.Done():
			}
		})
	}
	visits.Wait()
	stop()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failed...)
}

// entered does something with a source, in a context that ends with it too.
func (s *source) entered(ctx context.Context, f func(context.Context) error) error {
	ctx, leave, err := s.life.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return f(ctx)
}

// every calls f again and again until the returned function is called, which calls
// it a last time. With nil it does nothing.
func every(log *slog.Logger, interval time.Duration, f func()) (stop func()) {
	if f == nil {
		return func() {}
	}
	tell := func() { lifecycle.Recovered(log, "the progress of a pass", f) }
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				tell()
			case <-quit:
				tell()
				return
			}
		}
	}()
	return func() { close(quit); <-ended }
}
