package totals

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Totals is a stream of the service's own totals: the days that are stored.
type Totals struct {
	*stream.Stream
	opts    Options
	covered *stream.CoverageKeeper

	again   *refresh
	lines   *dayLines
	filling *filling
	sharing *sharing

	mu sync.Mutex // guards filling.stored and settled, again.requests, lines.days and sharing.handedOverBySiblings
}

// Options are what the totals need of those around them. All are required.
type Options struct {
	// FirstOrder is the day of the first mirrored order, known once the orders' backfill
	// has ended; empty when there is none.
	FirstOrder func(context.Context) (day types.Date, known bool, err error)
	// Counted is how many orders the service counts over all days, 0 while that is not known.
	Counted func() uint64
	// Siblings are the totals of that name of the restaurant's other sources, by source.
	Siblings func(stream string) map[string]*Totals
	// Withdraw takes back what was found of all locations together, which is not asked for
	// any more.
	Withdraw func(context.Context) error
	// Anew is called when the totals of all locations together have changed their meaning.
	Anew func()
}

// NewTotals makes a stream of totals of which nothing is stored.
func NewTotals(o *stream.Source, def *registry.Definition, opts Options) *Totals {
	st := &Totals{Stream: stream.NewStream(o, def), opts: opts}
	st.again = &refresh{totals: st, asked: map[Span]bool{}}
	st.lines = &dayLines{totals: st, seed: maphash.MakeSeed(), days: map[string]uint64{}}
	st.filling, st.sharing = &filling{totals: st}, &sharing{totals: st}
	st.Kind = st
	st.covered = stream.NewCovered(st.Stream, len(o.OnlyLocations) == 0)
	return st
}

// OrdersCounted is how many orders the service counts over all days, 0 while that
// is not known.
func (st *Totals) OrdersCounted() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	pos, err := ReadPosition(st.filling.stored.Position)
	if err != nil || !st.filling.stored.Done && !pos.counted() {
		return 0
	}
	return pos.Orders
}

// AskedSince is when all days were asked for last, zero for never.
func (st *Totals) AskedSince() time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.filling.stored.StartedAt
}

// Restore takes over what the sink has stored about the totals.
func (st *Totals) Restore(state sinks.State) {
	st.RestoreStream(state)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, cp := range state.Checkpoints {
		if cp.Stream != st.Def.Name {
			continue
		}
		switch cp.Walk {
		case sinks.WalkTotals:
			st.filling.stored = cp
		default:
			st.covered.Restore(cp)
		}
	}
}

// WantedLocations are those that totals are asked for: each of its own, where totals are
// asked for by location only.
func (st *Totals) WantedLocations(key stream.Identity) []string {
	if st.Def.ByLocation && key.LocationsOnly() {
		return slices.Clone(key.Locations)
	}
	return st.Stream.WantedLocations(key)
}

// Follow has the totals asked for in the locations that the key lets them.
func (st *Totals) Follow(key stream.Identity) { st.AskFor(st.WantedLocations(key)) }

// NoteKey notes what else the key changes, when it has been admitted.
func (st *Totals) NoteKey(ctx context.Context) { st.covered.NoteLost(ctx) }

// Filled is true when the backfill has reached its end.
func (st *Totals) Filled() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.filling.stored.Done
}

// Complete implements stream.Kind.
func (st *Totals) Complete() bool { return st.Filled() && !st.filling.changedLocations() }

// Well implements stream.Kind.
func (st *Totals) Well() (state, detail string) {
	if !st.Filled() || st.filling.opens() {
		return status.StateBackfill, ""
	}
	return status.StateRunning, ""
}

// LongWalks are the long walks that a daemon makes of totals. Of those that are off it removes
// what is not to stay.
func (st *Totals) LongWalks() []stream.Walk {
	if st.Off() && !st.sharing.hasTotalsToRemove() {
		return nil
	}
	return []stream.Walk{st.Filler.LongWalk(st.long, func() bool {
		return st.Off() || !st.Complete() || st.again.againDue(st.Source.ServiceNow())
	})}
}

// long makes the long walks that are owed, in the lowest lane (DESIGN R7).
func (st *Totals) long(ctx context.Context) error {
	if st.Off() {
		return st.sharing.removeTotalsOfAll(ctx)
	}
	if err := st.filling.fill(ctx); err != nil {
		return err
	}
	if st.again.againDue(st.Source.ServiceNow()) {
		return st.again.totalsAgain(ctx)
	}
	return nil
}

// Pass are the walks of a pass.
func (st *Totals) Pass(full, _ bool) []stream.Step {
	if full {
		return []stream.Step{{Guard: st.Filler, Moved: st.longPages, Run: st.totalsFull}}
	}
	return []stream.Step{{Guard: st.Guard, Moved: func() uint64 { return 0 }, Run: st.totalsRecent}, {Guard: st.Filler, Moved: st.longPages, Run: st.filling.fill}}
}

// PassOff does in a pass what is to be done of totals that are off.
func (st *Totals) PassOff(ctx context.Context) error {
	return st.Exclusive(ctx, st.Filler, st.sharing.removeTotalsOfAll)
}

// totalsFull asks for all days anew, after a backfill that is not done.
func (st *Totals) totalsFull(ctx context.Context) error {
	if err := st.filling.fill(ctx); err != nil {
		return err
	}
	return st.again.totalsAgain(ctx)
}

// longPages is how far its long walks are.
func (st *Totals) longPages() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.filling.stored.Pages + st.again.requests
}

// Describe adds to a status what is known of totals.
func (st *Totals) Describe(into *status.StreamStatus) {
	if !st.Off() && !st.Filled() {
		into.Progress = st.filling.backProgress()
	}
	if into.State == status.StateRunning && st.filling.opens() {
		into.State = status.StateBackfill
	}
}
