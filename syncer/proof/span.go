package proof

import (
	"cmp"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/schedule"
)

// MaxRange is the longest date range the service answers, in days (docs/openapi.yaml, to).
const MaxRange = 92

// Span is a range of days, inclusive, of one location or of all (empty).
type Span struct {
	From, To types.Date
	Location string
}

// Covers reports whether a day lies within the span.
func (sp Span) Covers(day types.Date) bool {
	return len(day) == len(time.DateOnly) && sp.From <= day && day <= sp.To
}

// addDays returns the day n days after another; the last of all where that is not a valid date.
func addDays(day types.Date, n int) types.Date {
	after, err := schedule.AddDays(day, n)
	if err != nil {
		return "9999-12-31"
	}
	return after
}

// Days are the days of the span.
func (sp Span) Days() (days []types.Date) {
	for day := sp.From; day <= sp.To; day = addDays(day, 1) {
		days = append(days, day)
	}
	return days
}

// ranges cuts a span into such as the service answers.
func ranges(sp Span) (all []Span) {
	for from := sp.From; from <= sp.To; from = addDays(from, MaxRange) {
		all = append(all, Span{from, min(addDays(from, MaxRange-1), sp.To), sp.Location})
	}
	return all
}

// Covering returns the fewest ranges that cover single days, each no longer than the service answers.
func Covering(days []Span) (spans []Span) {
	slices.SortFunc(days, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.From, b.From))
	})
	for _, day := range days {
		if n := len(spans) - 1; n >= 0 && spans[n].Location == day.Location && day.To <= addDays(spans[n].From, MaxRange-1) {
			spans[n].To = day.To
		} else {
			spans = append(spans, day)
		}
	}
	return spans
}

// TotalSpans are the ranges to verify: all days back to where the backfill has ended; of single locations,
// beside all of them together, the days that deep runs and full resyncs ask for.
func (st *Totals) TotalSpans() (spans []Span) {
	_, at := st.filledTo()
	for _, l := range st.deepLocations() {
		spans = append(spans, ranges(Span{st.since(addDays(at.reached(), 1), l, at), st.shared.today(), l})...)
	}
	return spans
}

// since is the first day, from the given one on, that the totals of a location are asked for.
func (st *Totals) since(day types.Date, location string, at position) types.Date {
	if slices.Contains(st.Asked(), location) {
		return day
	}
	return max(day, at.Single)
}
