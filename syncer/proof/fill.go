package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/write"
)

// backfill is how far the walk from today back to the first sale has come. The service's totals of
// days long past can change: a product that is deleted for good takes the product_id of its sold lines
// along, and an old order can be cancelled. A full resync is the same walk once more.
type backfill struct {
	stored sinks.Checkpoint
	at     position // that of stored
}

// storedBackfill is the backfill of a stored checkpoint. It begins anew where its position is not readable.
func storedBackfill(cp sinks.Checkpoint) (_ *backfill, err error) {
	var at position
	if cp.Position != "" { // else of a walk that has not begun
		if err = json.Unmarshal([]byte(cp.Position), &at); err == nil {
			_, err = schedule.AddDays(at.To, 0)
		}
		if err != nil {
			at = position{}
		}
	}
	return &backfill{cp, at}, err
}

// filledTo is the stored checkpoint of the backfill, and its position.
func (st *Totals) filledTo() (sinks.Checkpoint, position) {
	b := st.back.Load()
	return b.stored, b.at
}

// position is how far back a stream of totals has been asked for.
type position struct {
	To     types.Date `json:"to"`     // last day of the next step
	Empty  int        `json:"empty"`  // steps in a row without anything
	Orders uint64     `json:"orders"` // counted so far
	// First is the earliest day with orders so far, as the service reports it.
	First types.Date `json:"first,omitempty"`
	// Requests are those of the backfill so far.
	Requests uint64 `json:"requests,omitempty"`
	// Scope is what was asked for ([Totals.scope]).
	Scope []string `json:"scope,omitempty"`
	// Until is how far back the full resync under way goes at least; empty while there is none.
	Until types.Date `json:"until,omitempty"`
	Began time.Time  `json:"began,omitzero"` // the full resync under way, by the service's clock
	// Single is the first day that single locations were asked for, beside all of them together.
	Single types.Date `json:"single,omitempty"`
}

// reached is the day before the first that was asked for.
func (p position) reached() types.Date {
	if p.Until == "" {
		return p.To
	}
	return min(p.To, p.Until)
}

// emptySteps in a row end the backfill: a year without a sale lies before the first one.
const emptySteps = 4

// FirstDay is the oldest day the service takes (docs/openapi.yaml, SentDate).
const FirstDay = types.Date("1900-01-01")

// Complete reports whether all days were asked for once, of what the totals are asked for now. Other
// locations than those that were asked for begin the backfill anew.
func (st *Totals) Complete() bool {
	cp, at := st.filledTo()
	return cp.Done && slices.Equal(at.Scope, st.scope())
}

// filled reports whether neither a backfill nor a full resync is under way. A backfill that ended at a
// year without a sale goes on once the orders' backfill has shown that there are older ones.
func (st *Totals) filled() bool {
	_, at := st.filledTo()
	first := st.shared.knownFirst()
	older := first != "" && at.To >= max(first, FirstDay) && st.shared.Orders.Filled()
	return st.Complete() && at.Until == "" && !older
}

// askAllAgain begins a full resync, unless the backfill is under way. The stored checkpoint is that of
// the last walk until it ends. The caller holds Filler.
func (st *Totals) askAllAgain() {
	if cp, at := st.filledTo(); st.Complete() {
		at.Until, at.Began = at.reached(), st.Source.ServiceNow().UTC()
		st.beginFill(cp, at)
	}
}

// beginFill goes back from today. What is stored may have been removed: it is read anew.
func (st *Totals) beginFill(cp sinks.Checkpoint, at position) {
	st.stored.forget()
	at.To, at.Empty, at.Requests = st.shared.today(), 0, 0
	cp.Pages, cp.Rows = 0, 0
	st.back.Store(&backfill{cp, at})
	st.began = time.Now()
}

// againDue reports whether the turn of a full resync has come since all days were asked for.
func (st *Totals) againDue() bool {
	cp, at := st.filledTo()
	return at.Until == "" && st.Complete() && st.again.Due(st.Source.Timetable(), schedule.FullResync, st.Source.Name, cp.StartedAt, st.Source.ServiceNow())
}

// fill goes back in steps of 92 days to the first sale, and on after a crash from the step that
// was not durable. Only so many run at once in a process; the daily totals, of a few rows and
// ahead of the rest, wait for none. The caller holds Filler.
func (st *Totals) fill(ctx context.Context) error {
	if st.filled() {
		return nil
	}
	if st.Def.Name != registry.Daily {
		release, err := st.Source.LongTurn(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	return st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		for !st.filled() {
			if err := st.fillStep(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// fillStep asks for one step, in every location. Its checkpoint follows with the whole step: a
// step that is asked for again brings the same rows.
func (st *Totals) fillStep(ctx context.Context) error {
	if _, at := st.filledTo(); at.To == "" || !slices.Equal(at.Scope, st.scope()) {
		scope := st.scope()
		if !slices.Contains(scope, "") {
			if err := st.Guard.Run(ctx, st.removeTotalsOfAll); err != nil {
				return fmt.Errorf("remove what %s has of all locations together: %w", st.Def.Name, err)
			}
		}
		st.beginFill(sinks.Checkpoint{Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkTotals, StartedAt: st.Source.ServiceNow().UTC()},
			position{Scope: scope, Single: addDays(st.shared.today(), 1-MaxRange)})
	}
	cp, pos := st.filledTo()
	from := addDays(pos.To, 1-MaxRange)
	pos.Empty++
	locations := st.Asked()
	if pos.Until != "" && pos.To >= pos.Single { // what deep runs have asked for, too
		locations = st.deepLocations()
	}
	for _, l := range locations {
		sp := Span{From: st.since(max(from, FirstDay), l, pos), To: pos.To, Location: l}
		err := st.Guard.Run(ctx, func(ctx context.Context) error { return st.fillSpan(ctx, sp, &cp, &pos) })
		if err != nil {
			if !st.closed(l, err) {
				return err
			}
			st.began = time.Time{}
		}
	}
	return st.endStep(ctx, cp, pos, from)
}

// removeChunk is how many rows are read and removed at a time.
const removeChunk = 1000

// removeTotalsOfAll removes the rows of all locations together that the source wrote last. A
// row that another source of the restaurant writes meanwhile stays: a tombstone's version is
// just above that of the row that was read. The caller holds Guard.
func (st *Totals) removeTotalsOfAll(ctx context.Context) error {
	ofAll := func(id string) bool { _, location := LocationOf(st.Def, id); return location == "" }
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
		if err := storeUnlessEmpty(ctx, st.Writer, in); err != nil {
			return err
		}
		removed += len(in.Commit.Tombstones)
	}
	in := st.Writer.Begin(st.Writer.NextWalk(), 1)
	for key := range st.Writer.Quarantined() {
		if ofAll(key) { // it does not come again
			in.Release(key)
		}
	}
	if removed > 0 {
		st.Source.Log.Info("the key does not see all locations: totals are asked for by location", "stream", st.Def.Name, "removed", removed)
	}
	return storeUnlessEmpty(ctx, st.Writer, in)
}

// fillSpan asks for one span of the backfill and stores what it brings. The caller holds Guard.
func (st *Totals) fillSpan(ctx context.Context, sp Span, cp *sinks.Checkpoint, pos *position) error {
	if st.NotAskedFor(sp.Location) {
		return nil
	}
	lane := st.Source.Lanes.Backfill
	if st.Def.Name == registry.Daily && st.shared.OrdersCounted() == 0 { // the forecasts of the other backfills wait for it
		lane = st.Source.Lanes.Reconcile
	}
	in, r, err := st.askTotals(ctx, lane, sp, pos.Until != "") // a full resync writes every day
	pos.Requests += uint64(r.Attempts)
	if err != nil {
		return err
	}
	cp.Pages++
	brought := pos.Until != "" // a day that was sold on may have nothing any more
	for _, day := range r.days {
		if pos.Until == "" {
			pos.Orders += day.Orders
		}
		if day.Orders > 0 && sp.Covers(day.Date) && (pos.First == "" || day.Date < pos.First) {
			pos.First = day.Date
		}
		brought = brought || st.Def.LinesMayVanish || !day.Empty()
	}
	if !brought {
		in.CountPage()
		return nil
	}
	pos.Empty = 0
	cp.Rows += uint64(len(r.days))
	return storeUnlessEmpty(ctx, st.Writer, in)
}

// endStep stores the position behind a step, and that the backfill has ended when nothing lies
// before it.
func (st *Totals) endStep(ctx context.Context, cp sinks.Checkpoint, pos position, from types.Date) error {
	pos.To = addDays(from, -1)
	first, known, err := st.shared.firstSale(ctx)
	if err != nil {
		return err
	}
	again := pos.Until != ""
	ended := pos.To < FirstDay || (!again || pos.To <= pos.Until) && (known && pos.To < first || !known && (again || pos.Empty >= emptySteps))
	switch {
	case !again:
		cp.Done = ended
	case ended: // until then the last walk counts
		cp.StartedAt = pos.Began
		pos.To, pos.Until, pos.Began = pos.reached(), "", time.Time{}
	}
	text, err := json.Marshal(pos)
	if err != nil {
		return fmt.Errorf("position: %w", err)
	}
	cp.Position, cp.Business, cp.UpdatedAt = string(text), st.Source.Business(), time.Now()
	var run *sinks.Run
	if ended {
		run = &sinks.Run{
			Source: cp.Source, Stream: cp.Stream, Walk: cp.Walk, StartedAt: cp.StartedAt, FinishedAt: time.Now(),
			Requests: pos.Requests, Pages: cp.Pages, Rows: cp.Rows,
		}
	}
	if err := st.Source.Save(ctx, st.Def.Name, cp, run); err != nil {
		return err
	}
	st.back.Store(&backfill{cp, pos})
	if !ended {
		return nil
	}
	what := "backfill done"
	if again {
		what = "full resync done"
	}
	if !st.began.IsZero() {
		cp.StartedAt = st.began // by the clock that UpdatedAt is by
	}
	st.LogDone(what, cp, "requests", pos.Requests)
	if st.began.IsZero() {
		return nil
	}
	// The rows in quarantine that have no id, and that no day has any more.
	in := st.Writer.Begin(st.Writer.NextWalk(), 0)
	in.ReleaseRest(st.began)
	st.NoteWholeWalk(st.began)
	return storeUnlessEmpty(ctx, st.Writer, in)
}

// firstSale is the day of the first mirrored order, known once the orders' backfill has ended.
// A restaurant without orders has no day to go back to.
func (d *Shared) firstSale(ctx context.Context) (day types.Date, known bool, err error) {
	if d.Orders.Off() || !d.Orders.Filled() {
		return "", false, nil
	}
	if day, err = d.firstDay(ctx); day == "" {
		day = "9999-12-31"
	}
	return day, err == nil, err
}
