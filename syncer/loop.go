package syncer

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// beginWalks starts each task that begins at the turn of a job, and does not run yet.
func (s *source) beginWalks(ctx context.Context, j schedule.Job) {
	for _, st := range s.streams {
		if st.Off() || !s.IsReady() || time.Now().Before(st.WaitUntil()) {
			continue
		}
		for _, t := range st.Tasks {
			if t.Run != nil && t.Begins(j) && t.Slot.Try() {
				s.spawn(ctx, st.Def.Name, t.Run)
			}
		}
	}
}

// nextTask is when the first task of a stream begins, and why then; zero when that is not known.
func (s *source) nextTask(st *stream.Stream, now time.Time) (time.Time, schedule.Why) {
	seen, turns := s.view(), s.turns.Load()
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

// keyLook is how often a source in trouble checks whether its keys are others.
const keyLook = 3 * time.Second

// serve runs the loop of the source until ctx ends, and waits for its walks. A source that is not
// held, or is in trouble, waits here as a whole: it takes no turns, so no stream is asked about.
func (s *source) serve(ctx context.Context) {
	defer s.jobs.Wait()
	span := min(time.Duration(s.Beside)*4*time.Millisecond, 30*time.Second) // over which the sources of a process are spread
	// Those that begin in the same second share the statements that read what is stored of them.
	first := time.Duration(schedule.Hash(s.cfg.Name) % uint64(max(span, 1))).Truncate(time.Second)
	if !lifecycle.Pause(ctx, max(first, time.Until(s.link.View().NextProbe))) { // after a panic it waits for its probe
		return
	}
	turns := schedule.NewTurns(s.cfg.Name, s.Timetable(), time.Now())
	s.turns.Store(turns)
	defer s.turns.Store(nil)
	_ = s.isolated("the turns of the source", func() error { // a panic has ended ctx
		for ctx.Err() == nil {
			turns.Follow(s.Timetable(), time.Now())
			s.takeTurn(ctx, turns)
		}
		return nil
	})
}

// takeTurn does what comes next, or waits until something does.
func (s *source) takeTurn(ctx context.Context, turns *schedule.Turns) {
	beat, err := s.syncer.leases.Look(s.cfg.Name)
	if err != nil {
		s.link.Enter(status.StateWaiting, err.Error())
		select {
		case <-beat:
		case <-ctx.Done():
		}
		return
	}
	s.held()
	is, now, until := s.link.View(), time.Now(), turns.Next()
	switch {
	case is.Ready && !until.After(now):
		s.beginJobs(ctx, turns.Take(now))
		return
	case is.Ready:
	case now.Before(is.NextProbe) && !s.link.IsChanged(): // a key put in place since the last probe is tried at once
		until = stream.Earlier(is.NextProbe, now.Add(keyLook))
	default:
		if s.askKey(ctx, s.IsReady) == nil {
			turns.AllDue(time.Now())
			if slices.ContainsFunc(s.streams, func(st *stream.Stream) bool { return st.Def.Job == schedule.Reconcile && st.Fails() }) {
				turns.MakeDue(schedule.Reconcile, time.Now()) // what failed is made up for
			}
		}
		return
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake: // the state has changed
	case <-ctx.Done():
	}
}

// beginJobs starts the walks of jobs whose turn has come.
func (s *source) beginJobs(ctx context.Context, due []schedule.Job) {
	// A key that was put in place is not left waiting for a probe, and is used for nothing else before.
	// If it is refused, the walks that are due leave the source alone, and what is owed is noted.
	if s.link.IsChanged() {
		if err := s.askKey(ctx, func() bool { return false }); err != nil && ctx.Err() == nil {
			s.Log.Debug("the changed key is refused", "err", err)
		}
	}
	for _, j := range due {
		if j == schedule.Snapshots { // the lists follow the locations that the key has now
			s.spawn(ctx, "snapshots", func(ctx context.Context) error {
				err := s.Refresh(ctx)
				if err == nil {
					s.beginWalks(ctx, j)
				}
				return err
			})
			continue
		}
		if j == schedule.FullResync {
			for _, st := range s.wholes {
				st.RewriteNext()
			}
		}
		s.beginWalks(ctx, j)
	}
}

// wakeLoop makes the loop look at the state again.
func (s *source) wakeLoop() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// spawn runs part of a job beside the loop.
func (s *source) spawn(ctx context.Context, what string, f func(context.Context) error) {
	s.jobs.Add(1)
	s.syncer.walkers.run(func() {
		defer s.jobs.Done()
		if err := s.isolated(what, func() error { return f(ctx) }); err != nil && ctx.Err() == nil {
			s.Log.Debug("job ended with an error", "job", what, "err", err)
		}
	})
}

// walkers run jobs in goroutines that have run others, as far as one is free. In a new one the stack
// grows anew, several times, on its way into a request.
type walkers struct {
	next chan func()
	free stream.Slot     // bounds those that wait for a job
	done <-chan struct{} // ends them
	all  *sync.WaitGroup // they count as
}

func (w *walkers) run(f func()) {
	select {
	case w.next <- f:
	default:
		w.all.Go(func() {
			for job := f; job != nil; job = w.wait() {
				job()
			}
		})
	}
}

// wait returns the next job, nil when there is none for this goroutine.
func (w *walkers) wait() (f func()) {
	if !w.free.Try() {
		return nil
	}
	defer w.free.Release()
	select {
	case f = <-w.next:
	case <-w.done:
	}
	return f
}
