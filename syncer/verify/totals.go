package verify

import (
	"context"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/reconcile"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/totals"
)

// totalsCheck verifies a stream of totals.
type totalsCheck struct {
	*verification
	totals  *reconcile.Proofs
	stalest totals.Span // the days of stale rows, first to last
}

// verify verifies the service's own totals: the days that were asked for are asked
// again, in the longest ranges that the service answers. What differs of a range is
// looked at again before the next one is asked for; a visitor waits for another
// process's turns, and does so once for all.
func (v *totalsCheck) verify(ctx context.Context) error {
	spans, err := v.totals.TotalSpans(ctx)
	if err != nil {
		return err
	}
	for _, sp := range spans {
		if err := v.compareSpan(ctx, sp); err != nil {
			return err
		}
		if v.visiting {
			continue
		}
		if err := v.daysAgain(ctx); err != nil {
			return err
		}
	}
	v.mu.Lock()
	n := v.compared
	v.mu.Unlock()
	v.ended(n)
	return v.daysAgain(ctx)
}

// daysAgain looks again at the suspects so far.
func (v *totalsCheck) daysAgain(ctx context.Context) error {
	err := v.again(ctx, opinion{ask: v.askDays, pass: v.storeDays})
	clear(v.suspects)
	clear(v.aside)
	return err
}

// compareSpan compares the lines of one range of days.
func (v *totalsCheck) compareSpan(ctx context.Context, sp totals.Span) error {
	if v.totals.NotAskedFor(sp.Location) {
		return nil
	}
	lines, err := v.askSpan(ctx, sp)
	if err != nil {
		return err
	}
	v.took(len(lines.rows), 0)
	if err := v.compareRows(ctx, lines.rows, lines.place, v.stale); err != nil {
		return err
	}
	for _, prefix := range months(sp) {
		if err := v.totals.EachLive(ctx, prefix, v.pass.limits.Page, func(id string) {
			day := v.dayOfLine(id, sp.Location)
			place := totals.Span{From: day, To: day, Location: sp.Location}
			if _, shown := lines.rows[id]; shown || !sp.Covers(day) || lines.unplaced[day] {
				return
			}
			if !v.stale(id, wholeRow(absent, "live"), place) {
				v.suspect(&suspect{id: id, extra: true, place: place})
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// dayOfLine is the day of a stored line, empty when it is another location's.
func (v *totalsCheck) dayOfLine(id, location string) types.Date {
	day, of := v.totals.LocationOf(id)
	if of != location {
		return ""
	}
	return day
}

// months are the months of a span, as "2006-01-": the ids of its rows begin with them.
func months(sp totals.Span) []string {
	var all []string
	for _, day := range sp.Days() {
		if month := string(day[:len("2006-01-")]); !slices.Contains(all, month) {
			all = append(all, month)
		}
	}
	return all
}

// lines are what the service says of a span.
type lines struct {
	rows     map[string]answer
	days     map[string]types.Date // by id
	location string
	unplaced map[types.Date]bool // days with a line that cannot be told apart
}

func (l lines) place(id string) totals.Span {
	return totals.Span{From: l.days[id], To: l.days[id], Location: l.location}
}

// askSpan asks for a span. Lines of other days than were asked for are in
// quarantine, and days without anything need not be stored.
func (v *totalsCheck) askSpan(ctx context.Context, sp totals.Span) (lines, error) {
	st := v.totals
	l := lines{rows: map[string]answer{}, days: map[string]types.Date{}, location: sp.Location, unplaced: map[types.Date]bool{}}
	r, err := st.AskReport(ctx, st.Source.Lanes.Backfill, sp)
	if err != nil {
		return l, err
	}
	wanted := slices.Contains(st.Asked(), sp.Location)
	for i, row := range totals.PlaceRows(r.Rows, st.Def.LinesMayVanish) {
		if !sp.Covers(row.Date) || row.Unplaced {
			l.unplaced[row.Date] = true
			continue
		}
		id := st.LineID(row, sp.Location)
		l.days[id] = row.Date
		l.rows[id] = answer{
			raw: r.Rows[i], row: v.shape.Read(r.Rows[i]), context: v.lineContext(sp.Location),
			optional: !wanted || !st.Def.LinesMayVanish && row.Empty(),
		}
	}
	return l, nil
}

// lineContext are the columns that are not in a line.
func (v *totalsCheck) lineContext(location string) map[string]string {
	if location == "" {
		return map[string]string{"location_id": "null"}
	}
	return map[string]string{"location_id": textJSON(location)}
}

// spansOf are the ranges in which the days of suspects are asked for.
func spansOf(all []*suspect) []totals.Span {
	places := make([]totals.Span, len(all))
	for i, s := range all {
		places[i] = s.place
	}
	return totals.Covering(places)
}

// askDays asks for the days of the suspects anew.
func (v *totalsCheck) askDays(ctx context.Context, all []*suspect) error {
	for _, s := range all {
		s.answer = answer{elsewhere: v.totals.NotAskedFor(s.place.Location)}
	}
	for _, sp := range spansOf(all) {
		if v.totals.NotAskedFor(sp.Location) {
			continue
		}
		lines, err := v.askSpan(ctx, sp)
		if err != nil {
			return err
		}
		for _, s := range all {
			if s.place.Location == sp.Location && sp.Covers(s.place.From) {
				s.answer = lines.rows[s.id].own()
			}
		}
	}
	return nil
}

// storeDays stores the days of the suspects as they are now.
func (v *totalsCheck) storeDays(ctx context.Context, all []*suspect) error {
	st := v.totals
	if v.visiting {
		return v.othersWalk(ctx, schedule.Reconcile)
	}
	for _, sp := range spansOf(all) {
		err := st.Exclusive(ctx, st.Guard, func(ctx context.Context) error {
			if st.NotAskedFor(sp.Location) {
				return nil
			}
			in, _, err := st.AskTotals(ctx, st.Source.Lanes.Reconcile, sp)
			if err != nil || in.Empty() {
				return err
			}
			return st.Writer.Store(ctx, in)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
