package syncer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// begin starts the walks of a job. A walk that is still running is not started
// again.
func (s *source) begin(ctx context.Context, j schedule.Job) {
	switch j {
	case schedule.Incremental:
		s.beginLists(ctx)
	case schedule.Snapshots:
		s.spawn(ctx, "snapshots", s.snapshots)
	case schedule.Reconcile:
		s.beginTotals(ctx)
	case schedule.ReconcileDeep:
		for _, st := range s.active(registry.TotalsKind) {
			s.spawn(ctx, st.def.Name, st.proveDeep)
		}
	case schedule.FullResync:
		for _, st := range s.streams {
			st.snapshot.Doubt() // a list that is replaced as a whole is written anew at its next turn
		}
		s.beginLong(ctx)
	}
}

// beginLists starts the incremental walks, and every long one that is due.
func (s *source) beginLists(ctx context.Context) {
	for _, st := range s.active(registry.ListKind) {
		s.spawnIfFree(ctx, st, st.guard, st.catchUp)
	}
	s.beginLong(ctx)
}

// beginLong starts every backfill that is not done and every full resync whose turn
// it is: one that failed goes on at the next turn.
func (s *source) beginLong(ctx context.Context) {
	for _, st := range s.streams {
		if st.longDue(s.serviceNow()) {
			s.spawnIfFree(ctx, st, st.filler, st.long)
		}
	}
}

// longDue is true when there is a long walk to make.
func (st *stream) longDue(now time.Time) bool {
	if st.off() {
		return st.hasTotalsToBury()
	}
	return !st.filled() || st.changedLocations() || st.resyncDue(now) || st.againDue(now)
}

// long makes the long walks that are due, in the lowest lane (DESIGN R7).
func (st *stream) long(ctx context.Context) error {
	if st.off() {
		return st.buryTotalsOfAll(ctx)
	}
	if err := st.fill(ctx); err != nil {
		return err
	}
	now := st.source.serviceNow()
	switch {
	case st.resyncDue(now):
		return st.resync(ctx, consent{})
	case st.againDue(now):
		return st.totalsAgain(ctx)
	}
	return nil
}

// beginTotals starts the turns of yesterday and today, and the deep runs that are owed.
func (s *source) beginTotals(ctx context.Context) {
	for _, st := range s.active(registry.TotalsKind) {
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

// active returns the streams of a kind that are on.
func (s *source) active(kind registry.Kind) []*stream {
	var on []*stream
	for _, st := range s.streams {
		if st.def.Kind == kind && !st.off() {
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
			errs = append(errs, st.unlessClosed(t.location, t.catchUp(ctx)))
		}
		return errors.Join(errs...)
	})
}

// unlessClosed forgives that a location which is not active any more is refused:
// its list is then empty.
func (st *stream) unlessClosed(location string, err error) error {
	closed := slices.Contains(st.source.identity().inactive, location)
	if closed && (api.IsLocationForbidden(err) || api.IsNotFound(err)) {
		st.source.log.Debug("a location is closed", "stream", st.def.Name, "location", location, "err", err)
		return nil
	}
	return err
}

// fill runs the backfill to its end, and those of gained locations. Only so many
// run at once in a process; the daily totals, of a few rows and ahead of the rest,
// wait for none.
func (st *stream) fill(ctx context.Context) error {
	switch {
	case st.filled() && !st.changedLocations():
		return nil
	case st.def.Name == registry.Daily:
		return st.fillTotals(ctx)
	}
	release, err := st.source.syncer.longTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	if st.def.Kind == registry.TotalsKind {
		return st.fillTotals(ctx)
	}
	return st.attempt(ctx, sinks.WalkBackfill, st.fillTracks)
}

func (st *stream) fillTracks(ctx context.Context) error {
	if err := st.cover(ctx); err != nil {
		return err
	}
	var errs []error
	for _, t := range st.followed() {
		errs = append(errs, st.unlessClosed(t.location, t.fill(ctx)))
	}
	return errors.Join(errs...)
}

// snapshots asks for the key and for the lists without a cursor.
func (s *source) snapshots(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	for _, st := range s.active(registry.SnapshotKind) {
		s.spawnIfFree(ctx, st, st.guard, st.replace)
	}
	return nil
}

func (st *stream) fillTotals(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		for {
			if err := st.cover(ctx); err != nil {
				return err
			}
			if err := st.totalsFill(ctx); err != nil || !st.locationsOnlyChanged() {
				return err
			}
		}
	})
}
