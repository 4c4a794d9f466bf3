package totals

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
func (st *Totals) againDue(now time.Time) bool {
	if !st.Filled() {
		return false
	}
	st.mu.Lock()
	last := st.memory.stored.StartedAt
	st.mu.Unlock()
	return st.Source.Timetable().Due(schedule.FullResync, st.Source.Name, last, now)
}

// totalsAgain asks for all days again, and writes every line of them. The caller holds
// filler. After an error it goes on with what is left, after a restart it is made anew:
// it is a request for each 92 days.
func (st *Totals) totalsAgain(ctx context.Context) error {
	release, err := st.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		spans, err := st.TotalSpans(ctx)
		if err != nil {
			return err
		}
		began := st.Source.ServiceNow().UTC()
		if len(st.memory.again) == 0 {
			st.memory.againSince, st.memory.passedBy = time.Now(), false
			st.memory.againRun = sinks.Run{Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkTotals, StartedAt: time.Now()}
			st.Begins(st.Def.Name, sinks.WalkFull)
		}
		run := &st.memory.againRun
		for _, sp := range spans {
			if st.memory.again[sp] {
				continue
			}
			err := st.spanAgain(ctx, sp, run)
			if st.UnlessClosed(sp.Location, err) != nil {
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
			st.NoteWholeWalk(st.memory.againSince)
		}
		st.mu.Lock()
		st.memory.stored.StartedAt, st.memory.stored.UpdatedAt = began, st.Source.ServiceNow().UTC()
		cp := st.memory.stored
		st.mu.Unlock()
		run.FinishedAt = time.Now()
		done := *run
		if err := st.Source.Save(ctx, st.Def.Name, cp, &done); err != nil {
			return err
		}
		st.LogDone("full resync done", st.Def.Name, sinks.Checkpoint{Walk: sinks.WalkFull, Rows: run.Rows, Tombstones: run.Tombs}, run.Requests)
		return nil
	})
}

// closeRest closes the quarantine entries of rows without an id that no day has any
// more. The caller holds filler.
func (st *Totals) closeRest(ctx context.Context) error {
	in := st.Writer.Begin(st.Writer.NextWalk(), 0)
	if st.memory.passedBy {
		return nil // what it holds was not seen
	}
	in.ReleaseRest(st.memory.againSince)
	if in.Empty() {
		return nil
	}
	return st.Writer.Store(ctx, in)
}

func (st *Totals) spanAgain(ctx context.Context, sp Span, run *sinks.Run) error {
	return st.Exclusive(ctx, st.Guard, func(ctx context.Context) error {
		if st.NotAskedFor(sp.Location) {
			return nil
		}
		st.forgetDays(sp)
		in, answer, err := st.AskTotals(ctx, st.Source.Lanes.Backfill, sp)
		run.Requests += answer.requests
		if err != nil {
			return err
		}
		run.Pages++
		run.Rows += in.Counts.Upserts
		run.Tombs += in.Counts.Tombstones
		run.Quarantined += in.Counts.Quarantined
		if in.Empty() {
			in.CountPage()
			return nil
		}
		return st.Writer.Store(ctx, in)
	})
}

// forgetDays lets days be written again whatever was written of them.
func (st *Totals) forgetDays(sp Span) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, day := range sp.Days() {
		delete(st.memory.days, DayKey(day, sp.Location))
	}
}

// TotalSpans are the ranges to ask for: of what the stream is asked for, all days
// back to where its way back has ended; of single locations beside that, the days
// that are stored.
func (st *Totals) TotalSpans(ctx context.Context) ([]Span, error) {
	st.mu.Lock()
	cp := st.memory.stored
	st.mu.Unlock()
	pos, err := ReadPosition(cp.Position)
	if err != nil {
		return nil, err
	}
	first, err := calendar.AddDays(pos.To, 1)
	if err != nil {
		return nil, fmt.Errorf("stored position: %w", err)
	}
	today := calendar.DayOf(st.Source.ServiceNow())
	var spans []Span
	wanted := st.Asked()
	for _, l := range wanted {
		spans = append(spans, Ranges(Span{first, today, l})...)
	}
	if !st.Def.PerLocation || !slices.Contains(wanted, "") {
		return spans, nil
	}
	stored, err := st.firstStored(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range st.Source.Identity().Locations {
		if day, ok := stored[l]; ok && !slices.Contains(wanted, l) {
			spans = append(spans, Ranges(Span{day, today, l})...)
		}
	}
	return spans, nil
}

// Ranges cuts a span into such as the service answers.
func Ranges(sp Span) []Span {
	var all []Span
	for from := sp.From; from <= sp.To; {
		to, err := calendar.AddDays(from, calendar.MaxRange-1)
		if err != nil {
			return append(all, Span{from, sp.To, sp.Location})
		}
		all = append(all, Span{from, min(to, sp.To), sp.Location})
		if from, err = calendar.AddDays(to, 1); err != nil {
			return all
		}
	}
	return all
}

// firstStored is the first stored day of each location.
func (st *Totals) firstStored(ctx context.Context) (map[string]api.Date, error) {
	first := map[string]api.Date{}
	err := st.EachLive(ctx, "", LivePage, func(id string) {
		day, location, ok := strings.Cut(id, "/")
		if _, known := first[location]; ok && !known {
			first[location] = api.Date(day)
		}
	})
	return first, err
}

// LivePage is how many live rows are read at a time.
const LivePage = 10_000

// EachLive calls f with the id of every live line that begins with a prefix, in
// order.
func (st *Totals) EachLive(ctx context.Context, prefix string, page int, f func(id string)) error {
	q := sinks.LiveQuery{Table: st.Def.Name, Business: st.Source.Business(), Prefix: prefix, Limit: page}
	for {
		rows, err := st.Source.Sink.Live(ctx, q)
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
