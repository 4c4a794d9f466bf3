package totals

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

// filling is the backfill of the totals, from today back to the first sale. The mu of the
// totals guards its fields.
type filling struct {
	totals *Totals
	stored sinks.Checkpoint
	at     position // that of stored
	// settled: the end of the backfill has been compared with the first order.
	settled    bool
	unrecorded uint64 // requests that its position does not hold yet; guarded by Filler
}

// position is how far back a stream of totals has been asked for.
type position struct {
	To     types.Date `json:"to"`     // last day of the next step
	Empty  int        `json:"empty"`  // steps in a row without anything
	Orders uint64     `json:"orders"` // counted so far
	// First is the earliest day with orders so far, as the service reports it.
	First types.Date `json:"first,omitempty"`
	// Requests are those of the backfill so far, what was asked in vain included.
	Requests uint64 `json:"requests,omitempty"`
	// Scope is what was asked for ([Totals.Scope]).
	Scope []string `json:"scope,omitempty"`
}

// count takes in a day, or a line of one, of a span.
func (p *position) count(sp Span, r DayRow) {
	p.Orders += r.Orders
	if r.Orders > 0 && sp.Covers(r.Date) && (p.First == "" || r.Date < p.First) {
		p.First = r.Date
	}
}

// emptySteps in a row end the backfill: a year without a sale lies before the
// first one.
const emptySteps = 4

// counted is true when Orders are all there are, as far as one can see: the backfill
// has passed a step without a sale. Older sales beyond it leave the number open
// again until the next one.
func (p position) counted() bool { return p.Orders > 0 && p.Empty > 0 }

// FirstDay is the oldest day the service takes (api.md, "Limits").
const FirstDay = types.Date("1900-01-01")

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
func (f *filling) totalsFill(ctx context.Context) error {
	for !f.totals.Filled() {
		if err := f.totalsStep(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *filling) totalsStep(ctx context.Context) error {
	f.totals.mu.Lock()
	cp, pos := f.stored, f.at
	f.totals.mu.Unlock()
	if scope := f.totals.Scope(); pos.To == "" || !slices.Equal(pos.Scope, scope) {
		if err := f.begin(ctx, scope); err != nil {
			return err
		}
		cp = sinks.Checkpoint{Source: f.totals.Source.Name, Stream: f.totals.Def.Name, Walk: sinks.WalkTotals, StartedAt: time.Now()}
		pos = position{To: calendar.DayOf(f.totals.Source.ServiceNow()), Scope: scope}
	}
	from, err := calendar.AddDays(pos.To, 1-calendar.MaxRange)
	if err != nil {
		return err
	}
	brought := false
	for _, l := range f.totals.Asked() {
		n, err := f.totalsSpan(ctx, Span{From: max(from, FirstDay), To: pos.To, Location: l}, &cp, &pos)
		if err := f.totals.UnlessClosed(l, err); err != nil {
			return err
		}
		brought = brought || n
	}
	return f.stepDone(ctx, cp, pos, from, brought)
}

// begin prepares a backfill that begins anew: every day is written again, and the rows of all
// locations together are removed where they are not asked for.
func (f *filling) begin(ctx context.Context, scope []string) error {
	f.totals.Begins(sinks.WalkTotals)
	return f.totals.Exclusive(ctx, f.totals.Guard, func(ctx context.Context) error {
		f.totals.mu.Lock()
		clear(f.totals.lines.days)
		f.settled = false
		f.totals.mu.Unlock()
		if slices.Contains(scope, "") {
			return nil
		}
		if err := f.totals.removeTotalsOfAll(ctx); err != nil {
			return fmt.Errorf("remove what %s has of all locations together: %w", f.totals.Def.Name, err)
		}
		return nil
	})
}

// removeChunk is how many rows are read and removed at a time.
const removeChunk = 1000

// removeTotalsOfAll removes the rows of all locations together that the source wrote last. A
// row that another source of the restaurant writes meanwhile stays: a tombstone's version is
// just above that of the row that was read. The caller holds Guard.
func (st *Totals) removeTotalsOfAll(ctx context.Context) error {
	ofAll := func(id string) bool { _, location := st.LocationOf(id); return location == "" }
	q := sinks.LiveQuery{Table: st.Def.Name, Business: st.Source.Business(), Source: st.Source.Name, Limit: removeChunk}
	removed := 0
	for rows, err := range sinks.LivePages(ctx, st.Source.Sink, q) {
		if err != nil {
			return err
		}
		in := st.Writer.Begin(st.Writer.NextWalk(), 1)
		for _, r := range rows {
			if ofAll(r.ID) {
				in.Remove(r.ID, write.ReasonNoAccess, r.Version+1, st.Source.ServiceNow().UTC())
			}
		}
		if err := st.storeUnlessEmpty(ctx, in); err != nil {
			return err
		}
		removed += len(in.Commit.Tombstones)
	}
	in := st.Writer.Begin(st.Writer.NextWalk(), 1)
	for _, key := range st.Writer.Quarantined() {
		if ofAll(key) { // they do not come again
			in.Release(key)
		}
	}
	if removed > 0 {
		st.Source.Log.Info("the key does not see all locations: totals are asked for by location", "stream", st.Def.Name, "removed", removed)
	}
	return st.storeUnlessEmpty(ctx, in)
}

// totalsSpan asks for one span of the backfill and stores what it brings. Its
// checkpoint follows with the whole step: a step that is asked for again brings
// the same rows.
func (f *filling) totalsSpan(ctx context.Context, sp Span, cp *sinks.Checkpoint, pos *position) (brought bool, err error) {
	err = f.totals.Exclusive(ctx, f.totals.Guard, func(ctx context.Context) error {
		if f.totals.NotAskedFor(sp.Location) {
			return nil
		}
		in, answer, err := f.totals.AskTotals(ctx, f.fillLane(), sp)
		f.unrecorded += answer.requests
		if err != nil {
			return err
		}
		cp.Pages++
		for _, r := range answer.days {
			pos.count(sp, r)
			brought = brought || f.totals.Def.LinesMayVanish || !r.Empty()
		}
		if !brought || in.Empty() {
			in.CountPage()
			return nil
		}
		cp.Rows += uint64(len(answer.days))
		return f.totals.Writer.Store(ctx, in)
	})
	return brought, err
}

// fillLane is the lane of the backfill. The days that tell how many orders there
// are go ahead of the other backfills, whose forecast waits for them.
func (f *filling) fillLane() *api.Client {
	if f.totals.Def.Name == registry.Daily && f.totals.opts.Counted() == 0 {
		return f.totals.Source.Lanes.Reconcile
	}
	return f.totals.Source.Lanes.Backfill
}

// stepDone stores the position behind a step, and that the backfill has ended
// when nothing lies before it.
func (f *filling) stepDone(ctx context.Context, cp sinks.Checkpoint, pos position, from types.Date, brought bool) error {
	next, err := calendar.AddDays(from, -1)
	if err != nil {
		return err
	}
	pos.To = next
	pos.Requests, f.unrecorded = pos.Requests+f.unrecorded, 0
	if pos.Empty++; brought {
		pos.Empty = 0
	}
	first, known, err := f.firstSale(ctx)
	if err != nil {
		return err
	}
	cp.Done = next < FirstDay || known && next < first || !known && pos.Empty >= emptySteps
	text, err := json.Marshal(pos)
	if err != nil {
		return fmt.Errorf("position: %w", err)
	}
	cp.Position, cp.Business, cp.UpdatedAt = string(text), f.totals.Source.Business(), time.Now()
	c := f.totals.Source.Commit(f.totals.Def.Name)
	c.Checkpoint = &cp
	if cp.Done {
		c.Run = &sinks.Run{
			Source: cp.Source, Stream: cp.Stream, Walk: cp.Walk, StartedAt: cp.StartedAt, FinishedAt: time.Now(),
			Requests: pos.Requests, Pages: cp.Pages, Rows: cp.Rows,
		}
	}
	if err := f.totals.Source.Commits.Store(ctx, c); err != nil {
		return err
	}
	f.totals.mu.Lock()
	f.stored, f.at = cp, pos
	f.totals.mu.Unlock()
	if cp.Done {
		f.totals.LogDone("backfill done", cp, "requests", pos.Requests)
	}
	return nil
}

// reopen goes on with a backfill that ended at a year without a sale, once the
// orders' backfill has shown that there are older ones. It asks once in a process.
func (f *filling) reopen(ctx context.Context) error {
	f.totals.mu.Lock()
	ended := f.stored.Done && !f.settled
	f.totals.mu.Unlock()
	if !ended {
		return nil
	}
	first, known, err := f.firstSale(ctx)
	if err != nil || !known {
		return err
	}
	f.totals.mu.Lock()
	defer f.totals.mu.Unlock()
	f.settled = true
	if f.at.To >= max(first, FirstDay) {
		f.stored.Done = false
	}
	return nil
}

// FirstReported is the first day with orders that the service has reported in the backfill;
// empty when it has reported none. The mirror may have lost its rows of that day.
func (st *Totals) FirstReported() types.Date {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.filling.at.First
}

// firstSale is the day of the first mirrored order, known once the orders'
// backfill has ended. A restaurant without orders has no day to go back to.
func (f *filling) firstSale(ctx context.Context) (types.Date, bool, error) {
	day, known, err := f.totals.opts.FirstOrder(ctx)
	if known && day == "" {
		day = "9999-12-31"
	}
	return day, known, err
}

// fill runs the backfill to its end. Only so many run at once in a process; the daily
// totals, of a few rows and ahead of the rest, wait for none.
func (f *filling) fill(ctx context.Context) error {
	switch {
	case f.totals.Filled():
		return nil
	case f.totals.Def.Name == registry.Daily:
		return f.totals.Attempt(ctx, sinks.WalkTotals, f.totalsFill)
	}
	release, err := f.totals.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return f.totals.Attempt(ctx, sinks.WalkTotals, f.totalsFill)
}

// backProgress is how far back the daily totals have been asked for; how far
// they go is known once the first order is.
func (f *filling) backProgress() *status.Progress {
	f.totals.mu.Lock()
	defer f.totals.mu.Unlock()
	cp := f.stored
	p := &status.Progress{Walk: sinks.WalkTotals, StartedAt: cp.StartedAt, Pages: cp.Pages, Rows: cp.Rows}
	if t, err := time.Parse(time.DateOnly, string(f.at.To)); err == nil {
		p.Reached = t.AddDate(0, 0, 1)
	}
	return p
}
