package syncer

import (
	"context"
	"time"

	"github.com/larder-sync/larder/syncer/schedule"
)

// begin starts the walks of a job. A walk that is still running is not started
// again.
func (s *source) begin(ctx context.Context, j schedule.Job) {
	switch j {
	case schedule.Incremental:
		for _, st := range s.lists {
			if !st.off() {
				s.spawnIfFree(ctx, st.stream, st.guard, st.catchUp)
			}
		}
		s.beginLong(ctx)
	case schedule.Snapshots:
		s.spawn(ctx, "snapshots", s.snapshots)
	case schedule.Reconcile:
		s.beginTotals(ctx)
	case schedule.ReconcileDeep:
		for _, st := range s.days.on() {
			s.spawn(ctx, st.def.Name, st.proveDeep)
		}
	case schedule.FullResync:
		for _, st := range s.replaced() {
			st.list.Doubt() // a list that is replaced as a whole is written anew at its next turn
		}
		s.beginLong(ctx)
	}
}

// beginLong starts every backfill that is not done and every full resync whose turn
// it is: one that failed goes on at the next turn.
func (s *source) beginLong(ctx context.Context) {
	for _, f := range s.streams {
		if f.longDue(s.serviceNow()) {
			s.spawnIfFree(ctx, f.common(), f.common().filler, f.long)
		}
	}
}

// beginTotals starts the turns of yesterday and today, and the deep runs that are owed.
func (s *source) beginTotals(ctx context.Context) {
	for _, st := range s.days.on() {
		if time.Now().Before(st.waitUntil()) {
			continue
		}
		if st.turn.try() {
			s.spawn(ctx, st.def.Name, st.proveRecent)
		}
		if st.owesDeep() {
			s.spawn(ctx, st.def.Name, st.proveDeep)
		}
	}
}

// spawnIfFree starts f unless the slot is taken or the service asked to wait.
func (s *source) spawnIfFree(ctx context.Context, st *stream, guard slot, f func(context.Context) error) {
	if time.Now().Before(st.waitUntil()) || !guard.try() {
		return
	}
	s.spawn(ctx, st.def.Name, func(ctx context.Context) error {
		defer guard.free()
		return f(ctx)
	})
}

// snapshots asks for the key and for the lists without a cursor.
func (s *source) snapshots(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	for _, st := range s.wholes {
		if !st.off() {
			s.spawnIfFree(ctx, st.stream, st.guard, st.replace)
		}
	}
	return nil
}
