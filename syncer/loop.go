package syncer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// loop begins each job of a source when it is due, while a daemon serves it.
type loop struct {
	source *source
	turns  atomic.Pointer[schedule.Turns] // nil while no daemon serves the source
	wake   chan struct{}
	jobs   sync.WaitGroup
}

// begin starts the walks of a job. A walk that is still running is not started
// again.
func (l *loop) begin(ctx context.Context, j schedule.Job) {
	switch j {
	case schedule.Incremental:
		l.catchUp(ctx, j)
		l.beginLong(ctx)
	case schedule.OnlineOrders:
		l.catchUp(ctx, j)
	case schedule.Snapshots:
		l.spawn(ctx, "snapshots", l.snapshots)
	case schedule.Reconcile:
		l.beginTotals(ctx)
	case schedule.ReconcileDeep:
		for _, st := range l.source.days.On() {
			l.spawn(ctx, st.Def.Name, st.Deep.Prove)
		}
	case schedule.FullResync:
		l.source.rewriteNext(func(*stream.Stream) bool { return true })
		l.beginLong(ctx)
	}
}

// catchUp starts the incremental walks of the lists that a job asks for.
func (l *loop) catchUp(ctx context.Context, j schedule.Job) {
	for _, st := range l.source.lists {
		if st.Def.Job == j && !st.Off() {
			l.spawnIfFree(ctx, st.Stream, st.Guard, st.CatchUp)
		}
	}
}

// beginLong starts every backfill that is not done and every full resync whose turn
// it is: one that failed goes on at the next turn.
func (l *loop) beginLong(ctx context.Context) {
	for _, f := range l.source.streams {
		if f.LongDue(l.source.ServiceNow()) {
			l.spawnIfFree(ctx, f.Common(), f.Common().Filler, f.Long)
		}
	}
}

// beginTotals starts the turns of yesterday and today, and the deep runs that are due early.
func (l *loop) beginTotals(ctx context.Context) {
	for _, st := range l.source.days.On() {
		if !mayRun(st.Stream) {
			continue
		}
		if st.Turn.Try() {
			l.spawn(ctx, st.Def.Name, st.ProveRecent)
		}
		if st.Deep.DueEarly() {
			l.spawn(ctx, st.Def.Name, st.Deep.Prove)
		}
	}
}

// mayRun is true when the service has not asked to wait beyond a turn that has come. The source
// is ready by then; whether the stream has anything to do, and no walk is under way, the callers see.
func mayRun(st *stream.Stream) bool {
	now := time.Now()
	_, why := schedule.Next(schedule.Situation{NotBefore: st.WaitUntil(), Turn: func(at time.Time) time.Time { return at }}, now)
	return why == schedule.ByTurn
}

// next is when a stream is asked for next, and why then.
func (l *loop) next(st *stream.Stream, now time.Time) (time.Time, schedule.Why) {
	is := schedule.Situation{
		Off: st.Off(), Running: st.Guard.Taken(), NotBefore: st.WaitUntil(),
	}
	seen := l.source.condition.View()
	is.Elsewhere = seen.State == status.StateWaiting
	if !seen.Ready {
		is.Probe = stream.Later(seen.NextProbe, now)
	}
	if turns := l.turns.Load(); turns != nil {
		is.Turn = func(at time.Time) time.Time { return turns.From(st.Def.Job, at) }
	}
	return schedule.Next(is, now)
}

// spawnIfFree starts f unless the slot is taken or the service asked to wait.
func (l *loop) spawnIfFree(ctx context.Context, st *stream.Stream, guard stream.Slot, f func(context.Context) error) {
	if !mayRun(st) || !guard.Try() {
		return
	}
	l.spawn(ctx, st.Def.Name, func(ctx context.Context) error {
		defer guard.Release()
		return f(ctx)
	})
}

// snapshots asks for the key, for the lists without a cursor and for the menus.
func (l *loop) snapshots(ctx context.Context) error {
	if err := l.source.Refresh(ctx); err != nil {
		return err
	}
	for _, st := range l.source.wholes {
		if !st.Off() {
			l.spawnIfFree(ctx, st.Stream, st.Guard, st.Replace)
		}
	}
	for _, st := range l.source.menus {
		if !st.Off() {
			l.spawnIfFree(ctx, st.Stream, st.Guard, st.Walk)
		}
	}
	return nil
}

// run serves the source until ctx ends, and waits for its walks.
func (l *loop) run(ctx context.Context) {
	defer l.jobs.Wait()
	if !lifecycle.Pause(ctx, l.startDelay()) {
		return
	}
	turns := schedule.NewTurns(l.source.cfg.Name, l.source.syncer.timetable(), time.Now())
	l.turns.Store(turns)
	defer l.turns.Store(nil)
	for ctx.Err() == nil {
		turns.Follow(l.source.syncer.timetable(), time.Now())
		if l.source.holding.standBy() {
			l.sleepUntil(ctx, time.Now().Add(lease.Lasts))
			continue
		}
		if !l.source.IsReady() {
			if at := l.source.condition.View().NextProbe; time.Now().Before(at) && !l.source.hasAnotherKey() {
				l.sleepUntil(ctx, stream.Earlier(at, time.Now().Add(keyLook)))
			} else if err := l.source.Protected(ctx, "probe", l.source.key.connect); err == nil {
				turns.AllDue(time.Now())
			} else if ctx.Err() == nil && !time.Now().Before(l.source.condition.View().NextProbe) {
				l.source.condition.Troubled(stream.Diagnose(err)) // a panic: what set no next probe would be tried at once
			}
			continue
		}
		if !l.sleepUntil(ctx, turns.Next()) {
			continue // woken: the state has changed
		}
		l.source.key.tryChangedKey(ctx)
		for _, j := range turns.Take(time.Now()) {
			l.begin(ctx, j)
		}
	}
}

// startDelay spreads the first requests of sources that begin together.
func (l *loop) startDelay() time.Duration {
	span := min(time.Duration(l.source.Began)*20*time.Millisecond, 30*time.Second)
	return time.Duration(schedule.Hash(l.source.cfg.Name) % uint64(max(span, 1)))
}

// sleepUntil waits for t; it is false when the source was woken or ctx ended.
func (l *loop) sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.wake:
	case <-ctx.Done():
	}
	return false
}

// wakeLoop makes the loop look at the state again.
func (l *loop) wakeLoop() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// spawn runs part of a job beside the loop.
func (l *loop) spawn(ctx context.Context, what string, f func(context.Context) error) {
	l.jobs.Go(func() {
		if err := l.source.Protected(ctx, what, f); err != nil && ctx.Err() == nil {
			l.source.Log.Debug("job ended with an error", "job", what, "err", err)
		}
	})
}

// patience is how long a job may take until what it brings is called behind: some
// turns of it may fail, or have much to do.
func (l *loop) patience(j schedule.Job) time.Duration {
	return max(10*time.Minute, 2*l.source.syncer.timetable().Interval(j, time.Now())+5*time.Minute)
}
