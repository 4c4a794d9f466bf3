package syncer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/schedule"
)

// The service's totals of days long past can change: a product that is deleted for good
// takes the product_id of its sold lines along, and an old order can be cancelled. Deep
// runs ask for the last 92 days; a full resync asks for all days there are.

// againDue is true when the turn of a full resync has come since all days were asked
// for.
func (st *totals) againDue(now time.Time) bool {
	if !st.filled() {
		return false
	}
	st.mu.Lock()
	last := st.memory.stored.StartedAt
	st.mu.Unlock()
	return st.source.timetable().Due(schedule.FullResync, st.source.name, last, now)
}

// totalsAgain asks for all days again, and writes every line of them. The caller holds
// filler. After an error it goes on with what is left, after a restart it is made anew:
// it is a request for each 92 days.
func (st *totals) totalsAgain(ctx context.Context) error {
	release, err := st.source.longTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		spans, err := st.totalSpans(ctx)
		if err != nil {
			return err
		}
		began := st.source.serviceNow().UTC()
		if len(st.memory.again) == 0 {
			st.memory.againSince, st.memory.passedBy = time.Now(), false
			st.begins(st.def.Name, sinks.WalkFull)
		}
		run := sinks.Run{Source: st.source.name, Stream: st.def.Name, Walk: sinks.WalkTotals, StartedAt: time.Now()}
		for _, sp := range spans {
			if st.memory.again[sp] {
				continue
			}
			err := st.spanAgain(ctx, sp, &run)
			if st.unlessClosed(sp.location, err) != nil {
				return err
			}
			st.memory.passedBy = st.memory.passedBy || err != nil
			st.memory.again[sp] = true
			st.mu.Lock()
			st.memory.againAsked++
			st.mu.Unlock()
		}
		if err := st.closeRest(ctx); err != nil {
			return err
		}
		clear(st.memory.again)
		if !st.memory.passedBy {
			st.hasBrought(st.memory.againSince)
		}
		st.mu.Lock()
		st.memory.stored.StartedAt, st.memory.stored.UpdatedAt = began, st.source.serviceNow().UTC()
		cp := st.memory.stored
		st.mu.Unlock()
		run.FinishedAt = time.Now()
		if err := st.source.save(ctx, st.def.Name, cp, &run); err != nil {
			return err
		}
		st.logDone("full resync done", st.def.Name, sinks.Checkpoint{Walk: sinks.WalkFull, Pages: run.Pages, Rows: run.Rows, Tombstones: run.Tombs})
		return nil
	})
}

// closeRest closes the quarantine entries of rows without an id that no day has any
// more. The caller holds filler.
func (st *totals) closeRest(ctx context.Context) error {
	in := st.writer.Begin(st.writer.NextWalk(), 0)
	if st.memory.passedBy {
		return nil // what it holds was not seen
	}
	in.ReleaseRest(st.memory.againSince)
	if in.Empty() {
		return nil
	}
	return st.writer.Store(ctx, in)
}

func (st *totals) spanAgain(ctx context.Context, sp span, run *sinks.Run) error {
	return st.exclusive(ctx, st.guard, func(ctx context.Context) error {
		if st.notAskedFor(sp.location) {
			return nil
		}
		st.forgetDays(sp)
		in, _, err := st.askTotals(ctx, st.source.lanes.backfill, sp)
		if err != nil {
			return err
		}
		run.Requests++
		run.Pages++
		run.Rows += in.Counts.Upserts
		run.Tombs += in.Counts.Tombstones
		run.Quarantined += in.Counts.Quarantined
		if in.Empty() {
			in.PassedBy()
			return nil
		}
		return st.writer.Store(ctx, in)
	})
}

// forgetDays lets days be written again whatever was written of them.
func (st *totals) forgetDays(sp span) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, day := range sp.days() {
		delete(st.memory.days, dayKey(day, sp.location))
	}
}

// totalSpans are the ranges to ask for: of what the stream is asked for, all days
// back to where its way back has ended; of single locations beside that, the days
// that are stored.
func (st *totals) totalSpans(ctx context.Context) ([]span, error) {
	st.mu.Lock()
	cp := st.memory.stored
	st.mu.Unlock()
	pos, err := readPosition(cp.Position)
	if err != nil {
		return nil, err
	}
	first, err := calendar.AddDays(pos.To, 1)
	if err != nil {
		return nil, fmt.Errorf("stored position: %w", err)
	}
	today := calendar.DayOf(st.source.serviceNow())
	var spans []span
	wanted := st.asked()
	for _, l := range wanted {
		spans = append(spans, ranges(span{first, today, l})...)
	}
	if !st.def.PerLocation || !slices.Contains(wanted, "") {
		return spans, nil
	}
	stored, err := st.firstStored(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range st.source.identity().locations {
		if day, ok := stored[l]; ok && !slices.Contains(wanted, l) {
			spans = append(spans, ranges(span{day, today, l})...)
		}
	}
	return spans, nil
}

// ranges cuts a span into such as the service answers.
func ranges(sp span) []span {
	var all []span
	for from := sp.from; from <= sp.to; {
		to, err := calendar.AddDays(from, calendar.MaxRange-1)
		if err != nil {
			return append(all, span{from, sp.to, sp.location})
		}
		all = append(all, span{from, min(to, sp.to), sp.location})
		if from, err = calendar.AddDays(to, 1); err != nil {
			return all
		}
	}
	return all
}

// firstStored is the first stored day of each location.
func (st *totals) firstStored(ctx context.Context) (map[string]api.Date, error) {
	first := map[string]api.Date{}
	err := st.eachLive(ctx, "", livePage, func(id string) {
		day, location, ok := strings.Cut(id, "/")
		if _, known := first[location]; ok && !known {
			first[location] = api.Date(day)
		}
	})
	return first, err
}

// livePage is how many live rows are read at a time.
const livePage = 10_000

// eachLive calls f with the id of every live line that begins with a prefix, in
// order.
func (st *totals) eachLive(ctx context.Context, prefix string, page int, f func(id string)) error {
	q := sinks.LiveQuery{Table: st.def.Name, Business: st.source.business(), Prefix: prefix, Limit: page}
	for {
		rows, err := st.source.sink.Live(ctx, q)
		if err != nil {
			return fmt.Errorf("read the live rows: %w", err)
		}
		for _, r := range rows {
			f(r.ID)
		}
		if len(rows) < q.Limit {
			return nil
		}
		q.After = rows[len(rows)-1].ID
	}
}
