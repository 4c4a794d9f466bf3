package stream

import (
	"context"
	"slices"
	"time"

	"github.com/larder-sync/larder/syncer/schedule"
)

// Task is one kind of walk of a stream, as a daemon makes it.
type Task struct {
	Slot  Slot                    // taken before it runs
	Jobs  []schedule.Job          // it begins at their turns
	Early []schedule.Job          // and at these turns while it is owed
	Owed  func(schedule.Job) bool // true for a backfill that is not done, say
	// Run makes the walk and releases the slot; nil for one that the loop does not begin.
	Run func(context.Context) error
}

// Task is a walk that holds the slot while it runs, and begins at the turns of some jobs.
func (s Slot) Task(run func(context.Context) error, jobs ...schedule.Job) Task {
	return Task{Slot: s, Jobs: jobs, Run: func(ctx context.Context) error {
		defer s.Release()
		return run(ctx)
	}}
}

// LongTask is a backfill or a full resync. While one is owed, it begins at the turns of the
// incremental walks too: one that failed goes on at the next of them.
func (s Slot) LongTask(run func(context.Context) error, owed func() bool) Task {
	t := s.Task(run, schedule.FullResync)
	t.Early, t.Owed = []schedule.Job{schedule.Incremental}, func(schedule.Job) bool { return owed() }
	return t
}

// BeginsAt reports whether it begins at the turn of a job.
func (t Task) BeginsAt(j schedule.Job) bool {
	return slices.Contains(t.Jobs, j) || slices.Contains(t.Early, j) && t.Owed(j)
}

// FirstTurn is the first turn at which one of the tasks begins, from an instant on; zero when
// there is none.
func FirstTurn(tasks []Task, turns *schedule.Turns, from time.Time) (first time.Time) {
	for _, t := range tasks {
		for _, j := range slices.Concat(t.Jobs, t.Early) {
			at := turns.From(j, from)
			if !at.IsZero() && (first.IsZero() || at.Before(first)) && t.BeginsAt(j) {
				first = at
			}
		}
	}
	return first
}
