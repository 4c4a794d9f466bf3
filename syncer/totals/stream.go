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
	opts Options

	again   *refresh
	lines   *dayLines
	filling *filling

	mu sync.Mutex // guards filling.stored, at and settled, again.requests and lines.days
}

// Options are what the totals need of those around them. All are required.
type Options struct {
	// FirstOrder is the day of the first mirrored order, known once the orders' backfill
	// has ended; empty when there is none.
	FirstOrder func(context.Context) (day types.Date, known bool, err error)
	// Counted is how many orders the service counts over all days, 0 while that is not known.
	Counted func() uint64
}

// NewTotals makes a stream of totals of which nothing is stored.
func NewTotals(o *stream.Source, def *registry.Definition, opts Options) *Totals {
	st := &Totals{Stream: stream.NewStream(o, def), opts: opts}
	st.again = &refresh{totals: st, asked: map[Span]bool{}}
	st.lines = &dayLines{totals: st, seed: maphash.MakeSeed(), days: map[string]uint64{}}
	st.filling = &filling{totals: st}
	st.Kind = st
	st.Tasks = []stream.Task{st.Filler.LongTask(st.long, func() bool {
		return !st.Filled() || st.again.againDue(st.Source.ServiceNow())
	})}
	return st
}

// OrdersCounted is how many orders the service counts over all days, 0 while that
// is not known.
func (st *Totals) OrdersCounted() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.filling.stored.Done && !st.filling.at.counted() {
		return 0
	}
	return st.filling.at.Orders
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
		if cp.Stream != st.Def.Name || cp.Walk != sinks.WalkTotals {
			continue
		}
		pos, err := ReadPosition(cp.Position)
		if err != nil {
			st.Source.Log.Warn("the stored position is not readable, the totals are asked for from today back", "stream", st.Def.Name, "err", err)
		}
		st.filling.stored, st.filling.at = cp, pos
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

// Scope returns everything that the totals depend on: the locations that are asked for, the
// empty one for all of them together, and then those that they are.
func (st *Totals) Scope() []string {
	asked := st.Asked()
	if slices.Contains(asked, "") {
		asked = append(asked, st.Source.Identity().Locations...)
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// NotAskedFor reports whether the location is all of them together (""), and the totals are
// asked for by location.
func (st *Totals) NotAskedFor(location string) bool {
	return location == "" && !slices.Contains(st.Asked(), "")
}

// Follow has the totals asked for in the locations that the key lets them.
func (st *Totals) Follow(key stream.Identity) { st.AskFor(st.WantedLocations(key)) }

// Filled reports whether the backfill has reached its end, of what the totals are asked for
// now. Other locations than those that were asked for begin it anew.
func (st *Totals) Filled() bool {
	scope := st.Scope()
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.filling.stored.Done && slices.Equal(st.filling.at.Scope, scope)
}

// Complete implements stream.Kind.
func (st *Totals) Complete() bool { return st.Filled() }

// Well implements stream.Kind.
func (st *Totals) Well() (state, detail string) {
	if !st.Filled() {
		return status.StateBackfill, ""
	}
	return status.StateRunning, ""
}

// long makes the long walks that are owed, in the lowest lane (DESIGN R7).
func (st *Totals) long(ctx context.Context) error {
	if st.Off() {
		return nil
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
	if into.State == status.StateRunning && !st.Filled() {
		into.State = status.StateBackfill
	}
}
