package totals

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
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
	seed    maphash.Seed // tells totals apart

	mu             sync.Mutex // guards what follows
	memory         totalsMemory
	leftBySiblings map[string]time.Time // as in coverage, as it is now
}

// Options are what the totals need of those around them. All are required.
type Options struct {
	// FirstOrder is the day of the first mirrored order, known once the orders' backfill
	// has ended; empty when there is none.
	FirstOrder func(context.Context) (day api.Date, known bool, err error)
	// Counted is how many orders the service counts over all days, 0 while that is not known.
	Counted func() uint64
	// Siblings are the totals of that name of the restaurant's other sources, by source.
	Siblings func(stream string) map[string]*Totals
	// Withdraw takes back what was found of all locations together, which is not asked for
	// any more.
	Withdraw func(context.Context) error
	// Anew hears that the totals of all locations together are not what they were.
	Anew func()
}

// NewTotals makes a stream of totals of which nothing is stored.
func NewTotals(o *stream.Source, def *registry.Definition, opts Options) *Totals {
	st := &Totals{
		Stream: stream.NewStream(o, def), opts: opts, seed: maphash.MakeSeed(),
		memory: totalsMemory{days: map[string]uint64{}, again: map[Span]bool{}},
	}
	st.Kind = st
	st.covered = stream.NewCovered(st.Stream, len(o.OnlyLocations) == 0)
	return st
}

// OrdersCounted is how many orders the service counts over all days, 0 while that
// is not known.
func (st *Totals) OrdersCounted() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	pos, err := ReadPosition(st.memory.stored.Position)
	if err != nil || !st.memory.stored.Done && !pos.counted() {
		return 0
	}
	return pos.Orders
}

// AskedSince is when all days were asked for last, zero for never.
func (st *Totals) AskedSince() time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.memory.stored.StartedAt
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
			st.memory.stored = cp
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

// Filled is true when the way back has reached its end.
func (st *Totals) Filled() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.memory.stored.Done
}

// changedLocations is true when what is to be asked for has changed.
func (st *Totals) changedLocations() bool { return st.covered.Due() || st.locationsOnlyChanged() }

// Complete implements byKind.
func (st *Totals) Complete() bool { return st.Filled() && !st.changedLocations() }

// opens is true when rows of locations that were gained are still to come.
func (st *Totals) opens() bool {
	gained, _ := st.covered.Changed()
	return len(gained)+len(st.covered.Returned()) > 0
}

// Well implements byKind.
func (st *Totals) Well() (state, detail string) {
	if !st.Filled() || st.opens() {
		return status.StateBackfill, ""
	}
	return status.StateRunning, ""
}

// fill runs the way back to its end. Only so many run at once in a process; the daily
// totals, of a few rows and ahead of the rest, wait for none.
func (st *Totals) fill(ctx context.Context) error {
	switch {
	case st.Complete():
		return nil
	case st.Def.Name == registry.Daily:
		return st.fillTotals(ctx)
	}
	release, err := st.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.fillTotals(ctx)
}

func (st *Totals) fillTotals(ctx context.Context) error {
	return st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		for {
			if err := st.cover(ctx); err != nil {
				return err
			}
			if err := st.totalsFill(ctx); err != nil || !st.locationsOnlyChanged() {
				return err
			}
		}
	})
}

// cover acts on locations gained and lost: the way back begins anew.
func (st *Totals) cover(ctx context.Context) error {
	if err := st.covered.Begin(ctx); err != nil {
		return err
	}
	if err := st.applyLocationsOnly(ctx); err != nil {
		return err
	}
	if back := st.covered.Returned(); len(back) > 0 {
		if err := st.covered.Save(ctx, func(c *stream.Coverage) { c.Lose(back) }); err != nil {
			return err
		}
	}
	gained, lost := st.covered.Changed()
	if len(gained)+len(lost) == 0 {
		return nil
	}
	st.Source.Log.Info("the key's locations have changed", "stream", st.Def.Name, "gained", gained, "lost", lost)
	if err := st.refill(ctx); err != nil {
		return err
	}
	// Not what the key has by now: that may be others.
	return st.covered.Save(ctx, func(c *stream.Coverage) { c.Gain(gained); c.Lose(lost) })
}

// refill begins the way back of the totals anew.
func (st *Totals) refill(ctx context.Context) error {
	cp := sinks.Checkpoint{
		Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkTotals,
		Business: st.Source.Business(), UpdatedAt: time.Now().UTC(),
	}
	if err := st.Source.Save(ctx, st.Def.Name, cp, nil); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.memory.stored, st.memory.settled = cp, false
	return nil
}

// LongDue is true when there is a long walk to make.
func (st *Totals) LongDue(now time.Time) bool {
	if st.Off() {
		return st.hasTotalsToBury()
	}
	return !st.Complete() || st.againDue(now)
}

// Long makes the long walks that are due, in the lowest lane (DESIGN R7).
func (st *Totals) Long(ctx context.Context) error {
	if st.Off() {
		return st.buryTotalsOfAll(ctx)
	}
	if err := st.fill(ctx); err != nil {
		return err
	}
	if st.againDue(st.Source.ServiceNow()) {
		return st.totalsAgain(ctx)
	}
	return nil
}

// Pass are the walks of a pass.
func (st *Totals) Pass(full, _ bool) []stream.Step {
	if full {
		return []stream.Step{{Guard: st.Filler, Moved: st.longPages, Run: st.totalsFull}}
	}
	return []stream.Step{{Guard: st.Guard, Moved: func() uint64 { return 0 }, Run: st.totalsRecent}, {Guard: st.Filler, Moved: st.longPages, Run: st.fill}}
}

// PassOff does in a pass what is to be done of totals that are off.
func (st *Totals) PassOff(ctx context.Context) error {
	return st.Exclusive(ctx, st.Filler, st.buryTotalsOfAll)
}

// totalsFull asks for all days anew, after a way back that is not done.
func (st *Totals) totalsFull(ctx context.Context) error {
	if err := st.fill(ctx); err != nil {
		return err
	}
	return st.totalsAgain(ctx)
}

// longPages is how far its long walks are.
func (st *Totals) longPages() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.memory.stored.Pages + st.memory.againAsked
}

// Describe adds to a status what is known of totals.
func (st *Totals) Describe(into *status.StreamStatus) {
	if !st.Off() && !st.Filled() {
		into.Progress = st.backProgress()
	}
	if into.State == status.StateRunning && st.opens() {
		into.State = status.StateBackfill
	}
}

// backProgress is how far back the daily totals have been asked for; how far
// they go is known once the first order is.
func (st *Totals) backProgress() *status.Progress {
	st.mu.Lock()
	defer st.mu.Unlock()
	cp := st.memory.stored
	p := &status.Progress{Walk: sinks.WalkTotals, StartedAt: cp.StartedAt, Pages: cp.Pages, Rows: cp.Rows}
	if pos, err := ReadPosition(cp.Position); err == nil && pos.To != "" {
		if t, err := time.Parse(time.DateOnly, string(pos.To)); err == nil {
			p.Reached = t.AddDate(0, 0, 1)
		}
	}
	return p
}
