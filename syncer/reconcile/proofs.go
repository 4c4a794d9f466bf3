package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// Proofs are a stream of totals, and what is proven by it.
type Proofs struct {
	*totals.Totals
	beside *SourceProofs // what it shares with the other totals of the source
	Turn   stream.Slot   // one turn of yesterday and today at a time, up to its second look
	Prover stream.Slot   // one second look at days that differ at a time

	Deep   *DeepRuns
	record *record

	mu sync.Mutex // guards what record and Deep know, but for Deep.deep
}

// New makes a stream of totals of which nothing is stored, beside the source's others.
func New(o *stream.Source, def *registry.Definition, beside *SourceProofs) *Proofs {
	st := &Proofs{beside: beside, Turn: stream.NewSlot(), Prover: stream.NewSlot()}
	st.Deep = &DeepRuns{proofs: st, deep: stream.NewSlot()}
	st.record = &record{proofs: st, seed: maphash.MakeSeed(), days: map[string]standing{}, logged: map[string]uint64{}}
	st.Totals = totals.NewTotals(o, def, totals.Options{
		FirstOrder: beside.firstOrder, Counted: beside.OrdersCounted,
	})
	st.Tasks = append(st.Tasks, st.tasks()...)
	beside.All = append(beside.All, st)
	return st
}

// Restore takes over what the sink has stored about the totals, and the last deep run.
func (st *Proofs) Restore(state sinks.State) {
	st.Totals.Restore(state)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, cp := range state.Checkpoints {
		if cp.Stream == st.Def.Name && cp.Walk == sinks.WalkDeep {
			st.Deep.last = cp.StartedAt
			if err := json.Unmarshal([]byte(cp.Position), &st.Deep.scope); err != nil {
				st.Deep.scope = nil // the next one stores it
			}
		}
	}
}

// tasks are the walks that a daemon makes of the totals beside the long ones: yesterday and today,
// and the deep run, early when it is owed.
func (st *Proofs) tasks() []stream.Task {
	recent := stream.Task{Slot: st.Turn, Jobs: []schedule.Job{st.Def.Job}, Run: st.ProveRecent}
	deep := st.Deep.deep.Task(st.Deep.prove, schedule.ReconcileDeep)
	deep.Early = []schedule.Job{st.Def.Job, schedule.Incremental}
	deep.Owed = func(j schedule.Job) bool { // at incremental turns where those of its own job are off
		return (j == st.Def.Job || st.Source.Timetable().Off(st.Def.Job)) && st.Deep.owed()
	}
	return []stream.Task{recent, deep, {Slot: st.Guard}} // questions, of passes too
}

// Describe adds to a status what is known of totals, and the deep run under way.
func (st *Proofs) Describe(into *status.StreamStatus) {
	st.Totals.Describe(into)
	if into.Progress == nil && !st.Off() && st.Filled() {
		into.Progress = st.Deep.progress()
	}
}

// SourceProofs is what the streams of totals of one source share.
type SourceProofs struct {
	source *stream.Source
	Orders *list.List
	All    []*Proofs

	healing stream.Slot           // one healing at a time
	Healed  map[types.Date]repair // by this process; guarded by healing

	mu    sync.Mutex
	proof *status.ProofStatus // nil before the first verdict
	first types.Date          // of the mirrored orders; empty while there is none
}

// NewSourceProofs makes what the totals of a source share.
func NewSourceProofs(o *stream.Source, orders *list.List) *SourceProofs {
	return &SourceProofs{source: o, Orders: orders, healing: stream.NewSlot(), Healed: map[types.Date]repair{}}
}

// On returns the streams that are not switched off.
func (d *SourceProofs) On() []*Proofs {
	return slices.DeleteFunc(slices.Clone(d.All), func(st *Proofs) bool { return st.Off() })
}

// firstOrder is the day of the first mirrored order, known once their backfill has ended;
// empty when there is none.
func (d *SourceProofs) firstOrder(ctx context.Context) (day types.Date, known bool, err error) {
	if d.Orders.Off() || !d.Orders.Filled() {
		return "", false, nil
	}
	first, err := d.source.Sink.FirstDay(ctx, d.source.Business())
	if err != nil {
		return "", false, fmt.Errorf("first day of the orders: %w", err)
	}
	return types.Date(first), true, nil
}

// Daily is the stream of the days.
func (d *SourceProofs) Daily() *Proofs {
	for _, st := range d.All {
		if st.Def.Name == registry.Daily {
			return st
		}
	}
	panic("no stream " + registry.Daily)
}

// OrdersCounted is how many orders the service counts over all days, 0 while that
// is not known.
func (d *SourceProofs) OrdersCounted() uint64 {
	return d.Daily().OrdersCounted()
}

// Proven is how far the days are proven, nil before the first verdict.
func (d *SourceProofs) Proven() *status.ProofStatus {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.proof
}
