package syncer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/write"
)

// totalsMemory is what a stream of totals knows of the days it has stored.
type totalsMemory struct {
	stored sinks.Checkpoint  // of the way back; Position is a position
	days   map[string]uint64 // by dayKey: what the day's rows were
	// settled: the end of the way back has been compared with the first order.
	settled bool
	// again are the ranges that the full resync under way has asked for; guarded by filler.
	again map[span]bool
	// againSince is when it began, passedBy that a closed location was left out of it.
	againSince time.Time
	passedBy   bool
	againAsked uint64 // how many that were, of all resyncs
}

// report is an answer of a totals route: rows of days.
type report struct {
	rows [][]byte
	days []dayRow // of which day, and line, each row is
	at   time.Time
}

// span is a range of days, inclusive, of one location or of all (empty).
type span struct {
	from, to api.Date
	location string
}

// totalsRecent asks for yesterday and today, and looks whether the way back is at
// its end.
func (st *totals) totalsRecent(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		return st.askRecent(ctx, &bracket{totals: st, silent: true})
	})
}

func (st *totals) askRecent(ctx context.Context, b *bracket) error {
	if err := st.totalsBack(ctx, b, 1, st.asked()); err != nil {
		return err
	}
	return st.reopen(ctx)
}

// recent is true when a day is asked for at every turn: yesterday and today.
func (st *totals) recent(day api.Date) bool {
	yesterday, err := calendar.AddDays(calendar.DayOf(st.source.serviceNow()), -1)
	return err == nil && day >= yesterday
}

// deepLocations are the locations asked for, and each location where the stream tells
// them apart.
func (st *totals) deepLocations() []string {
	locations := st.asked()
	if st.def.PerLocation && slices.Contains(locations, "") {
		locations = append(locations, st.source.identity().locations...)
	}
	return locations
}

// openPlaces are those of them that the service answers for.
func (st *totals) openPlaces() []string { return st.open(st.deepLocations()) }

// totalsBack asks for the days from n before today to today. A location that is
// refused holds up no other.
func (st *totals) totalsBack(ctx context.Context, b *bracket, n int, locations []string) error {
	today := calendar.DayOf(st.source.serviceNow())
	from, err := calendar.AddDays(today, -n)
	if err != nil {
		return err
	}
	var refused error
	for _, l := range locations {
		err := b.ask(ctx, b.lane(), span{from: from, to: today, location: l})
		switch {
		case err == nil, st.unlessClosed(l, err) == nil:
		case refuses(l, err):
			refused = errors.Join(refused, err)
		default:
			return err
		}
	}
	return refused
}

// refuses tells that the service refuses one location, and may answer for others.
func refuses(location string, err error) bool {
	return location != "" && (api.IsLocationForbidden(err) || api.IsNotFound(err))
}

// askReport asks for the rows of a span.
func (st *totals) askReport(ctx context.Context, lane *api.Client, sp span) (report, error) {
	rows, at, err := st.def.Totals(ctx, lane, api.SalesQuery{From: sp.from, To: sp.to, LocationID: sp.location})
	return report{rows: rows, at: at}, err
}

// askTotals asks for a span and reads the days that have changed.
func (st *totals) askTotals(ctx context.Context, lane *api.Client, sp span) (*write.Intake, report, error) {
	asked := time.Now()
	r, err := st.askReport(ctx, lane, sp)
	if err != nil {
		return nil, report{}, err
	}
	r.at = st.source.at(r.at)
	r.days = placeRows(r.rows, st.def.Vanish)
	st.source.metrics.paged(st.source.name, st.def.Name, sinks.WalkTotals)
	in := st.writer.Begin(st.writer.NextWalk(), len(r.rows))
	in.Counts.Requests, in.Counts.Pages = 1, 1
	changed := st.changedDays(sp, r.days, r.rows)
	present := st.readTotals(in, sp, r.days, r, changed)
	in.Sighted(write.Sighting{From: string(sp.from), To: string(sp.to), Location: sp.location})
	in.ReleaseUnseen(asked, sp.holds)
	in.AfterTaken = func() { st.rememberDays(sp.location, changed) }
	if st.def.Vanish {
		if err := st.buryLines(ctx, in, r.days, changed, present, r.at); err != nil {
			return nil, report{}, err
		}
	}
	return in, r, nil
}
