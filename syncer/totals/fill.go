package totals

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/registry"
)

// position is how far back a stream of totals has been asked for.
type position struct {
	To     api.Date `json:"to"`     // last day of the next step
	Empty  int      `json:"empty"`  // steps in a row without anything
	Orders uint64   `json:"orders"` // counted so far
	// First is the earliest day with orders so far, as the service reports it.
	First api.Date `json:"first,omitempty"`
	// Requests are those of the way back so far, what was asked in vain included.
	Requests uint64 `json:"requests,omitempty"`
}

// count takes in a day, or a line of one, of a span.
func (p *position) count(sp Span, r DayRow) {
	p.Orders += r.Orders
	if r.Orders > 0 && sp.Covers(r.Date) && (p.First == "" || r.Date < p.First) {
		p.First = r.Date
	}
}

// emptySteps in a row end the way back: a year without a sale lies before the
// first one.
const emptySteps = 4

// counted tells that Orders are all there are, as far as one can see: the way back
// has passed a step without a sale. Older sales beyond it leave the number open
// again until the next one.
func (p position) counted() bool { return p.Orders > 0 && p.Empty > 0 }

// FirstDay is the oldest day the service takes (api.md, "Limits").
const FirstDay = api.Date("1900-01-01")

// ReadPosition reads how far back the totals have been asked for.
func ReadPosition(text string) (position, error) {
	var p position
	if text == "" {
		return p, nil
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, fmt.Errorf("stored position: %w", err)
	}
	return p, nil
}

// totalsFill goes back in steps of 92 days to the first sale, and on after a
// crash from the step that was not durable.
func (st *Totals) totalsFill(ctx context.Context) error {
	for !st.Filled() {
		if err := st.totalsStep(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (st *Totals) totalsStep(ctx context.Context) error {
	st.mu.Lock()
	cp := st.memory.stored
	st.mu.Unlock()
	pos, err := ReadPosition(cp.Position)
	if err != nil {
		st.Source.Log.Warn("the stored position is not readable, the totals are asked for from today back", "stream", st.Def.Name, "err", err)
	}
	if pos.To == "" {
		cp = sinks.Checkpoint{Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkTotals, StartedAt: time.Now()}
		st.Begins(st.Def.Name, sinks.WalkTotals)
		pos.To = calendar.DayOf(st.Source.ServiceNow())
	}
	from, err := calendar.AddDays(pos.To, 1-calendar.MaxRange)
	if err != nil {
		return err
	}
	brought := false
	for _, l := range st.Asked() {
		n, err := st.totalsSpan(ctx, Span{From: max(from, FirstDay), To: pos.To, Location: l}, &cp, &pos)
		if err := st.UnlessClosed(l, err); err != nil {
			return err
		}
		brought = brought || n
	}
	return st.stepDone(ctx, cp, pos, from, brought)
}

// totalsSpan asks for one span on the way back and stores what it brings. Its
// checkpoint follows with the whole step: a step that is asked for again brings
// the same rows.
func (st *Totals) totalsSpan(ctx context.Context, sp Span, cp *sinks.Checkpoint, pos *position) (brought bool, err error) {
	err = st.Exclusive(ctx, st.Guard, func(ctx context.Context) error {
		if st.NotAskedFor(sp.Location) {
			return nil
		}
		in, answer, err := st.AskTotals(ctx, st.fillLane(), sp)
		st.memory.owed += answer.requests
		if err != nil {
			return err
		}
		cp.Pages++
		for _, r := range answer.days {
			pos.count(sp, r)
			brought = brought || st.Def.LinesMayVanish || !r.Empty()
		}
		if !brought || in.Empty() {
			in.CountPage()
			return nil
		}
		cp.Rows += uint64(len(answer.days))
		return st.Writer.Store(ctx, in)
	})
	return brought, err
}

// fillLane is the lane of the way back. The days that tell how many orders there
// are go ahead of the other backfills, whose forecast waits for them.
func (st *Totals) fillLane() *api.Client {
	if st.Def.Name == registry.Daily && st.opts.Counted() == 0 {
		return st.Source.Lanes.Reconcile
	}
	return st.Source.Lanes.Backfill
}

// stepDone stores the position behind a step, and that the way back has ended
// when nothing lies before it.
func (st *Totals) stepDone(ctx context.Context, cp sinks.Checkpoint, pos position, from api.Date, brought bool) error {
	next, err := calendar.AddDays(from, -1)
	if err != nil {
		return err
	}
	pos.To = next
	pos.Requests, st.memory.owed = pos.Requests+st.memory.owed, 0
	if pos.Empty++; brought {
		pos.Empty = 0
	}
	first, known, err := st.firstSale(ctx)
	if err != nil {
		return err
	}
	cp.Done = next < FirstDay || known && next < first || !known && pos.Empty >= emptySteps
	text, err := json.Marshal(pos)
	if err != nil {
		return fmt.Errorf("position: %w", err)
	}
	cp.Position, cp.Business, cp.UpdatedAt = string(text), st.Source.Business(), time.Now()
	c := st.Source.Commit(st.Def.Name)
	c.Checkpoint = &cp
	if cp.Done {
		c.Run = &sinks.Run{
			Source: cp.Source, Stream: cp.Stream, Walk: cp.Walk, StartedAt: cp.StartedAt, FinishedAt: time.Now(),
			Requests: pos.Requests, Pages: cp.Pages, Rows: cp.Rows,
		}
	}
	if err := st.Source.Commits.Store(ctx, c); err != nil {
		return err
	}
	st.mu.Lock()
	st.memory.stored = cp
	st.mu.Unlock()
	if cp.Done {
		st.LogDone("backfill done", st.Def.Name, cp, pos.Requests)
	}
	return nil
}

// reopen goes on with a way back that ended at a year without a sale, once the
// orders' backfill has shown that there are older ones. It asks once in a process.
func (st *Totals) reopen(ctx context.Context) error {
	st.mu.Lock()
	cp, settled := st.memory.stored, st.memory.settled
	st.mu.Unlock()
	if settled || !cp.Done {
		return nil
	}
	first, known, err := st.firstSale(ctx)
	if err != nil || !known {
		return err
	}
	pos, err := ReadPosition(cp.Position)
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.memory.settled = true
	if pos.To >= max(first, FirstDay) {
		st.memory.stored.Done = false
	}
	return nil
}

// FirstReported is the first day with orders as the service reported it on the way
// back; empty when it has reported none. The mirror may have lost what it had of it.
func (st *Totals) FirstReported() api.Date {
	st.mu.Lock()
	defer st.mu.Unlock()
	pos, err := ReadPosition(st.memory.stored.Position)
	if err != nil {
		return "" // as totalsStep, which warns
	}
	return pos.First
}

// firstSale is the day of the first mirrored order, known once the orders'
// backfill has ended. A restaurant without orders has no day to go back to.
func (st *Totals) firstSale(ctx context.Context) (api.Date, bool, error) {
	day, known, err := st.opts.FirstOrder(ctx)
	if known && day == "" {
		day = "9999-12-31"
	}
	return day, known, err
}
