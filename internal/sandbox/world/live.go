package world

import (
	"container/heap"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// eventQueue is a heap by the instant at which events show.
type eventQueue struct {
	heap eventHeap
	seq  uint32
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].show < h[j].show || h[i].show == h[j].show && h[i].seq < h[j].seq
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is heap.Interface's.
func (h *eventHeap) Push(x any) { *h = append(*h, x.(event)) }

// Pop is heap.Interface's.
func (h *eventHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (q *eventQueue) push(e event) {
	if e.show == 0 {
		e.show = e.at
	}
	q.seq++
	e.seq = q.seq
	heap.Push(&q.heap, e)
}

// advance moves the restaurant up to an instant. Every change gets the stamp of
// its own instant, and nobody was served in between, so the order of change
// holds whatever the steps are.
func (b *Business) advance(now int64) {
	for m := units.FloorDiv(now, units.Minute); b.minute <= m; b.minute++ {
		b.runEvents(b.minute*units.Minute - 1)
		b.drawMinute(b.minute)
	}
	b.runEvents(now)
}

// idle tells whether advance would do nothing.
func (b *Business) idle(now int64) bool {
	return units.FloorDiv(now, units.Minute) < b.minute && (len(b.events.heap) == 0 || b.events.heap[0].show > now)
}

func (b *Business) runEvents(until int64) {
	for len(b.events.heap) > 0 && b.events.heap[0].show <= until {
		e := heap.Pop(&b.events.heap).(event)
		b.happen(e)
	}
}

// push schedules an event, shown up to StampDelay after its stamp.
func (b *Business) push(e event) {
	if d := b.readings.StampDelay.Microseconds(); d > 0 {
		g := seeded.New(b.seed, 7, uint64(e.at), uint64(e.n), uint64(e.kind))
		e.show = e.at + int64(g.Float()*float64(d))
	}
	b.events.push(e)
}

// drawMinute decides which orders are opened in a minute, and now and then that
// something is sold out or delivered.
func (b *Business) drawMinute(m int64) {
	at := m * units.Minute
	local := b.cal.MinuteOfDay(at)
	rate := b.perDay / float64(len(b.locations)) * float64(dayWeights[b.cal.Day(at).Weekday()]) * 7 / dayWeightSum *
		float64(hourWeights[local/60]) / hourWeightSum / 60
	for loc, l := range b.locations {
		if !l.active {
			continue
		}
		g := seeded.New(b.seed, 8, uint64(m), uint64(loc))
		count := int(rate + g.Float())
		for range count {
			b.push(event{at: at + int64(g.N(60_000))*1000, kind: evOpen, loc: uint8(loc)})
		}
		if local == deliveryMinute {
			b.push(event{at: at, kind: evDelivery, loc: uint8(loc)})
		}
		if b.upkeep {
			b.keepUp(m, loc)
			continue
		}
		if len(b.products.rows) > 0 && b.perDay > 0 && g.N(240) == 0 {
			n := uint32(g.N(len(b.products.rows)))
			b.push(event{at: at, kind: evSoldOut, n: n})
			b.push(event{at: at + int64(g.Between(30, 300))*units.Minute, kind: evBack, n: n})
		}
	}
}

// happen carries out one event.
func (b *Business) happen(e event) {
	stamp := b.trunc(e.at)
	switch e.kind {
	case evOpen:
		n := b.openOrder(stamp, stamp, int(e.loc), nil)
		f := b.eventsOf(n)
		for _, later := range f.events[:f.count] {
			b.push(later)
		}
	case evDelivery:
		b.deliver(int(e.loc), stamp)
	case evCount:
		b.count(int(e.loc), stamp)
	case evPrice:
		b.reprice(int(e.loc), stamp)
	case evSoldOut, evBack:
		r := b.products.rows[e.n]
		if !r.deleted() && !r.purged && r.val.available == (e.kind == evSoldOut) {
			r.val.available = e.kind == evBack
			b.products.touch(r, stamp)
		}
	default:
		b.happenToOrder(e, stamp)
	}
}

// happenToOrder leaves alone what a test or an earlier event has removed.
func (b *Business) happenToOrder(e event, stamp int64) {
	o := &b.orders[e.n]
	gone := o.flags&(orderCancelled|orderDeleted) != 0
	if gone || e.kind != evPay && e.kind != evCancel && o.flags&orderPaid == 0 {
		return
	}
	b.changeOrder(e.n, max(stamp, o.stamp), func(o *order) { b.apply(o, e) })
	if e.kind == evPay {
		b.consume(e.n, stamp)
	}
}

// consume draws what an order sold from the stock.
func (b *Business) consume(n uint32, stamp int64) {
	o := &b.orders[n]
	c := &b.scratch
	b.fill(c, n)
	for i := range c.lines {
		if s := c.lines[i].item; s != nil {
			for _, use := range s.row.val.recipe {
				b.draw(int(o.origin), use, c.lines[i].qty, stamp)
			}
		}
	}
}
