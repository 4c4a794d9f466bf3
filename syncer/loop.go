package syncer

import (
	"context"
	"slices"
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

// begin starts the walks of a job whose turn has come.
func (l *loop) begin(ctx context.Context, j schedule.Job) {
	switch j {
	case schedule.Snapshots: // the lists follow the locations that the key has now
		l.spawn(ctx, "snapshots", func(ctx context.Context) error {
			if err := l.source.Refresh(ctx); err != nil {
				return err
			}
			l.beginWalks(ctx, j)
			return nil
		})
		return
	case schedule.FullResync:
		l.source.rewriteNext(func(*stream.Stream) bool { return true })
	}
	l.beginWalks(ctx, j)
}

// beginWalks starts each task that begins at the turn of a job, and does not run.
func (l *loop) beginWalks(ctx context.Context, j schedule.Job) {
	for _, f := range l.source.streams {
		st := f.Common()
		if st.Off() || !l.source.IsReady() || time.Now().Before(st.WaitUntil()) {
			continue
		}
		for _, t := range st.Tasks {
			if t.Run != nil && t.BeginsAt(j) && t.Slot.Try() {
				l.spawn(ctx, st.Def.Name, t.Run)
			}
		}
	}
}

// next is when the first task of a stream begins, and why then; zero when that is not known.
func (l *loop) next(st *stream.Stream, now time.Time) (time.Time, schedule.Why) {
	seen, turns := l.source.view(), l.turns.Load()
	switch {
	case st.Off():
		return time.Time{}, schedule.Off
	case seen.State == status.StateWaiting:
		return time.Time{}, schedule.Elsewhere
	case turns == nil:
		return time.Time{}, schedule.Unserved
	case !seen.Ready:
		return stream.Later(seen.NextProbe, now), schedule.Probed
	case slices.ContainsFunc(st.Tasks, func(t stream.Task) bool { return t.Slot.Taken() }):
		return now, schedule.UnderWay
	}
	from, why := now, schedule.ByTurn
	if asked := st.WaitUntil(); asked.After(now) {
		from, why = asked, schedule.Asked
	}
	at := stream.FirstTurn(st.Tasks, turns, from)
	if at.IsZero() {
		why = schedule.Off
	}
	return at, why
}

// run serves the source until ctx ends, and waits for its walks. A source that is not held, or is
// in trouble, waits here as a whole: it takes no turns, so no stream is asked about.
func (l *loop) run(ctx context.Context) {
	defer l.jobs.Wait()
	if lifecycle.Pause(ctx, l.startDelay()) {
		_ = l.source.isolated("the turns of the source", func() error { l.takeTurns(ctx); return nil }) // a panic has ended ctx
	}
}

func (l *loop) takeTurns(ctx context.Context) {
	turns := schedule.NewTurns(l.source.cfg.Name, l.source.syncer.timetable(), time.Now())
	l.turns.Store(turns)
	defer l.turns.Store(nil)
	for ctx.Err() == nil {
		turns.Follow(l.source.syncer.timetable(), time.Now())
		if l.source.standBy() {
			l.sleepUntil(ctx, time.Now().Add(lease.Lasts))
			continue
		}
		if !l.source.IsReady() {
			if at := l.source.condition.View().NextProbe; time.Now().Before(at) && !l.source.hasAnotherKey() {
				l.sleepUntil(ctx, stream.Earlier(at, time.Now().Add(keyLook)))
			} else if l.source.key.connect(ctx) == nil {
				turns.AllDue(time.Now())
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
		if err := l.source.isolated(what, func() error { return f(ctx) }); err != nil && ctx.Err() == nil {
			l.source.Log.Debug("job ended with an error", "job", what, "err", err)
		}
	})
}

// patience is how long a job may take until what it brings is called behind. Of fresh data it
// is a turn that has not ended by the next but one, and the answer to a request takes a minute
// at most. Of other jobs some turns may fail, or have much to do.
func (l *loop) patience(j schedule.Job) time.Duration {
	interval := l.source.syncer.timetable().Interval(j, time.Now())
	usual := max(10*time.Minute, 2*interval+5*time.Minute)
	if j == schedule.Incremental || j == schedule.OnlineOrders {
		return min(usual, max(time.Minute, 3*interval))
	}
	return usual
}
