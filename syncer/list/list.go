package list

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// List is a stream with a cursor. It is walked whole: rows of locations that the configuration
// leaves out are dropped on arrival.
type List struct {
	*stream.Stream
	// Counted is how many live rows the service counts, 0 while that is not known. It may be set
	// before anything is asked.
	Counted func() uint64

	// Forgotten are the rows of which nothing of a person is stored; nil for none. It is set
	// before anything is asked.
	Forgotten *personal.Forgotten

	state state
	pace  stream.Pace   // of the long walk under way
	again schedule.Memo // the next full resync
	ahead atomic.Bool   // it was logged that the stored watermark is ahead of the service's clock

	// lookback is the watermark that was stored before this life, until an incremental walk has received
	// again the rows up to it. Guard guards it.
	lookback time.Time

	delivering stream.Slot // a row that the service has sent is looked up and queued
	starting   stream.Slot // the incremental walks are given their start
	owing      stream.Slot // the debt is looked at and stored
}

// NewList makes a list of which nothing is stored.
func NewList(o *stream.Source, def *registry.Definition) *List {
	st := &List{
		Stream: stream.NewStream(o, def), Counted: func() uint64 { return 0 },
		delivering: stream.NewSlot(), starting: stream.NewSlot(), owing: stream.NewSlot(),
	}
	for _, kind := range def.Walks() {
		st.state.moved(fresh(o, def, kind))
	}
	st.Kind = st
	long := func(ctx context.Context) error { return st.fill(ctx, st.resyncDue, consent{}) } // in the lowest lane (docs/rules.md R7)
	st.Tasks = []stream.Task{
		st.Guard.Task(st.CatchUp, def.Job),
		st.Filler.LongTask(long, func() bool { return !st.Filled() || st.resyncDue() }),
	}
	return st
}

// fresh is the checkpoint of a walk that has not begun.
func fresh(s *stream.Source, def *registry.Definition, kind string) Checkpoint {
	return Checkpoint{Checkpoint: sinks.Checkpoint{Source: s.Name, Stream: def.Name, Walk: kind, Business: s.Business()}}
}

// Restore takes over what the sink has stored about the list.
func (st *List) Restore(stored sinks.State) {
	st.RestoreStream(stored)
	if err := st.state.restore(st.Def, stored.Checkpoints); err != nil {
		st.Source.Log.Warn("a full resync is owed", "stream", st.Def.Name, "err", err)
	}
	st.lookback = st.state.read().incr.Watermark
}

// Filled reports whether the backfill has reached its end.
func (st *List) Filled() bool { return st.state.read().back.Done }

// Complete implements stream.Kind.
func (st *List) Complete() bool {
	p := st.state.read()
	return p.back.Done && !p.awaits()
}

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

// Fill runs the backfill to its end, and a full resync that is owed or under way.
func (st *List) Fill(ctx context.Context) error { return st.fill(ctx, st.Resyncing, consent{}) }

// fill runs the backfill to its end, and a full resync if one is due then.
func (st *List) fill(ctx context.Context, due func() bool, confirmed consent) error {
	if err := st.backfill(ctx); err != nil || !due() {
		return err
	}
	return st.resync(ctx, confirmed)
}

// Pass are the walks of a pass. A sweep that its guard holds is the error of a full one.
func (st *List) Pass(full, confirmed bool) []stream.Step {
	due, confirmation := st.Resyncing, consent{}
	if full {
		due, confirmation = func() bool { return true }, consent{given: confirmed, held: st.Held()}
	}
	long := stream.Step{Guard: st.Filler, Run: func(ctx context.Context) error {
		err := st.fill(ctx, due, confirmation)
		if held := st.Held(); err == nil && full && held != nil {
			return held
		}
		return err
	}, Moved: func() uint64 {
		p := st.state.read()
		return p.back.Pages + p.full.Pages
	}}
	if full {
		return []stream.Step{long}
	}
	return []stream.Step{long, {Guard: st.Guard, Run: func(ctx context.Context) error { return st.Hurry(ctx, st.CatchUp) }, Moved: func() uint64 { return st.state.read().incr.Pages }}}
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
