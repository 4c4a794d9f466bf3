package sales

import (
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// hourWeights is how busy a restaurant is by local hour: lunch from 12 to 14,
// dinner from 19 to 22, and a few late tables after midnight.
var hourWeights = [24]int{4, 2, 1, 1, 0, 0, 0, 1, 6, 10, 14, 24, 62, 70, 40, 22, 20, 28, 46, 74, 82, 70, 36, 14}

// dayWeights: weekends are busier; Sunday is 0.
var dayWeights = [7]int{12, 8, 8, 9, 10, 15, 17}

const (
	hourWeightSum = 627
	dayWeightSum  = 79
)

// PerMinute is how many of a location's orders a day are opened in a minute of an hour.
func PerMinute(aDay float64, day time.Weekday, hour int) float64 {
	return aDay * float64(dayWeights[day]) * 7 / dayWeightSum * float64(hourWeights[hour]) / hourWeightSum / 60
}

// History opens count orders over the days before the epoch and lets the events of each
// happen as far as the epoch; later takes the rest.
func (s *Orders) History(count, days int, later func(Event)) {
	s.orders = make([]order, 0, count)
	s.byCreated.Entries = make([]rows.Change, 0, count)
	stamps := make([]rows.Change, 0, count)
	times := s.openingTimes(count, days)
	s.invent.catalogue.Edition()
	var events []Event
	for i, created := range times {
		n := uint32(i)
		g := seeded.New(s.Seed, 3, uint64(n))
		loc := uint8(g.N(len(s.Locations.All)))
		s.orders = append(s.orders, order{created: created, stamp: created, loc: loc, origin: loc})
		s.byCreated.Entries = append(s.byCreated.Entries, rows.Change{Stamp: created, N: n})
		events = s.AppendEvents(events[:0], n)
		s.settle(n, events, later)
		stamps = append(stamps, rows.Change{Stamp: s.orders[n].stamp, N: n})
	}
	slices.SortFunc(stamps, rows.Change.Compare)
	s.changes = rows.Log{Entries: stamps}
}

// settle lets happen what happened to an order of the history up to the epoch.
func (s *Orders) settle(n uint32, events []Event, later func(Event)) {
	o := &s.orders[n]
	for _, e := range events {
		if e.At > s.Epoch {
			later(e)
			continue
		}
		s.apply(o, e)
		o.stamp = s.Precision.Floor(e.At)
	}
	s.count(n, 1)
}

// openingTimes spreads count orders over the days, in order.
func (s *store) openingTimes(count, days int) []int64 {
	if count == 0 || days == 0 {
		return nil
	}
	g := seeded.New(s.Seed, 4)
	last := s.Calendar.Day(s.Epoch)
	first := last - units.Day(days) + 1
	total := 0
	for d := first; d <= last; d++ {
		total += dayWeights[d.Weekday()]
	}
	times := make([]int64, 0, count)
	seen, given := 0, 0
	for d := first; d <= last; d++ {
		seen += dayWeights[d.Weekday()]
		n := count*seen/total - given
		given += n
		from := len(times)
		s.timesOfDay(&g, d, n, &times)
		slices.Sort(times[from:])
	}
	return times
}

// timesOfDay draws n instants of a day by its hours. Those of today that are
// still to come are moved before the epoch.
func (s *store) timesOfDay(g *seeded.RNG, d units.Day, n int, times *[]int64) {
	start, end := s.Calendar.Start(d), s.Calendar.Start(d+1)
	for range n {
		local := int64(g.Pick(hourWeights[:]))*units.Hour + int64(g.N(3_600_000))*1000
		at := start + local
		at += s.Calendar.Offset(start) - s.Calendar.Offset(at) // wall clock, on days with a change too
		if at >= min(end, s.Epoch) || at < start {
			at = start + int64(g.Float()*float64(min(end, s.Epoch)-start))
		}
		*times = append(*times, s.Precision.Floor(at))
	}
}
