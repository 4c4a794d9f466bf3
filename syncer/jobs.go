package syncer

import (
	"context"
	"errors"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// begin starts the walks of a job. A walk that is still running is not started
// again.
func (s *source) begin(ctx context.Context, j job) {
	switch j {
	case jobIncremental:
		s.beginLists(ctx)
	case jobSnapshots:
		s.spawn(ctx, "snapshots", s.snapshots)
	case jobTotals:
		s.beginTotals(ctx)
	case jobTotalsDeep:
		for _, st := range s.active(totalsKind) {
			s.spawn(ctx, st.def.name, func(ctx context.Context) error { return st.exclusive(ctx, st.guard, st.totalsDeep) })
		}
	}
}

// beginLists starts the incremental walks, and every backfill that is not done:
// one that failed goes on at the next turn.
func (s *source) beginLists(ctx context.Context) {
	for _, st := range s.active(listKind) {
		s.spawnIfFree(ctx, st, st.guard, st.catchUp)
	}
	for _, st := range s.streams {
		if !st.off() && !st.filled() {
			s.spawnIfFree(ctx, st, st.filler, st.fill)
		}
	}
}

func (s *source) beginTotals(ctx context.Context) {
	for _, st := range s.active(totalsKind) {
		s.spawnIfFree(ctx, st, st.guard, st.totalsRecent)
	}
}

// spawnIfFree starts f unless the slot is taken or the service asked to wait.
func (s *source) spawnIfFree(ctx context.Context, st *stream, guard slot, f func(context.Context) error) {
	if time.Now().Before(st.waitUntil()) || !guard.try() {
		return
	}
	s.spawn(ctx, st.def.name, func(ctx context.Context) error {
		defer guard.free()
		return f(ctx)
	})
}

// active returns the streams of a kind that are on.
func (s *source) active(kind streamKind) []*stream {
	var on []*stream
	for _, st := range s.streams {
		if st.def.kind == kind && !st.off() {
			on = append(on, st)
		}
	}
	return on
}

// catchUp runs one incremental walk of each track.
func (st *stream) catchUp(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkIncremental, func(ctx context.Context) error {
		var errs []error
		for _, t := range st.followed() {
			errs = append(errs, t.catchUp(ctx))
		}
		return errors.Join(errs...)
	})
}

// fill runs the backfill to its end. Only so many run at once in a process; the
// daily totals, of a few rows and ahead of the rest, wait for none.
func (st *stream) fill(ctx context.Context) error {
	switch {
	case st.filled():
		return nil
	case st.def.name == streamDaily:
		return st.attempt(ctx, sinks.WalkTotals, st.totalsFill)
	}
	select {
	case st.source.syncer.backfills <- struct{}{}:
		defer func() { <-st.source.syncer.backfills }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if st.def.kind == totalsKind {
		return st.attempt(ctx, sinks.WalkTotals, st.totalsFill)
	}
	return st.attempt(ctx, sinks.WalkBackfill, func(ctx context.Context) error {
		var errs []error
		for _, t := range st.followed() {
			errs = append(errs, t.fill(ctx))
		}
		return errors.Join(errs...)
	})
}

// snapshots asks for the key and for the lists without a cursor.
func (s *source) snapshots(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	for _, st := range s.active(snapshotKind) {
		s.spawnIfFree(ctx, st, st.guard, st.replace)
	}
	return nil
}
