package world

import (
	"slices"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
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

// makeHistory opens count orders over the days before the epoch and lets the
// events of each happen as far as the epoch.
func (b *Business) makeHistory(count, days int) {
	b.orders = make([]order, 0, count)
	b.byCreated.entries = make([]change, 0, count)
	times := b.openingTimes(count, days)
	b.currentMenu()
	stamps := make([]change, 0, count)
	for _, created := range times {
		place := seeded.New(b.seed, 3, uint64(len(b.orders)))
		loc := place.N(len(b.locations))
		n := uint32(len(b.orders))
		b.orders = append(b.orders, order{created: created, stamp: created, menu: 0, loc: uint8(loc), origin: uint8(loc)})
		b.byCreated.entries = append(b.byCreated.entries, change{created, n})
		b.settle(n)
		stamps = append(stamps, change{b.orders[n].stamp, n})
	}
	slices.SortFunc(stamps, func(a, b change) int {
		if a.less(b) {
			return -1
		}
		return 1
	})
	b.changes = changeLog{entries: stamps}
}

// settle lets happen what happened to an order of the history up to the epoch;
// the rest waits for the world to move.
func (b *Business) settle(n uint32) {
	f := b.eventsOf(n)
	o := &b.orders[n]
	for i, e := range f.events[:f.count] {
		if e.at > b.epoch {
			for _, later := range f.events[i:f.count] {
				b.push(later)
			}
			break
		}
		b.apply(o, e)
		o.stamp = b.trunc(e.at)
	}
	if o.counts() {
		b.countOrder(n, 1)
	}
}

// openingTimes spreads count orders over the days, in order.
func (b *Business) openingTimes(count, days int) []int64 {
	if count == 0 || days == 0 {
		return nil
	}
	g := seeded.New(b.seed, 4)
	last := b.cal.Day(b.epoch)
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
		b.timesOfDay(&g, d, n, &times)
		slices.Sort(times[from:])
	}
	return times
}

// timesOfDay draws n instants of a day by its hours. Those of today that are
// still to come are moved before the epoch.
func (b *Business) timesOfDay(g *seeded.RNG, d units.Day, n int, times *[]int64) {
	start, end := b.cal.Start(d), b.cal.Start(d+1)
	for range n {
		local := int64(g.Pick(hourWeights[:]))*units.Hour + int64(g.N(3_600_000))*1000
		at := start + local
		at += b.cal.Offset(start) - b.cal.Offset(at) // wall clock, on days with a change too
		if at >= min(end, b.epoch) || at < start {
			at = start + int64(g.Float()*float64(min(end, b.epoch)-start))
		}
		*times = append(*times, b.trunc(at))
	}
}
