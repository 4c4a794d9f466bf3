package stream

import (
	"context"

	"github.com/larder-sync/larder/syncer/schedule"
)

// Walk is one kind of walk of a stream, as a daemon makes it.
type Walk struct {
	schedule.Walk
	Slot Slot // taken before it runs
	// Run makes it and releases the slot; nil for one that the loop does not begin.
	Run func(context.Context) error
}

// Walk is a walk that holds the slot while it runs, and begins at the turns of some jobs.
func (s Slot) Walk(run func(context.Context) error, jobs ...schedule.Job) Walk {
	w := Walk{Walk: schedule.Walk{Running: s.Taken(), Jobs: jobs}, Slot: s}
	if run != nil {
		w.Run = func(ctx context.Context) error {
			defer s.Release()
			return run(ctx)
		}
	}
	return w
}

// LongWalk is a backfill or a full resync. While one is owed, it begins at the turns of the
// incremental walks too: one that failed goes on at the next of them.
func (s Slot) LongWalk(run func(context.Context) error, owed func() bool) Walk {
	w := s.Walk(run, schedule.FullResync)
	w.Early, w.Owed = []schedule.Job{schedule.Incremental}, owed
	return w
}
