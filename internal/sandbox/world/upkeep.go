package world

import (
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// What a restaurant's people do beside selling, in a world with Options.Upkeep: they count
// stock and change prices, suppliers come on days of their own, and what is sold out in the
// evening is back after the morning's delivery.

const (
	countMinute    = 6*60 + 30
	deliveryMinute = 7*60 + 30
	priceMinute    = 10*60 + 30
)

// keepUp decides what is done in a minute at a location.
func (t *timeline) keepUp(m int64, loc int) {
	at := m * units.Minute
	local, weekday := t.common.Calendar.MinuteOfDay(at), t.common.Calendar.Day(at).Weekday()
	g := seeded.New(t.Seed(), 15, uint64(m), uint64(loc))
	switch {
	case local == countMinute && weekday == time.Monday:
		t.push(event{at: at, kind: evCount, loc: uint8(loc)})
	case local == priceMinute && g.Chance(220):
		t.push(event{at: at, kind: evPrice, loc: uint8(loc)})
	case local >= 12*60 && local < 22*60 && g.N(240) == 0 && t.perDay > 0:
		t.runOut(&g, at, loc)
	}
}

// runOut sells out a product of a location: at noon for an hour or some, in the evening
// until the next delivery.
func (t *timeline) runOut(g *seeded.RNG, at int64, loc int) {
	here := t.catalogue.At(loc)
	if len(here) == 0 {
		return
	}
	n := here[g.N(len(here))].N
	back := at + int64(g.Between(45, 200))*units.Minute
	if day := t.common.Calendar.Day(at); t.common.Calendar.MinuteOfDay(at) >= 18*60 {
		back = t.common.Calendar.Start(day+1) + int64(deliveryMinute+g.Between(5, 25))*units.Minute
	}
	t.push(event{at: at, kind: evSoldOut, n: n})
	t.push(event{at: back, kind: evBack, n: n})
}
