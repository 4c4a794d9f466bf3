package totals

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/write"
)

// refresh asks for all days again, when the turn of a full resync has come. What it knows is
// guarded by Filler, and requests by the mu of the totals.
type refresh struct {
	totals   *Totals
	asked    map[Span]bool // the ranges that the one under way has asked for
	since    time.Time     // when it began
	passedBy bool          // a closed location was left out of it
	run      sinks.Run     // what it has brought so far
	requests uint64        // how many requests it was, of all resyncs
}

// The service's totals of days long past can change: a product that is deleted for good
// takes the product_id of its sold lines along, and an old order can be cancelled. Deep
// runs ask for the last 92 days; a full resync asks for all days there are.

// againDue is true when the turn of a full resync has come since all days were asked
// for.
func (r *refresh) againDue(now time.Time) bool {
	if !r.totals.Filled() {
		return false
	}
	r.totals.mu.Lock()
	last := r.totals.filling.stored.StartedAt
	r.totals.mu.Unlock()
	return r.totals.Source.Timetable().Due(schedule.FullResync, r.totals.Source.Name, last, now)
}

// totalsAgain asks for all days again, and writes every line of them. The caller holds
// Filler. After an error it goes on with what is left, after a restart it is made anew:
// it is a request for each 92 days.
func (r *refresh) totalsAgain(ctx context.Context) error {
	release, err := r.totals.Source.LongTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return r.totals.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		spans, err := r.totals.TotalSpans(ctx)
		if err != nil {
			return err
		}
		began := r.totals.Source.ServiceNow().UTC()
		if len(r.asked) == 0 {
			r.since, r.passedBy = time.Now(), false
			r.run = sinks.Run{Source: r.totals.Source.Name, Stream: r.totals.Def.Name, Walk: sinks.WalkTotals, StartedAt: time.Now()}
			r.totals.Begins(sinks.WalkFull)
		}
		run := &r.run
		for _, sp := range spans {
			if r.asked[sp] {
				continue
			}
			err := r.spanAgain(ctx, sp, run)
			if r.totals.UnlessClosed(sp.Location, err) != nil {
				return err
			}
			r.passedBy = r.passedBy || err != nil
			r.asked[sp] = true
			r.totals.mu.Lock()
			r.requests++
			r.totals.mu.Unlock()
		}
		if err := r.closeRest(ctx); err != nil {
			return err
		}
		clear(r.asked)
		if !r.passedBy {
			r.totals.NoteWholeWalk(r.since)
		}
		r.totals.mu.Lock()
		r.totals.filling.stored.StartedAt, r.totals.filling.stored.UpdatedAt = began, r.totals.Source.ServiceNow().UTC()
		cp := r.totals.filling.stored
		r.totals.mu.Unlock()
		run.FinishedAt = time.Now()
		done := *run
		if err := r.totals.Source.Save(ctx, r.totals.Def.Name, cp, &done); err != nil {
			return err
		}
		r.totals.LogDone("full resync done", sinks.Checkpoint{Walk: sinks.WalkFull, Rows: run.Rows, Tombstones: run.Tombs}, "requests", run.Requests)
		return nil
	})
}

// closeRest closes the quarantine entries of rows without an id that no day has any
// more. The caller holds Filler.
func (r *refresh) closeRest(ctx context.Context) error {
	in := r.totals.Writer.Begin(r.totals.Writer.NextWalk(), 0)
	if r.passedBy {
		return nil // what it holds was not seen
	}
	in.ReleaseRest(r.since)
	return r.totals.storeUnlessEmpty(ctx, in)
}

// storeUnlessEmpty stores what an intake holds, if it holds anything.
func (st *Totals) storeUnlessEmpty(ctx context.Context, in *write.Intake) error {
	if in.Empty() {
		return nil
	}
	return st.Writer.Store(ctx, in)
}

func (r *refresh) spanAgain(ctx context.Context, sp Span, run *sinks.Run) error {
	return r.totals.Exclusive(ctx, r.totals.Guard, func(ctx context.Context) error {
		if r.totals.NotAskedFor(sp.Location) {
			return nil
		}
		r.totals.lines.forgetDays(sp)
		in, answer, err := r.totals.AskTotals(ctx, r.totals.Source.Lanes.Backfill, sp)
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
		return r.totals.Writer.Store(ctx, in)
	})
}

// TotalSpans are the ranges to ask for: of what the stream is asked for, all days
// back to where its backfill has ended; of single locations beside that, the days
// that are stored.
func (st *Totals) TotalSpans(ctx context.Context) ([]Span, error) {
	st.mu.Lock()
	to := st.filling.at.To
	st.mu.Unlock()
	first, err := calendar.AddDays(to, 1)
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
	stored, err := st.again.firstStored(ctx)
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
func (r *refresh) firstStored(ctx context.Context) (map[string]types.Date, error) {
	first := map[string]types.Date{}
	err := r.totals.EachLive(ctx, "", LivePage, func(id string) {
		day, location, ok := strings.Cut(id, "/")
		if _, known := first[location]; ok && !known {
			first[location] = types.Date(day)
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
	for rows, err := range sinks.LivePages(ctx, st.Source.Sink, q) {
		if err != nil {
			return fmt.Errorf("read the live rows: %w", err)
		}
		for _, r := range rows {
			f(r.ID)
		}
	}
	return nil
}
