package proof

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Totals is a stream of the service's own totals: it asks for days, stores them, and proves days of
// the orders by them.
type Totals struct {
	*stream.Stream
	shared *Shared

	recall   stream.Slot // what was found before the process began is read
	recent   stream.Slot // one turn of yesterday and today at a time, up to its second look
	Settling stream.Slot // one turn or pass that looks at days that differ once more at a time

	back     atomic.Pointer[backfill] // its next step; Filler guards its changes, and began
	again    schedule.Memo            // when all days are to be asked for next
	began    time.Time                // the backfill or full resync, by our clock; zero when another process began it, or a location was refused
	stored   dayHashes
	verdicts *verdicts
	deep     deepRuns
}

// seed is of the hashes of figures that this process remembers.
var seed = maphash.MakeSeed()

// New makes a stream of totals of which nothing is stored, beside the source's others.
func New(o *stream.Source, def *registry.Definition, shared *Shared) *Totals {
	common := stream.NewStream(o, def)
	st := &Totals{
		Stream: common, shared: shared, recall: stream.NewSlot(), recent: stream.NewSlot(), Settling: stream.NewSlot(), deep: deepRuns{Slot: stream.NewSlot()}, stored: dayHashes{of: byDay[uint64]{}},
		verdicts: &verdicts{stream: common, shared: shared, last: byDay[lastVerdict]{}},
	}
	st.Kind, st.Tasks = st, st.tasks()
	st.back.Store(&backfill{})
	if shared.streams = append(shared.streams, st); def.Name == registry.Daily {
		shared.Daily = st
	}
	return st
}

// Restore takes over what the sink has stored about the totals, and the last deep run.
func (st *Totals) Restore(state sinks.State) {
	st.RestoreStream(state)
	for _, cp := range state.Checkpoints {
		switch {
		case cp.Stream != st.Def.Name:
		case cp.Walk == sinks.WalkTotals:
			back, err := storedBackfill(cp)
			if st.back.Store(back); err != nil {
				st.Source.Log.Warn("the stored position is not readable, the totals are asked for from today back", "stream", st.Def.Name, "err", err)
			}
		case cp.Walk == sinks.WalkDeep:
			st.deep.last.Store(&cp)
		}
	}
}

// WantedLocations returns the locations that totals are asked for. A key that does not see
// all locations asks for each of its own: what the service reports of all locations together
// is then of those that the key sees, and another key of the restaurant sees others.
func (st *Totals) WantedLocations(key stream.Identity) []string {
	if len(st.Source.OnlyLocations) == 0 && !key.All {
		return slices.Clone(key.Locations)
	}
	return st.Stream.WantedLocations(key)
}

// scope returns everything that the totals depend on: the locations that are asked for, the
// empty one for all of them together, and then those that they are.
func (st *Totals) scope() []string {
	asked := st.Asked()
	if slices.Contains(asked, "") {
		asked = append(asked, st.Source.Identity().Locations...)
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// deepLocations are the locations asked for, and each location where the stream has them.
func (st *Totals) deepLocations() []string {
	locations := st.Asked()
	if st.Def.PerLocation && slices.Contains(locations, "") {
		locations = append(locations, st.Source.Identity().Locations...)
	}
	return locations
}

// closed reports whether a configured location is refused because it is not active any more.
// There is nothing to be had of it then.
func (st *Totals) closed(location string, err error) bool {
	return refuses(location, err) && slices.Contains(st.Source.Identity().Inactive, location)
}

// Well implements [stream.Kind].
func (st *Totals) Well() (state, detail string) {
	if !st.Complete() {
		return status.StateBackfill, ""
	}
	return status.StateRunning, ""
}

// tasks are the walks that a daemon makes of the totals: the long ones, yesterday and today, and
// the deep run, early when it is owed.
func (st *Totals) tasks() []stream.Task {
	long := st.Filler.LongTask(func(ctx context.Context) error {
		if st.Off() {
			return nil
		}
		if st.againDue() {
			st.askAllAgain()
		}
		return st.fill(ctx)
	}, func() bool { return !st.filled() || st.againDue() })
	// The slot of the recent days is released when they have been asked for, before proveRecent ends. A deep run
	// that begins at the same turn asks for them, too, unless the last one did not get that far.
	recent := stream.Task{Slot: st.recent, Run: st.proveRecent, Begins: func(j schedule.Job) bool {
		return j == st.Def.Job && (st.deep.Taken() || st.deep.cut.Load() || !st.deepOwed())
	}}
	deep := st.deep.Task(st.proveDeep, schedule.ReconcileDeep)
	deep.Begins = func(j schedule.Job) bool { // at incremental turns where those of its own job are off
		return j == schedule.ReconcileDeep || (j == st.Def.Job || j == schedule.Incremental && st.Source.Timetable().Off(st.Def.Job)) && st.deepOwed()
	}
	// What was found before the process began is shown until the first turn of yesterday and today.
	recall := st.recall.Task(func(ctx context.Context) error {
		err := errors.Join(st.shared.readFirstDay(ctx, false), st.shared.restore(ctx, st.shared.today()))
		if err == nil {
			st.GoesOnWell()
		}
		return err
	}, schedule.Incremental)
	recall.Begins = func(j schedule.Job) bool { return j == schedule.Incremental && st.WasWell() && st.filled() }
	asked := stream.Task{Slot: st.Guard} // questions, whoever asks them
	return []stream.Task{recall, long, recent, deep, asked}
}

// Pass are the walks of a pass. A full one asks for all days anew, or goes on with a backfill that is not
// done.
func (st *Totals) Pass(full, _ bool) []stream.Step {
	long := stream.Step{Guard: st.Filler, Run: st.fill, Moved: func() uint64 { // by steps that are stored
		cp, _ := st.filledTo()
		return cp.Pages
	}}
	if !full {
		return []stream.Step{{Guard: st.Guard, Moved: func() uint64 { return 0 }, Run: st.storeRecent}, long}
	}
	begin := sync.OnceFunc(st.askAllAgain) // what fails goes on
	long.Run = func(ctx context.Context) error {
		begin()
		return st.fill(ctx)
	}
	return []stream.Step{long}
}

// Describe adds to a status what is known of totals, and the deep run under way.
func (st *Totals) Describe(into *status.StreamStatus) {
	switch {
	case st.Off():
	case st.Complete():
		if deep := st.deep.running.Load(); deep != nil {
			into.Progress = deep.progress()
		}
	default:
		cp, at := st.filledTo()
		into.Progress = &status.Progress{Walk: sinks.WalkTotals, StartedAt: cp.StartedAt, Pages: cp.Pages, Rows: cp.Rows}
		// How far the totals go back is known once the first order is.
		if to, err := time.Parse(time.DateOnly, string(at.To)); err == nil {
			into.Progress.Reached = to.AddDate(0, 0, 1)
		}
		if into.State == status.StateRunning {
			into.State = status.StateBackfill
		}
	}
}

// Shared is what the streams of totals of one source share.
type Shared struct {
	source  *stream.Source
	Orders  *list.List
	Daily   *Totals // the stream of the days
	streams []*Totals

	healing healings

	passes    atomic.Int32 // under way: they need the verdicts about older days, too
	restoring stream.Slot  // of the stored verdicts; guards since
	since     types.Date   // the first day whose stored verdicts were read; empty for none yet

	proof atomic.Pointer[status.ProofStatus] // nil before the first verdict
	first atomic.Pointer[types.Date]         // of the mirrored orders, as it was read last; empty while there is none
}

// NewShared makes what the totals of a source share. Orders is set before anything is asked.
func NewShared(o *stream.Source) *Shared {
	return &Shared{source: o, restoring: stream.NewSlot(), healing: healings{stream.NewSlot(), map[types.Date]fetched{}}}
}

// On returns the streams that are not switched off.
func (d *Shared) On() []*Totals {
	return slices.DeleteFunc(slices.Clone(d.streams), func(st *Totals) bool { return st.Off() })
}

// OrdersCounted is how many orders the service counts over all days, 0 while that is not known: it is, as
// far as one can see, behind a step without a sale. Older sales beyond it leave it open until the next one.
func (d *Shared) OrdersCounted() uint64 {
	cp, at := d.Daily.filledTo()
	if !cp.Done && at.Empty == 0 {
		return 0
	}
	return at.Orders
}

// today is the restaurant's day.
func (d *Shared) today() types.Date { return schedule.DayOf(d.source.ServiceNow()) }

// firstDay is the day of the first mirrored order, empty when there is none.
func (d *Shared) firstDay(ctx context.Context) (types.Date, error) {
	first, err := d.source.Sink.FirstDay(ctx, d.source.Business())
	if err != nil {
		return "", fmt.Errorf("first day of the orders: %w", err)
	}
	return types.Date(first), nil
}
