package list

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// List is a stream with a cursor: the walks of its locations, or of all of them together.
type List struct {
	*stream.Stream
	covered *stream.CoverageKeeper
	// Counted is how many live rows the service counts, 0 while that is not known.
	Counted func() uint64

	// Forgotten are the rows of which nothing of a person is stored; nil for none. It is set
	// before anything is asked.
	Forgotten *personal.Forgotten

	Deliveries *Deliveries
	Full       *FullResync
	Places     *Places

	mu    sync.Mutex       // guards what follows, and the checkpoints of the walks
	walks []*LocationWalks // one, or one per configured location

	stored []sinks.Checkpoint // as they were at the start

	refetched struct { // what the last [List.refetchOpen] did
		skippedAt, at time.Time
		orders        int
	}
}

// NewList makes a list of which nothing is stored. counted is how many live rows the service
// counts, 0 while that is not known.
func NewList(o *stream.Source, def *registry.Definition, counted func() uint64) *List {
	st := &List{Stream: stream.NewStream(o, def), Counted: counted}
	st.Deliveries, st.Full = &Deliveries{list: st}, &FullResync{list: st}
	st.Places = &Places{list: st, openings: map[string]*LocationWalks{}}
	st.Kind = st
	st.covered = stream.NewCovered(st.Stream, len(o.OnlyLocations) == 0 || !def.ByLocation)
	return st
}

// Restore takes over what the sink has stored about the list.
func (st *List) Restore(state sinks.State) {
	st.RestoreStream(state)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.stored = state.Checkpoints
	for _, cp := range state.Checkpoints {
		if cp.Walk == sinks.WalkFull && st.holdsCheckpoint(cp.Stream) && cp.FirstVersion > st.Full.last.FirstVersion {
			st.Full.last = cp
		}
		if cp.Stream == st.Def.Name {
			st.covered.Restore(cp)
		}
	}
}

// Follow has the list asked for in the locations that the key lets it, from their stored
// checkpoints.
func (st *List) Follow(key stream.Identity) {
	wanted := st.WantedLocations(key)
	st.AskFor(wanted)
	st.mu.Lock()
	defer st.mu.Unlock()
	var walks []*LocationWalks
	for _, l := range wanted {
		t := st.walksOf(l)
		if t == nil {
			t = newLocationWalks(st, l)
			t.restoreFrom(st.stored)
		}
		walks = append(walks, t)
	}
	st.walks = walks
}

// NoteKey notes what else the key changes, when it has been admitted.
func (st *List) NoteKey(ctx context.Context) { st.covered.NoteLost(ctx) }

// walksOf are the walks of a location, nil when there are none; the caller holds the lock.
func (st *List) walksOf(location string) *LocationWalks {
	for _, t := range st.walks {
		if t.Location == location {
			return t
		}
	}
	return nil
}

// WalksAt are the walks of a location, nil when there are none any more.
func (st *List) WalksAt(location string) *LocationWalks {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.walksOf(location)
}

// Followed returns the walks of each location that there are now.
func (st *List) Followed() []*LocationWalks {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.walks)
}

// Filled is true when the backfill has reached its end.
func (st *List) Filled() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return !slices.ContainsFunc(st.walks, func(t *LocationWalks) bool { return !t.back.Done })
}

// Complete implements stream.Kind.
func (st *List) Complete() bool { return st.Filled() && !st.Places.changedLocations() }

// Well implements stream.Kind.
func (st *List) Well() (state, detail string) {
	if !st.Filled() || st.Places.opens() {
		return status.StateBackfill, ""
	}
	if held := st.Full.Held(); held != nil {
		return status.StateHeld, held.Error()
	}
	return status.StateRunning, ""
}

// prune forgets the rows that no coming incremental walk of any location brings.
func (st *List) prune(t *LocationWalks, walk uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	t.lastWalk = walk
	floor, oldest := t.floor(), walk
	for _, t := range st.walks {
		if f := t.floor(); f.Before(floor) {
			floor = f
		}
		oldest = min(oldest, t.lastWalk)
	}
	st.Writer.Prune(floor, oldest)
}

// CatchUp runs one incremental walk of each location.
func (st *List) CatchUp(ctx context.Context) error {
	return st.Attempt(ctx, sinks.WalkIncremental, func(ctx context.Context) error {
		var errs []error
		for _, t := range st.Followed() {
			errs = append(errs, st.UnlessClosed(t.Location, t.catchUp(ctx)))
		}
		return errors.Join(errs...)
	})
}

// CatchUpNow runs them when no other walk of that kind runs.
func (st *List) CatchUpNow(ctx context.Context) error {
	return st.Exclusive(ctx, st.Guard, st.CatchUp)
}

// Fill runs the backfill to its end, and those of gained locations. Only so many run at
// once in a process.
func (st *List) Fill(ctx context.Context) error {
	if st.Complete() {
		return nil
	}
	release, err := st.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.Attempt(ctx, sinks.WalkBackfill, st.fillLocations)
}

// fillLocations runs the backfill of every location that is followed.
func (st *List) fillLocations(ctx context.Context) error {
	if err := st.Places.cover(ctx); err != nil {
		return err
	}
	var errs []error
	for _, t := range st.Followed() {
		errs = append(errs, st.UnlessClosed(t.Location, t.fill(ctx)))
	}
	return errors.Join(errs...)
}

// Walks are the kinds of walk that a daemon makes of the list.
func (st *List) Walks() []stream.Walk {
	if st.Off() {
		return nil
	}
	return []stream.Walk{st.Guard.Walk(st.CatchUp, st.Def.Job), st.Filler.LongWalk(st.long, func() bool {
		return !st.Complete() || st.Full.due(st.Source.ServiceNow())
	})}
}

// long makes the long walks that are owed, in the lowest lane (DESIGN R7).
func (st *List) long(ctx context.Context) error {
	if st.Off() {
		return nil
	}
	if err := st.Fill(ctx); err != nil {
		return err
	}
	if st.Full.due(st.Source.ServiceNow()) {
		return st.Full.Run(ctx, Consent{})
	}
	return nil
}

// Pass are the walks of a pass.
func (st *List) Pass(full, confirmed bool) []stream.Step {
	if full {
		word := Consent{given: confirmed, held: st.Full.Held()}
		return []stream.Step{{Guard: st.Filler, Moved: st.longPages, Run: func(ctx context.Context) error { return st.Full.passFull(ctx, word) }}}
	}
	return []stream.Step{{Guard: st.Filler, Moved: st.longPages, Run: st.Fill}, {Guard: st.Guard, Moved: st.newPages, Run: st.CatchUp}}
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
func (st *List) longPages() (n uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, t := range st.walks {
		n += t.back.Pages + t.full.Pages
	}
	for _, t := range st.Places.openings {
		n += t.back.Pages
	}
	return n
}

// newPages counts the pages of its incremental walks.
func (st *List) newPages() (n uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, t := range st.walks {
		n += t.incr.Pages
	}
	return n
}
