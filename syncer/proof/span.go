package proof

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/write"
)

// MaxRange is the longest date range the service answers, in days (api.md, "Limits").
const MaxRange = 92

// Span is a range of days, inclusive, of one location or of all (empty).
type Span struct {
	From, To types.Date
	Location string
}

// holds reports whether the span covers the place and the days of a sighting.
func (sp Span) holds(s write.Sighting) bool {
	return s.From != "" && s.Location == sp.Location && string(sp.From) <= s.From && s.To <= string(sp.To)
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

// TotalSpans are the ranges to ask for: of what the stream is asked for, all days back to where
// its backfill has ended; of single locations beside that, the days that are stored.
func (st *Totals) TotalSpans(ctx context.Context) ([]Span, error) {
	_, at := st.back.now()
	reached := at.To
	if at.Until != "" { // a full resync is under way, or has ended
		reached = min(reached, at.Until)
	}
	first, err := schedule.AddDays(reached, 1)
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
