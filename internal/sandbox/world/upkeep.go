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
func (l *timeline) keepUp(m int64, loc int) {
	at := m * units.Minute
	local, weekday := l.common.Calendar.MinuteOfDay(at), l.common.Calendar.Day(at).Weekday()
	g := seeded.New(l.Seed(), 15, uint64(m), uint64(loc))
	switch {
	case local == countMinute && weekday == time.Monday:
		l.push(event{at: at, kind: evCount, loc: uint8(loc)})
	case local == priceMinute && g.Chance(220):
		l.push(event{at: at, kind: evPrice, loc: uint8(loc)})
	case local >= 12*60 && local < 22*60 && g.N(240) == 0 && l.perDay > 0:
		l.runOut(&g, at, loc)
	}
}

// runOut sells out a product of a location: at noon for an hour or some, in the evening
// until the next delivery.
func (l *timeline) runOut(g *seeded.RNG, at int64, loc int) {
	here := l.catalogue.At(loc)
	if len(here) == 0 {
		return
	}
	n := here[g.N(len(here))].N
	back := at + int64(g.Between(45, 200))*units.Minute
	if day := l.common.Calendar.Day(at); l.common.Calendar.MinuteOfDay(at) >= 18*60 {
		back = l.common.Calendar.Start(day+1) + int64(deliveryMinute+g.Between(5, 25))*units.Minute
	}
	l.push(event{at: at, kind: evSoldOut, n: n})
	l.push(event{at: back, kind: evBack, n: n})
}
