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
func (st *stream) totalsRecent(ctx context.Context) error {
	return st.attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		return st.askRecent(ctx, &bracket{stream: st, silent: true})
	})
}

func (st *stream) askRecent(ctx context.Context, b *bracket) error {
	if err := st.totalsBack(ctx, b, 1, st.wantedNow()); err != nil {
		return err
	}
	return st.reopen(ctx)
}

// deepLocations are the locations asked for, and each location where the stream tells
// them apart.
func (st *stream) deepLocations() []string {
	locations := st.wantedNow()
	if st.def.PerLocation && slices.Contains(locations, "") {
		locations = append(locations, st.source.activeLocations()...)
	}
	return locations
}

// openPlaces are those of them that the service answers for.
func (st *stream) openPlaces() []string {
	closed := st.source.identity().inactive
	return slices.DeleteFunc(st.deepLocations(), func(l string) bool { return slices.Contains(closed, l) })
}

// totalsBack asks for the days from n before today to today. A location that is
// refused holds up no other.
func (st *stream) totalsBack(ctx context.Context, b *bracket, n int, locations []string) error {
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

// wantedNow are the locations asked for; one empty id is all of them together.
func (st *stream) wantedNow() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return append([]string(nil), st.locations...)
}

func (s *source) activeLocations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.key.locations...)
}

// askReport asks for the rows of a span.
func (st *stream) askReport(ctx context.Context, lane *api.Client, sp span) (report, error) {
	rows, at, err := st.def.Totals(ctx, lane, api.SalesQuery{From: sp.from, To: sp.to, LocationID: sp.location})
	return report{rows: rows, at: at}, err
}

// askTotals asks for a span and reads the days that have changed.
func (st *stream) askTotals(ctx context.Context, lane *api.Client, sp span) (*write.Intake, report, error) {
	asked := time.Now()
	r, err := st.askReport(ctx, lane, sp)
	if err != nil {
		return nil, report{}, err
	}
	r.at = st.source.at(r.at)
	r.days = placeRows(r.rows, st.def.Vanish)
	st.source.syncer.metrics.pages.WithLabelValues(st.source.cfg.Name, st.def.Name, sinks.WalkTotals).Inc()
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
