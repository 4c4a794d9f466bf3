package syncer

import (
	"context"
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/schedule"
)

// verifyTotals verifies a stream of totals.
type verifyTotals struct {
	*verification
	totals  *totals
	stalest span // the days of stale rows, first to last
}

// verify verifies the service's own totals: the days that were asked for are asked
// again, in the longest ranges that the service answers. What differs of a range is
// looked at again before the next one is asked for; a visitor waits for another
// process's turns, and does so once for all.
func (v *verifyTotals) verify(ctx context.Context) error {
	spans, err := v.totals.totalSpans(ctx)
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
func (v *verifyTotals) daysAgain(ctx context.Context) error {
	err := v.again(ctx, opinion{ask: v.askDays, pass: v.storeDays})
	clear(v.suspects)
	clear(v.aside)
	return err
}

// compareSpan compares the lines of one range of days.
func (v *verifyTotals) compareSpan(ctx context.Context, sp span) error {
	if v.totals.notAskedFor(sp.location) {
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
		if err := v.totals.eachLive(ctx, prefix, v.pass.limits.page, func(id string) {
			day := v.dayOfLine(id, sp.location)
			place := span{day, day, sp.location}
			if _, shown := lines.rows[id]; shown || !sp.covers(day) || lines.unplaced[day] {
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
func (v *verifyTotals) dayOfLine(id, location string) api.Date {
	day, rest, _ := strings.Cut(id, "/")
	if v.stream.def.PerLocation && rest != location {
		return ""
	}
	return api.Date(day)
}

// months are the beginnings of the ids of a span.
func months(sp span) []string {
	var all []string
	for _, day := range sp.days() {
		if month := string(day[:len("2006-01-")]); !slices.Contains(all, month) {
			all = append(all, month)
		}
	}
	return all
}

// lines are what the service says of a span.
type lines struct {
	rows     map[string]told
	days     map[string]api.Date // by id
	location string
	unplaced map[api.Date]bool // days with a line that cannot be told apart
}

func (l lines) place(id string) span { return span{l.days[id], l.days[id], l.location} }

// askSpan asks for a span. Lines of other days than were asked for are in
// quarantine, and days without anything need not be stored.
func (v *verifyTotals) askSpan(ctx context.Context, sp span) (lines, error) {
	st := v.totals
	l := lines{rows: map[string]told{}, days: map[string]api.Date{}, location: sp.location, unplaced: map[api.Date]bool{}}
	r, err := st.askReport(ctx, st.source.lanes.backfill, sp)
	if err != nil {
		return l, err
	}
	wanted := slices.Contains(st.asked(), sp.location)
	for i, row := range placeRows(r.rows, st.def.Vanish) {
		if !sp.covers(row.Date) || row.unplaced {
			l.unplaced[row.Date] = true
			continue
		}
		id := st.lineID(row, sp.location)
		l.days[id] = row.Date
		l.rows[id] = told{
			raw: r.rows[i], row: v.shape.Read(r.rows[i]), context: v.lineContext(sp.location),
			optional: !wanted || !st.def.Vanish && row.empty(),
		}
	}
	return l, nil
}

// lineContext are the columns that are not in a line.
func (v *verifyTotals) lineContext(location string) map[string]string {
	if !v.stream.def.PerLocation {
		return nil
	}
	if location == "" {
		return map[string]string{"location_id": "null"}
	}
	return map[string]string{"location_id": textJSON(location)}
}

// spansOf are the ranges in which the days of suspects are asked for.
func spansOf(all []*suspect) []span {
	places := make([]span, len(all))
	for i, s := range all {
		places[i] = s.place
	}
	return covering(places)
}

// askDays asks for the days of the suspects anew.
func (v *verifyTotals) askDays(ctx context.Context, all []*suspect) error {
	for _, s := range all {
		s.told = told{elsewhere: v.totals.notAskedFor(s.place.location)}
	}
	for _, sp := range spansOf(all) {
		if v.totals.notAskedFor(sp.location) {
			continue
		}
		lines, err := v.askSpan(ctx, sp)
		if err != nil {
			return err
		}
		for _, s := range all {
			if s.place.location == sp.location && sp.covers(s.place.from) {
				s.told = lines.rows[s.id].own()
			}
		}
	}
	return nil
}

// storeDays stores the days of the suspects as they are now.
func (v *verifyTotals) storeDays(ctx context.Context, all []*suspect) error {
	st := v.totals
	if v.visiting {
		return v.othersWalk(ctx, schedule.Reconcile)
	}
	for _, sp := range spansOf(all) {
		err := st.exclusive(ctx, st.guard, func(ctx context.Context) error {
			if st.notAskedFor(sp.location) {
				return nil
			}
			in, _, err := st.askTotals(ctx, st.source.lanes.reconcile, sp)
			if err != nil || in.Empty() {
				return err
			}
			return st.writer.Store(ctx, in)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
