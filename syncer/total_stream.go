package syncer

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
)

// totals is a stream of the service's own totals: its days, and what is proven by them.
type totals struct {
	*stream
	covered *covered
	beside  *days        // what it shares with the other totals of the source
	seed    maphash.Seed // tells totals apart
	turn    slot         // one turn of yesterday and today at a time, up to its second look
	deep    slot         // one deep run at a time
	prover  slot         // one second look at days that differ at a time

	mu             sync.Mutex // guards what follows
	memory         totalsMemory
	proofs         proofMemory
	leftBySiblings map[string]time.Time // as in coverage, as it is now
}

func newTotals(o *origin, def *registry.Definition, beside *days) *totals {
	st := &totals{
		stream: newStream(o, def), beside: beside, seed: maphash.MakeSeed(), turn: newSlot(), deep: newSlot(), prover: newSlot(),
		memory: totalsMemory{days: map[string]uint64{}, again: map[span]bool{}}, proofs: proofMemory{days: map[string]standing{}, told: map[string]uint64{}},
	}
	st.kind = st
	st.covered = newCovered(st.stream, len(o.onlyLocations) == 0)
	beside.all = append(beside.all, st)
	return st
}

// days is what the streams of totals of one source share.
type days struct {
	source *origin
	orders *list
	all    []*totals
	// siblings are the same stream of the restaurant's other sources, by source.
	siblings func(stream string) map[string]*totals

	healing slot                // one healing at a time
	healed  map[api.Date]repair // by this process; guarded by healing

	mu    sync.Mutex
	proof *ProofStatus // nil before the first verdict
}

func newDays(o *origin, orders *list, siblings func(stream string) map[string]*totals) *days {
	return &days{source: o, orders: orders, siblings: siblings, healing: newSlot(), healed: map[api.Date]repair{}}
}

// on are the streams that are.
func (d *days) on() []*totals {
	return slices.DeleteFunc(slices.Clone(d.all), func(st *totals) bool { return st.off() })
}

// daily is the stream of the days.
func (d *days) daily() *totals {
	for _, st := range d.all {
		if st.def.Name == registry.Daily {
			return st
		}
	}
	panic("no stream " + registry.Daily)
}

// ordersCounted is how many orders the service counts over all days, 0 while that
// is not known.
func (d *days) ordersCounted() uint64 {
	st := d.daily()
	st.mu.Lock()
	defer st.mu.Unlock()
	pos, err := readPosition(st.memory.stored.Position)
	if err != nil || !st.memory.stored.Done && !pos.counted() {
		return 0
	}
	return pos.Orders
}

// proven is how far the days are proven, nil before the first verdict.
func (d *days) proven() *ProofStatus {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.proof
}

// restore takes over what the sink has stored about the totals.
func (st *totals) restore(state sinks.State) {
	st.restoreStream(state)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, cp := range state.Checkpoints {
		if cp.Stream != st.def.Name {
			continue
		}
		switch cp.Walk {
		case sinks.WalkTotals:
			st.memory.stored = cp
		case sinks.WalkDeep:
			st.proofs.deep = cp.StartedAt
		default:
			st.covered.restore(cp)
		}
	}
}

// wantedLocations are those that totals are asked for: each of its own, where totals are
// asked for by location only.
func (st *totals) wantedLocations(key identity) []string {
	if st.def.ByLocation && key.locationsOnly() {
		return slices.Clone(key.locations)
	}
	return st.stream.wantedLocations(key)
}

// follow has the totals asked for in the locations that the key lets them.
func (st *totals) follow(key identity) { st.askFor(st.wantedLocations(key)) }

// noteKey notes what else the key changes, when it has been admitted.
func (st *totals) noteKey(ctx context.Context) { st.covered.noteLost(ctx) }

// filled is true when the way back has reached its end.
func (st *totals) filled() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.memory.stored.Done
}

// changedLocations is true when what is to be asked for has changed.
func (st *totals) changedLocations() bool { return st.covered.due() || st.locationsOnlyChanged() }

// complete implements byKind.
func (st *totals) complete() bool { return st.filled() && !st.changedLocations() }

// opens is true when rows of locations that were gained are still to come.
func (st *totals) opens() bool {
	gained, _ := st.covered.changed()
	return len(gained)+len(st.covered.returned()) > 0
}

// well implements byKind.
func (st *totals) well() (state, detail string) {
	if !st.filled() || st.opens() {
		return StateBackfill, ""
	}
	return StateRunning, ""
}

// fill runs the way back to its end. Only so many run at once in a process; the daily
// totals, of a few rows and ahead of the rest, wait for none.
func (st *totals) fill(ctx context.Context) error {
	switch {
	case st.complete():
		return nil
	case st.def.Name == registry.Daily:
		return st.fillTotals(ctx)
	}
	release, err := st.source.longTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.fillTotals(ctx)
}

func (st *totals) fillTotals(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
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
func (st *totals) cover(ctx context.Context) error {
	if err := st.covered.begin(ctx); err != nil {
		return err
	}
	if err := st.applyLocationsOnly(ctx); err != nil {
		return err
	}
	if back := st.covered.returned(); len(back) > 0 {
		if err := st.covered.save(ctx, func(c *coverage) { c.lose(back) }); err != nil {
			return err
		}
	}
	gained, lost := st.covered.changed()
	if len(gained)+len(lost) == 0 {
		return nil
	}
	st.source.log.Info("the key's locations have changed", "stream", st.def.Name, "gained", gained, "lost", lost)
	if err := st.refill(ctx); err != nil {
		return err
	}
	// Not what the key has by now: that may be others.
	return st.covered.save(ctx, func(c *coverage) { c.gain(gained); c.lose(lost) })
}

// refill begins the way back of the totals anew.
func (st *totals) refill(ctx context.Context) error {
	cp := sinks.Checkpoint{
		Source: st.source.name, Stream: st.def.Name, Walk: sinks.WalkTotals,
		Business: st.source.business(), UpdatedAt: time.Now().UTC(),
	}
	if err := st.source.save(ctx, st.def.Name, cp, nil); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.memory.stored, st.memory.settled = cp, false
	return nil
}

// longDue is true when there is a long walk to make.
func (st *totals) longDue(now time.Time) bool {
	if st.off() {
		return st.hasTotalsToBury()
	}
	return !st.complete() || st.againDue(now)
}

// long makes the long walks that are due, in the lowest lane (DESIGN R7).
func (st *totals) long(ctx context.Context) error {
	if st.off() {
		return st.buryTotalsOfAll(ctx)
	}
	if err := st.fill(ctx); err != nil {
		return err
	}
	if st.againDue(st.source.serviceNow()) {
		return st.totalsAgain(ctx)
	}
	return nil
}

// pass are the walks of a pass.
func (st *totals) pass(full, _ bool) []walkNow {
	if full {
		return []walkNow{{st.filler, st.longPages, st.totalsFull}}
	}
	return []walkNow{{st.guard, func() uint64 { return 0 }, st.totalsRecent}, {st.filler, st.longPages, st.fill}}
}

// passOff does in a pass what is to be done of totals that are off.
func (st *totals) passOff(ctx context.Context) error {
	return st.exclusive(ctx, st.filler, st.buryTotalsOfAll)
}

// totalsFull asks for all days anew, after a way back that is not done.
func (st *totals) totalsFull(ctx context.Context) error {
	if err := st.fill(ctx); err != nil {
		return err
	}
	return st.totalsAgain(ctx)
}

// longPages is how far its long walks are.
func (st *totals) longPages() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.memory.stored.Pages + st.memory.againAsked
}

// describe adds to a status what is known of totals.
func (st *totals) describe(status *StreamStatus) {
	switch {
	case st.off():
	case !st.filled():
		status.Progress = st.backProgress()
	default:
		status.Progress = st.deepProgress()
	}
	if status.State == StateRunning && st.opens() {
		status.State = StateBackfill
	}
}

// backProgress is how far back the daily totals have been asked for; how far
// they go is known once the first order is.
func (st *totals) backProgress() *Progress {
	st.mu.Lock()
	defer st.mu.Unlock()
	cp := st.memory.stored
	p := &Progress{Walk: sinks.WalkTotals, StartedAt: cp.StartedAt, Pages: cp.Pages, Rows: cp.Rows}
	if pos, err := readPosition(cp.Position); err == nil && pos.To != "" {
		if t, err := time.Parse(time.DateOnly, string(pos.To)); err == nil {
			p.Reached = t.AddDate(0, 0, 1)
		}
	}
	return p
}
