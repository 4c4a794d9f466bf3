package syncer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// pass is one visit of each of some sources.
type pass struct {
	atOnce int    // sources at the same time
	held   bool   // a source is visited only while this process holds it
	tell   func() // called about every second and at the end; may be nil
	visit  func(ctx context.Context, i int, s *source) error
	ended  func(i int, state string, err error) // called when a visit has ended, or could not begin
}

// pass makes a pass over sources. The error is the sink's or the caller's; those of sources go
// to the pass.
func (y *Syncer) pass(ctx context.Context, sources []*supervisor, p pass) error {
	if err := y.start(ctx); err != nil {
		return err
	}
	if p.held {
		defer y.leases.Enter(ctx, func() []string { return namesOf(sources) })()
	}
	defer every(y.log, time.Second, p.tell)() // ends first: to give the sources back may take a while
	failed := make([]error, len(sources))
	slots := make(stream.Slot, max(p.atOnce, 1))
	var visits sync.WaitGroup
	for i, v := range sources {
		visits.Go(func() {
			if slots.Take(ctx) == nil { // else ctx has ended
				defer slots.Release()
				failed[i] = y.recovered(y.log, "pass", func() error { v.pass(ctx, i, p); return nil })
			}
		})
	}
	visits.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failed...)
}

// pass makes the visit of a pass.
func (v *supervisor) pass(ctx context.Context, i int, p pass) {
	err := v.syncer.recovered(v.syncer.log, "pass", func() error {
		return v.work(ctx, "pass", func(ctx context.Context, s *source) error {
			if p.held {
				if err := v.syncer.leases.Await(ctx, v.name); err != nil {
					return err
				}
				s.held()
			}
			return p.visit(ctx, i, s)
		})
	})
	state := v.current().view().State
	if lease.IsWaiting(err) {
		state = status.StateWaiting
	}
	p.ended(i, state, err)
}

// every calls f again and again until the returned function is called, which calls
// it a last time. With nil it does nothing.
func every(log *slog.Logger, interval time.Duration, f func()) (stop func()) {
	if f == nil {
		return func() {}
	}
	tell := func() { lifecycle.Recovered(log, "the progress of a pass", f) }
	ctx, quit := context.WithCancel(context.Background())
	var telling sync.WaitGroup
	telling.Go(func() {
		for lifecycle.Pause(ctx, interval) {
			tell()
		}
	})
	return func() { quit(); telling.Wait(); tell() }
}
