package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
)

// The service's totals of days long past can change: a product that is deleted for good
// takes the product_id of its sold lines along, and an old order can be cancelled. Deep
// runs ask for the last 92 days; a full resync asks for all days there are.

// againDue reports whether the turn of a full resync has come since all days were asked for.
func (st *Totals) againDue() bool {
	if !st.Complete() {
		return false
	}
	cp, _ := st.back.now()
	return st.Source.Timetable().Due(schedule.FullResync, st.Source.Name, cp.StartedAt, st.Source.ServiceNow())
}

// askAllAgain asks for all days again, and writes every line of them. After an error it is made
// anew: it is a request for each 92 days of a location. The caller holds Filler.
func (st *Totals) askAllAgain(ctx context.Context) error {
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
		began, since, whole := st.Source.ServiceNow().UTC(), time.Now(), true
		run := &sinks.Run{Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkTotals, StartedAt: since}
		for _, sp := range spans {
			err := st.Guard.Run(ctx, func(ctx context.Context) error { return st.askSpanAgain(ctx, sp, run) })
			if err != nil && !st.closed(sp.Location, err) {
				return err
			}
			whole = whole && err == nil
		}
		if whole { // the rows in quarantine that have no id, and that no day has any more
			in := st.Writer.Begin(st.Writer.NextWalk(), 0)
			in.ReleaseRest(since)
			if err := st.storeUnlessEmpty(ctx, in); err != nil {
				return err
			}
			st.NoteWholeWalk(since)
		}
		cp := st.back.restarted(began, st.Source.ServiceNow().UTC())
		run.FinishedAt = time.Now()
		if err := st.Source.Save(ctx, st.Def.Name, cp, run); err != nil {
			return err
		}
		st.LogDone("full resync done", sinks.Checkpoint{Rows: run.Rows, Tombstones: run.Tombs, StartedAt: since, UpdatedAt: run.FinishedAt}, "requests", run.Requests)
		return nil
	})
}

// askSpanAgain asks for a span and writes all of it. The caller holds Guard.
func (st *Totals) askSpanAgain(ctx context.Context, sp Span, run *sinks.Run) error {
	if st.NotAskedFor(sp.Location) {
		return nil
	}
	st.back.noteQuestion()
	st.written.forget(sp)
	in, r, err := st.askTotals(ctx, st.Source.Lanes.Backfill, sp)
	run.Requests += r.requests
	if err != nil {
		return err
	}
	run.Pages++
	run.Rows += in.Counts.Upserts
	run.Tombs += in.Counts.Tombstones
	run.Quarantined += in.Counts.Quarantined
	return st.storeUnlessEmpty(ctx, in)
}

// TotalSpans are the ranges to ask for: of what the stream is asked for, all days back to where
// its backfill has ended; of single locations beside that, the days that are stored.
func (st *Totals) TotalSpans(ctx context.Context) ([]Span, error) {
	_, reached := st.back.now()
	first, err := schedule.AddDays(reached.To, 1)
	if err != nil {
		return nil, fmt.Errorf("stored position: %w", err)
	}
	today := st.shared.today()
	var spans []Span
	wanted := st.Asked()
	for _, l := range wanted {
		spans = append(spans, ranges(Span{first, today, l})...)
	}
	if !st.Def.PerLocation || !slices.Contains(wanted, "") {
		return spans, nil
	}
	stored := map[string]types.Date{} // the first stored day of each location
	err = st.EachLive(ctx, "", LivePage, func(id string) {
		day, location, ok := strings.Cut(id, "/")
		if _, known := stored[location]; ok && !known {
			stored[location] = types.Date(day)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, l := range st.Source.Identity().Locations {
		if day, ok := stored[l]; ok && !slices.Contains(wanted, l) {
			spans = append(spans, ranges(Span{day, today, l})...)
		}
	}
	return spans, nil
}
