package syncer

import (
	"context"
	"time"

	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// begin starts the walks of a job. A walk that is still running is not started
// again.
func (s *source) begin(ctx context.Context, j schedule.Job) {
	switch j {
	case schedule.Incremental:
		s.catchUp(ctx, j)
		s.beginLong(ctx)
	case schedule.OnlineOrders:
		s.catchUp(ctx, j)
	case schedule.Snapshots:
		s.spawn(ctx, "snapshots", s.snapshots)
	case schedule.Reconcile:
		s.beginTotals(ctx)
	case schedule.ReconcileDeep:
		for _, st := range s.days.On() {
			s.spawn(ctx, st.Def.Name, st.ProveDeep)
		}
	case schedule.FullResync:
		s.rewriteNext(func(*stream.Stream) bool { return true })
		s.beginLong(ctx)
	}
}

// catchUp starts the incremental walks of the lists that a job asks for.
func (s *source) catchUp(ctx context.Context, j schedule.Job) {
	for _, st := range s.lists {
		if st.Def.Job == j && !st.Off() {
			s.spawnIfFree(ctx, st.Stream, st.Guard, st.CatchUp)
		}
	}
}

// beginLong starts every backfill that is not done and every full resync whose turn
// it is: one that failed goes on at the next turn.
func (s *source) beginLong(ctx context.Context) {
	for _, f := range s.streams {
		if f.LongDue(s.ServiceNow()) {
			s.spawnIfFree(ctx, f.Common(), f.Common().Filler, f.Long)
		}
	}
}

// beginTotals starts the turns of yesterday and today, and the deep runs that are owed.
func (s *source) beginTotals(ctx context.Context) {
	for _, st := range s.days.On() {
		if !mayRun(st.Stream) {
			continue
		}
		if st.Turn.Try() {
			s.spawn(ctx, st.Def.Name, st.ProveRecent)
		}
		if st.OwesDeep() {
			s.spawn(ctx, st.Def.Name, st.ProveDeep)
		}
	}
}

// mayRun is true when nothing but a walk of its own keeps a stream from running at a turn
// that has come.
func mayRun(st *stream.Stream) bool {
	now := time.Now()
	_, why := schedule.Next(schedule.Situation{NotBefore: st.WaitUntil(), Turn: func(at time.Time) time.Time { return at }}, now)
	return why == schedule.ByTurn
}

// next is when a stream is asked for next, and why then.
func (s *source) next(st *stream.Stream, now time.Time) (time.Time, schedule.Why) {
	is := schedule.Situation{
		Off: st.Off(), Running: st.Guard.Taken(), NotBefore: st.WaitUntil(),
	}
	seen := s.condition.View()
	is.Elsewhere = seen.State == status.StateWaiting
	if !seen.Ready {
		is.Probe = stream.Later(seen.NextProbe, now)
	}
	if turns := s.turns.Load(); turns != nil {
		is.Turn = func(at time.Time) time.Time { return turns.From(st.Def.Job, at) }
	}
	return schedule.Next(is, now)
}

// spawnIfFree starts f unless the slot is taken or the service asked to wait.
func (s *source) spawnIfFree(ctx context.Context, st *stream.Stream, guard stream.Slot, f func(context.Context) error) {
	if !mayRun(st) || !guard.Try() {
		return
	}
	s.spawn(ctx, st.Def.Name, func(ctx context.Context) error {
		defer guard.Release()
		return f(ctx)
	})
}

// snapshots asks for the key, for the lists without a cursor and for the menus.
func (s *source) snapshots(ctx context.Context) error {
	if err := s.Refresh(ctx); err != nil {
		return err
	}
	for _, st := range s.wholes {
		if !st.Off() {
			s.spawnIfFree(ctx, st.Stream, st.Guard, st.Replace)
		}
	}
	for _, st := range s.menus {
		if !st.Off() {
			s.spawnIfFree(ctx, st.Stream, st.Guard, st.Walk)
		}
	}
	return nil
}
