package world

import (
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// timeline moves a restaurant in time. Every change gets the stamp of its own instant, and
// nobody is served in between, so the order of change holds whatever the steps are.
type timeline struct {
	*Business
	perDay float64 // orders a day opens
	upkeep bool
	events Queue[event] // by the instant at which they show
	minute int64        // the first minute whose orders are not drawn yet
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
func (t *timeline) advance(now int64) {
	for m := units.FloorDiv(now, units.Minute); t.minute <= m; t.minute++ {
		t.runEvents(t.minute*units.Minute - 1)
		t.drawMinute(t.minute)
	}
	t.runEvents(now)
}

// idle is true when advance would do nothing.
func (t *timeline) idle(now int64) bool {
	next, ok := t.events.Next()
	return units.FloorDiv(now, units.Minute) < t.minute && (!ok || next > now)
}

func (t *timeline) runEvents(until int64) {
	for {
		e, ok := t.events.Due(until)
		if !ok {
			return
		}
		t.happen(e)
	}
}

// push schedules an event, shown up to StampDelay after its stamp.
func (t *timeline) push(e event) {
	show := e.at
	if d := t.common.Readings.StampDelay.Microseconds(); d > 0 {
		g := seeded.New(t.Seed(), 7, uint64(e.at), uint64(e.n), uint64(e.kind))
		show += int64(g.Float() * float64(d))
	}
	t.events.Add(show, e)
}

func (t *timeline) pushOrder(e sales.Event) { t.push(event{at: e.At, kind: eventKind(e.Kind), n: e.N}) }

// drawMinute decides which orders are opened in a minute, and now and then that
// something is sold out or delivered.
func (t *timeline) drawMinute(m int64) {
	at := m * units.Minute
	local := t.common.Calendar.MinuteOfDay(at)
	rate := sales.PerMinute(t.perDay/float64(len(t.locations.All)), t.common.Calendar.Day(at).Weekday(), local/60)
	products := len(t.catalogue.Products.Rows)
	for loc, place := range t.locations.All {
		if !place.Active {
			continue
		}
		g := seeded.New(t.Seed(), 8, uint64(m), uint64(loc))
		count := int(rate + g.Float())
		for range count {
			t.push(event{at: at + int64(g.N(60_000))*1000, kind: evOpen, loc: uint8(loc)})
		}
		if local == deliveryMinute {
			t.push(event{at: at, kind: evDelivery, loc: uint8(loc)})
		}
		if t.upkeep {
			t.keepUp(m, loc)
			continue
		}
		if products > 0 && t.perDay > 0 && g.N(240) == 0 {
			n := uint32(g.N(products))
			t.push(event{at: at, kind: evSoldOut, n: n})
			t.push(event{at: at + int64(g.Between(30, 300))*units.Minute, kind: evBack, n: n})
		}
	}
}

// happen carries out one event.
func (t *timeline) happen(e event) {
	stamp, loc := t.common.Precision.Floor(e.at), int(e.loc)
	switch e.kind {
	case evOpen:
		for _, later := range t.sales.AppendEvents(nil, t.sales.Open(stamp, stamp, loc)) {
			t.pushOrder(later)
		}
	case evDelivery:
		t.stock.Deliver(loc, stamp)
	case evCount:
		t.stock.Count(loc, stamp)
	case evPrice:
		t.catalogue.Reprice(loc, stamp)
	case evSoldOut, evBack:
		t.catalogue.Offer(e.n, e.kind == evBack, stamp)
	default:
		if t.sales.Happen(sales.Event{At: e.at, Kind: sales.Kind(e.kind), N: e.n}, stamp) {
			t.drawStock(e.n, stamp)
		}
	}
}
