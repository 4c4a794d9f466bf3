package world

import (
	"github.com/larder-sync/larder/internal/sandbox/queue"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// timeline moves a restaurant in time. Every change gets the stamp of its own instant, and nobody
// is served in between, so the order of change holds whatever the steps are.
type timeline struct {
	*Business
	perDay float64 // orders a day opens
	upkeep bool
	events queue.Timed[event] // by the instant at which they show
	minute int64              // the first minute whose orders are not drawn yet
}

func newTimeline(b *Business, perDay float64, upkeep bool) *timeline {
	return &timeline{Business: b, perDay: perDay, upkeep: upkeep, minute: units.FloorDiv(b.common.Epoch, units.Minute) + 1}
}

// eventKind is what happens in a restaurant as time passes. Its number is part of what is
// drawn; those between evOpen and evDelivery are the kinds of sales.Event.
type eventKind uint8

const (
	evOpen     eventKind = 0
	evDelivery           = eventKind(sales.Delete) + iota
	evSoldOut
	evBack
	evCount
	evPrice
)

// event happens at an instant to an order, or to row n of a location.
type event struct {
	at   int64
	kind eventKind
	loc  uint8
	n    uint32
}

// advance moves the restaurant up to an instant.
func (l *timeline) advance(now int64) {
	for m := units.FloorDiv(now, units.Minute); l.minute <= m; l.minute++ {
		l.runEvents(l.minute*units.Minute - 1)
		l.drawMinute(l.minute)
	}
	l.runEvents(now)
}

// idle tells whether advance would do nothing.
func (l *timeline) idle(now int64) bool {
	next, ok := l.events.Next()
	return units.FloorDiv(now, units.Minute) < l.minute && (!ok || next > now)
}

func (l *timeline) runEvents(until int64) {
	for {
		e, ok := l.events.Due(until)
		if !ok {
			return
		}
		l.happen(e)
	}
}

// push schedules an event, shown up to StampDelay after its stamp.
func (l *timeline) push(e event) {
	show := e.at
	if d := l.common.Readings.StampDelay.Microseconds(); d > 0 {
		g := seeded.New(l.Seed(), 7, uint64(e.at), uint64(e.n), uint64(e.kind))
		show += int64(g.Float() * float64(d))
	}
	l.events.Add(show, e)
}

func (l *timeline) pushOrder(e sales.Event) { l.push(event{at: e.At, kind: eventKind(e.Kind), n: e.N}) }

// drawMinute decides which orders are opened in a minute, and now and then that
// something is sold out or delivered.
func (l *timeline) drawMinute(m int64) {
	at := m * units.Minute
	local := l.common.Calendar.MinuteOfDay(at)
	rate := sales.PerMinute(l.perDay/float64(len(l.locations.All)), l.common.Calendar.Day(at).Weekday(), local/60)
	products := len(l.catalogue.Products.Rows)
	for loc, place := range l.locations.All {
		if !place.Active {
			continue
		}
		g := seeded.New(l.Seed(), 8, uint64(m), uint64(loc))
		count := int(rate + g.Float())
		for range count {
			l.push(event{at: at + int64(g.N(60_000))*1000, kind: evOpen, loc: uint8(loc)})
		}
		if local == deliveryMinute {
			l.push(event{at: at, kind: evDelivery, loc: uint8(loc)})
		}
		if l.upkeep {
			l.keepUp(m, loc)
			continue
		}
		if products > 0 && l.perDay > 0 && g.N(240) == 0 {
			n := uint32(g.N(products))
			l.push(event{at: at, kind: evSoldOut, n: n})
			l.push(event{at: at + int64(g.Between(30, 300))*units.Minute, kind: evBack, n: n})
		}
	}
}

// happen carries out one event.
func (l *timeline) happen(e event) {
	stamp, loc := l.common.Precision.Floor(e.at), int(e.loc)
	switch e.kind {
	case evOpen:
		for _, later := range l.sales.AppendEvents(nil, l.sales.Open(stamp, stamp, loc)) {
			l.pushOrder(later)
		}
	case evDelivery:
		l.stock.Deliver(loc, stamp)
	case evCount:
		l.stock.Count(loc, stamp)
	case evPrice:
		l.catalogue.Reprice(loc, stamp)
	case evSoldOut, evBack:
		l.catalogue.Offer(e.n, e.kind == evBack, stamp)
	default:
		if l.sales.Happen(sales.Event{At: e.at, Kind: sales.Kind(e.kind), N: e.n}, stamp) {
			l.sold(e.n, stamp)
		}
	}
}
