package proof

import (
	"maps"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/schedule"
)

// MaxRange is the longest date range the service answers, in days (api.md, "Limits").
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

// Days are the days of the span.
func (sp Span) Days() []types.Date {
	var days []types.Date
	for day := sp.From; day <= sp.To; {
		days = append(days, day)
		next, err := schedule.AddDays(day, 1)
		if err != nil || len(days) > 2*MaxRange {
			break
		}
		day = next
	}
	return days
}

// ranges cuts a span into such as the service answers.
func ranges(sp Span) []Span {
	var all []Span
	for from := sp.From; from <= sp.To; {
		to, err := schedule.AddDays(from, MaxRange-1)
		if err != nil {
			return append(all, Span{from, sp.To, sp.Location})
		}
		all = append(all, Span{from, min(to, sp.To), sp.Location})
		if from, err = schedule.AddDays(to, 1); err != nil {
			return all
		}
	}
	return all
}

// Covering returns the fewest ranges that cover the days, each no longer than the service
// answers.
func Covering(places []Span) []Span {
	byLocation := map[string][]types.Date{}
	for _, p := range places {
		byLocation[p.Location] = append(byLocation[p.Location], p.From)
	}
	var spans []Span
	for _, location := range slices.Sorted(maps.Keys(byLocation)) {
		days := byLocation[location]
		slices.Sort(days)
		for len(days) > 0 {
			reach, err := schedule.AddDays(days[0], MaxRange-1)
			if err != nil {
				reach = days[0]
			}
			n := slices.IndexFunc(days, func(day types.Date) bool { return day > reach })
			if n < 0 {
				n = len(days)
			}
			spans = append(spans, Span{days[0], days[n-1], location})
			days = days[n:]
		}
	}
	return spans
}
