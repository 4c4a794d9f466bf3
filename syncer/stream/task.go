package stream

import (
	"context"
	"time"

	"github.com/larder-sync/larder/syncer/schedule"
)

// Task is one kind of walk of a stream, as a daemon makes it.
type Task struct {
	Slot   Slot                    // taken before it runs
	Begins func(schedule.Job) bool // whether it begins at the turn of a job; nil for none
	// Run makes the walk and releases the slot; nil for one that the loop does not begin.
	Run func(context.Context) error
}

// Task is a walk that holds the slot while it runs, and begins at the turns of a job.
func (s Slot) Task(run func(context.Context) error, job schedule.Job) Task {
	return Task{s, func(j schedule.Job) bool { return j == job }, func(ctx context.Context) error {
		defer s.Release()
		return run(ctx)
	}}
}

// LongTask is a backfill or a full resync. While one is owed, it begins at the turns of the
// incremental walks too: one that failed goes on at the next of them.
func (s Slot) LongTask(run func(context.Context) error, owed func() bool) Task {
	t := s.Task(run, schedule.FullResync)
	t.Begins = func(j schedule.Job) bool { return j == schedule.FullResync || j == schedule.Incremental && owed() }
	return t
}

// FirstTurn is the first turn at which one of the tasks begins, from an instant on; zero when
// there is none.
func FirstTurn(tasks []Task, turns *schedule.Turns, from time.Time) (first time.Time) {
	for _, t := range tasks {
		for j := range schedule.Jobs {
			at := turns.From(j, from)
			if t.Begins != nil && !at.IsZero() && (first.IsZero() || at.Before(first)) && t.Begins(j) {
				first = at
			}
		}
	}
	return first
}
