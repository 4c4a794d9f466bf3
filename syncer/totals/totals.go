package totals

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/write"
)

// Report is an answer of a totals route: rows of days.
type Report struct {
	Rows   [][]byte
	days   []DayRow // of which day, and line, each row is
	Totals []byte   // of all days together, as the service gives them; of /sales/daily only
	At     time.Time

	currency string

	requests uint64 // it took, also when it did not come
}

// Span is a range of days, inclusive, of one location or of all (empty).
type Span struct {
	From, To types.Date
	Location string
}

// totalsRecent asks for yesterday and today, and looks whether the backfill is at
// its end.
func (st *Totals) totalsRecent(ctx context.Context) error {
	return st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		return st.AskRecent(ctx, func(ctx context.Context, sp Span) error {
			if st.NotAskedFor(sp.Location) {
				return nil
			}
			_, err := st.AskAndStore(ctx, st.Source.Lanes.Reconcile, sp)
			return err
		})
	})
}

// AskRecent has ask ask for yesterday and today, and looks whether the backfill is at its
// end.
func (st *Totals) AskRecent(ctx context.Context, ask func(context.Context, Span) error) error {
	if err := st.AskDaysBack(ctx, ask, 1, st.Asked()); err != nil {
		return err
	}
	return st.filling.reopen(ctx)
}

// Recent is true when a day is asked for at every turn: yesterday and today.
func (st *Totals) Recent(day types.Date) bool {
	yesterday, err := calendar.AddDays(calendar.DayOf(st.Source.ServiceNow()), -1)
	return err == nil && day >= yesterday
}

// DeepLocations are the locations asked for, and each location where the stream tells
// them apart.
func (st *Totals) DeepLocations() []string {
	locations := st.Asked()
	if st.Def.PerLocation && slices.Contains(locations, "") {
		locations = append(locations, st.Source.Identity().Locations...)
	}
	return locations
}

// OpenPlaces are those of DeepLocations for which the service answers.
func (st *Totals) OpenPlaces() []string { return st.Open(st.DeepLocations()) }

// AskDaysBack has ask ask for the days from n before today to today. A location that is
// refused holds up no other.
func (st *Totals) AskDaysBack(ctx context.Context, ask func(context.Context, Span) error, n int, locations []string) error {
	today := calendar.DayOf(st.Source.ServiceNow())
	from, err := calendar.AddDays(today, -n)
	if err != nil {
		return err
	}
	var refused error
	for _, l := range locations {
		err := ask(ctx, Span{From: from, To: today, Location: l})
		switch {
		case err == nil, st.UnlessClosed(l, err) == nil:
		case Refuses(l, err):
			refused = errors.Join(refused, err)
		default:
			return err
		}
	}
	return refused
}

// Refuses is true when the service refuses one location, and may answer for others.
func Refuses(location string, err error) bool {
	return location != "" && (api.IsLocationForbidden(err) || api.IsNotFound(err))
}

// AskReport asks for the rows of a span.
func (st *Totals) AskReport(ctx context.Context, lane *api.Client, sp Span) (Report, error) {
	r, err := st.Def.Totals(ctx, lane, api.SalesQuery{From: sp.From, To: sp.To, LocationID: sp.Location})
	return Report{Rows: r.Rows, Totals: r.Totals, At: r.Date, currency: r.Currency}, err
}

// AskAndStore asks for a span and stores the days that have changed.
func (st *Totals) AskAndStore(ctx context.Context, lane *api.Client, sp Span) (Report, error) {
	in, answer, err := st.AskTotals(ctx, lane, sp)
	if err != nil {
		return Report{}, err
	}
	if in.Empty() {
		in.CountPage()
		return answer, nil
	}
	return answer, st.Writer.Store(ctx, in)
}

// AskTotals asks for a span and reads the days that have changed.
func (st *Totals) AskTotals(ctx context.Context, lane *api.Client, sp Span) (*write.Intake, Report, error) {
	asked := time.Now()
	counting, asks := api.Counting(ctx)
	r, err := st.AskReport(counting, lane, sp)
	if err != nil {
		n := asks.Take()
		st.Writer.Count(write.Counts{Requests: n})
		return nil, Report{requests: n}, err
	}
	r.requests = asks.Take()
	r.At = st.Source.AnswerTime(r.At)
	r.days = PlaceRows(r.Rows, st.Def.LinesMayVanish)
	st.Source.Metrics.Paged(st.Source.Name, st.Def.Name, sinks.WalkTotals)
	in := st.Writer.Begin(st.Writer.NextWalk(), len(r.Rows))
	in.Counts.Requests, in.Counts.Pages = r.requests, 1
	changed := st.lines.changedDays(sp, r.days, r.Rows)
	present := st.lines.readTotals(in, sp, r.days, r, changed)
	if r.currency != types.Currency {
		in.Drifted([]mapping.DriftItem{{Path: "currency", Kind: mapping.DriftValue, Example: strconv.AppendQuote(nil, r.currency)}}, "", r.At)
	}
	in.Sighted(write.Sighting{From: string(sp.From), To: string(sp.To), Location: sp.Location})
	in.ReleaseUnseen(asked, sp.holds)
	in.AfterTaken = func() { st.lines.rememberDays(sp, changed) }
	if st.Def.LinesMayVanish {
		if err := st.lines.removeLines(ctx, in, sp, r.days, changed, present, r.At); err != nil {
			return nil, r, err
		}
	}
	return in, r, nil
}
