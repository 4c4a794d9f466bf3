package syncer

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/status"
)

// pass is one visit of each of some sources.
type pass struct {
	atOnce int    // sources at the same time; all when zero
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
	if p.tell != nil {
		defer y.everySecond(p.tell)() // ends first: to give the sources back may take a while
	}
	var visits errgroup.Group
	if p.atOnce > 0 {
		visits.SetLimit(p.atOnce)
	}
	for i, v := range sources {
		visits.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err := y.recovered(y.log, "pass", func() error {
				return v.work(ctx, "pass", func(ctx context.Context, s *source) error {
					if p.held {
						if err := y.leases.Await(ctx, v.name); err != nil {
							return err
						}
						s.held()
					}
					return p.visit(ctx, i, s)
				})
			})
			return y.recovered(y.log, "pass", func() error {
				state := v.current().view().State
				if lease.IsWaiting(err) {
					state = status.StateWaiting
				}
				p.ended(i, state, err)
				return nil
			})
		})
	}
	err := visits.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// everySecond calls f again and again until the returned function is called, which calls it a last
// time.
func (y *Syncer) everySecond(f func()) (stop func()) {
	tell := func() { lifecycle.Recovered(y.log, "the progress of a pass", f) }
	ctx, quit := context.WithCancel(context.Background())
	var telling sync.WaitGroup
	telling.Go(func() {
		for lifecycle.Pause(ctx, time.Second) {
			tell()
		}
	})
	return func() { quit(); telling.Wait(); tell() }
}
