package list

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// List is a stream with a cursor. It is walked whole: rows of locations that the configuration
// leaves out are dropped on arrival.
type List struct {
	*stream.Stream
	// Counted is how many live rows the service counts, 0 while that is not known.
	Counted func() uint64

	// Forgotten are the rows of which nothing of a person is stored; nil for none. It is set
	// before anything is asked.
	Forgotten *personal.Forgotten

	delivering stream.Slot // a row that the service has sent is looked up and queued
	starting   stream.Slot // the incremental walks are given their start
	owing      stream.Slot // the debt is looked at and stored
	ahead      atomic.Bool // it was said that the stored watermark is ahead of the service's clock

	mu               sync.Mutex // guards what follows
	incr, back, full checkpoint
	lastWalk         uint64 // number of the last incremental walk
	debt             debt
	handed           map[string]*sinks.Receipt // rows on their way to the warehouse, see leftOut
	pace             stream.Pace               // of the long walk under way
	mirrored         uint64                    // live rows when the full resync under way went on
	resyncBegan      time.Time                 // by our clock; zero when that was before the start

	refetched struct { // what the last [List.refetchOpen] did
		skippedAt, at time.Time
		orders        int
	}
}

// NewList makes a list of which nothing is stored. counted is how many live rows the service
// counts, 0 while that is not known.
func NewList(o *stream.Source, def *registry.Definition, counted func() uint64) *List {
	st := &List{Stream: stream.NewStream(o, def), Counted: counted, delivering: stream.NewSlot(), starting: stream.NewSlot(), owing: stream.NewSlot()}
	st.incr, st.back, st.full = st.fresh(sinks.WalkIncremental), st.fresh(sinks.WalkBackfill), st.fresh(sinks.WalkFull)
	st.Kind = st
	st.Tasks = []stream.Task{st.Guard.Task(st.CatchUp, def.Job), st.Filler.LongTask(st.long, func() bool {
		return !st.Filled() || st.resyncDue(st.Source.ServiceNow())
	})}
	return st
}

// Restore takes over what the sink has stored about the list.
func (st *List) Restore(state sinks.State) {
	st.RestoreStream(state)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, cp := range state.Checkpoints {
		switch {
		case cp.Stream != st.Def.Name:
		case cp.Walk == sinks.WalkOwed:
			st.restoreDebt(cp)
		case slices.Contains(st.Def.Walks(), cp.Walk):
			*st.slot(cp.Walk) = decoded(cp)
		}
	}
	st.inherit()
}

// Follow has the list asked for with a key.
func (st *List) Follow(key stream.Identity) { st.AskFor(st.WantedLocations(key)) }

// Filled reports whether the backfill has reached its end.
func (st *List) Filled() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.back.Done
}

// Complete implements stream.Kind.
func (st *List) Complete() bool { return st.Filled() && !st.awaits() }

// Well implements stream.Kind.
func (st *List) Well() (state, detail string) {
	if !st.Complete() {
		return status.StateBackfill, ""
	}
	if held := st.Held(); held != nil {
		return status.StateHeld, held.Error()
	}
	return status.StateRunning, ""
}

// CatchUpNow runs an incremental walk when no other one runs.
func (st *List) CatchUpNow(ctx context.Context) error {
	return st.Exclusive(ctx, st.Guard, st.CatchUp)
}

// long makes the long walks that are owed, in the lowest lane (DESIGN R7).
func (st *List) long(ctx context.Context) error {
	if st.Off() {
		return nil
	}
	if err := st.backfill(ctx); err != nil || !st.resyncDue(st.Source.ServiceNow()) {
		return err
	}
	return st.Resync(ctx, Consent{})
}

// Fill runs the backfill to its end, and a full resync that is owed or under way.
func (st *List) Fill(ctx context.Context) error {
	if err := st.backfill(ctx); err != nil || !st.Indebted() && st.ResyncVersion() == 0 {
		return err
	}
	return st.Resync(ctx, Consent{})
}

// Pass are the walks of a pass. A sweep that its guard holds is the error of a full one.
func (st *List) Pass(full, confirmed bool) []stream.Step {
	if !full {
		return []stream.Step{{Guard: st.Filler, Moved: st.longPages, Run: st.Fill}, {Guard: st.Guard, Moved: st.newPages, Run: st.CatchUp}}
	}
	word := Consent{given: confirmed, held: st.Held()}
	return []stream.Step{{Guard: st.Filler, Moved: st.longPages, Run: func(ctx context.Context) error {
		if err := st.backfill(ctx); err != nil {
			return err
		}
		if err := st.Resync(ctx, word); err != nil {
			return err
		}
		if held := st.Held(); held != nil {
			return held
		}
		return nil
	}}}
}

// store writes what fill puts into an intake, and waits until it is durable. No request is
// made within fill: nothing else that may hold a forgotten order is stored meanwhile.
func (st *List) store(ctx context.Context, fill func(*write.Intake)) error {
	stored, err := st.Forgotten.Storing(ctx)
	if err != nil {
		return err
	}
	in := st.Writer.Begin(st.Writer.NextWalk(), 1)
	fill(in)
	if in.Empty() {
		stored()
		in.CountRows()
		return nil
	}
	receipt, err := st.Writer.Write(ctx, in)
	stored()
	if err != nil {
		return err
	}
	return st.Writer.Await(ctx, in, receipt)
}

// longPages counts the pages of the list's long walks.
func (st *List) longPages() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.back.Pages + st.full.Pages
}

// newPages counts the pages of its incremental walks.
func (st *List) newPages() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.incr.Pages
}
