package proof

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/write"
)

// answer is an answer of a totals route: rows of days.
type answer struct {
	api.SalesReport
	days []DayRow // of which day, and line, each row is
}

// storeRecent asks for yesterday and today.
func (st *Totals) storeRecent(ctx context.Context) error {
	return st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		if err := st.shared.readFirstDay(ctx, false); err != nil {
			return err
		}
		return st.each(st.shared.lastDays(2, st.Asked()), func(sp Span) error {
			in, _, err := st.askTotals(ctx, st.Source.Lanes.Reconcile, sp, false)
			if err != nil {
				return err
			}
			return storeUnlessEmpty(ctx, st.Writer, in)
		})
	})
}

// lastDays are the last days up to today, of some locations.
func (d *Shared) lastDays(n int, locations []string) (spans []Span) {
	today := d.today()
	for _, l := range locations {
		spans = append(spans, Span{addDays(today, 1-n), today, l})
	}
	return spans
}

// each has ask ask for spans. A location that is refused holds up no other.
func (st *Totals) each(spans []Span, ask func(Span) error) error {
	var refused error
	for _, sp := range spans {
		err := ask(sp)
		switch {
		case err == nil, st.closed(sp.Location, err):
		case refuses(sp.Location, err):
			refused = errors.Join(refused, err)
		default:
			return err
		}
	}
	return refused
}

// refuses reports whether the service refuses one location, and may answer for others.
func refuses(location string, err error) bool {
	return location != "" && (api.IsLocationForbidden(err) || api.IsNotFound(err))
}

// AskReport asks for the rows of a span.
func (st *Totals) AskReport(ctx context.Context, lane *api.Client, sp Span) (api.SalesReport, error) {
	return st.Def.Totals(ctx, lane, api.SalesQuery{From: sp.From, To: sp.To, LocationID: sp.Location, ByDay: true})
}

// storeUnlessEmpty stores what an intake holds, if it holds anything.
func storeUnlessEmpty(ctx context.Context, w *write.Writer, in *write.Intake) error {
	if in.Empty() {
		in.CountPage()
		return nil
	}
	return w.Store(ctx, in)
}

// pending is what was handed to the sink and may not be durable yet. The next question does not wait for it: the
// sink writes in the order of what it was handed.
type pending struct {
	commits []handedOver
	rows    int // of the answers that are in memory for it
}

type handedOver struct {
	receipt *sinks.Receipt
	intake  *write.Intake // remembered once it is durable; nil of verdicts
}

// mostPending is how many rows of answers may be in memory before they are waited for.
const mostPending = 2000

// store hands over what the intake of an answer holds, if it holds anything; rows is how many rows the answer has.
func (p *pending) store(ctx context.Context, w *write.Writer, in *write.Intake, rows int) error {
	if c := in.Commit; in.Empty() || len(c.Quarantine)+len(c.Released) > 0 { // the next walk has to know what is open
		return storeUnlessEmpty(ctx, w, in)
	}
	r, err := w.Write(ctx, in)
	if err != nil {
		return err
	}
	p.commits, p.rows = append(p.commits, handedOver{r, in}), p.rows+rows
	return nil
}

// wait waits until all of it is durable, with the patience of [sinks.Receipt.WaitPatiently]. What has failed is not waited
// for again.
func (p *pending) wait(ctx context.Context, patience time.Duration) error {
	commits := p.commits
	*p = pending{}
	for _, c := range commits {
		if err := c.receipt.WaitPatiently(ctx, patience); err != nil {
			return fmt.Errorf("wait for the warehouse: %w", err)
		}
		if c.intake != nil {
			c.intake.Remember()
		}
	}
	return nil
}

// askTotals asks for a span and reads the days that differ from what is stored; all days when they are
// written anew. The caller holds Guard.
func (st *Totals) askTotals(ctx context.Context, lane *api.Client, sp Span, anew bool) (*write.Intake, answer, error) {
	stored := map[types.Date]uint64{}
	if !anew {
		var err error
		if stored, err = st.storedDays(ctx, sp); err != nil {
			return nil, answer{}, err
		}
	}
	report, err := st.AskReport(ctx, lane, sp)
	r := answer{SalesReport: report}
	if err != nil {
		st.Writer.Count(write.Counts{Requests: uint64(r.Attempts)})
		return nil, r, err
	}
	r.Date = st.Source.AnswerTime(r.Date)
	r.days = PlaceRows(r.Rows, st.Def.LinesMayVanish)
	st.Source.Metrics.Paged(st.Source.Name, st.Def.Name, sinks.WalkTotals)
	in := st.Writer.Begin(st.Writer.NextWalk(), len(r.Rows))
	in.Counts.Requests, in.Counts.Pages = uint64(r.Attempts), 1
	changed := st.stored.changed(sp, r, stored)
	present := st.readLines(in, sp, r, changed)
	if r.Currency != types.Currency {
		in.Drifted([]mapping.DriftItem{{Path: "currency", Kind: mapping.DriftValue, Example: strconv.AppendQuote(nil, r.Currency)}}, "", r.Date)
	}
	recent := addDays(st.shared.today(), 1-MaxRange)
	in.AfterTaken = func() { st.stored.note(sp, recent, changed) }
	if st.Def.LinesMayVanish {
		if err := st.removeLines(ctx, in, sp, r, stored, changed, present); err != nil {
			return nil, r, err
		}
	}
	return in, r, nil
}
