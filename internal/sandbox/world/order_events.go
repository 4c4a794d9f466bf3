package world

import (
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// eventKind is what happens in a restaurant as time passes.
type eventKind uint8

const (
	evOpen eventKind = iota
	evPay
	evEdit
	evRefund
	evCancel
	evUnpay
	evDelete
	evDelivery
	evSoldOut
	evBack
	evCount
	evPrice
)

// event happens at an instant to an order, or to row n of a location.
type event struct {
	at   int64
	show int64 // when the world shows it; at, or later with Readings.StampDelay
	seq  uint32
	kind eventKind
	loc  uint8
	n    uint32
}

// orderEvents are what happens to an order after it was opened.
type orderEvents struct {
	events [4]event
	count  int
}

func (f *orderEvents) add(e event) {
	f.events[f.count] = e
	f.count++
}

// eventsOf draws, from the number of the order alone: two of a hundred are never
// paid, some are cancelled, edited, refunded days later, or deleted.
func (b *Business) eventsOf(n uint32) orderEvents {
	var f orderEvents
	g := seeded.New(b.seed, 5, uint64(n))
	at := b.orders[n].created + int64(g.Between(20, 90))*units.Second
	if g.Chance(600) {
		at += int64(g.Between(15, 95)) * units.Minute // a table that stays
	}
	switch x := g.N(1000); {
	case x < 12:
		f.add(event{at: at, kind: evCancel, n: n})
		return f
	case x < 27:
		return f // stays open, never paid
	}
	f.add(event{at: at, kind: evPay, n: n})
	soon := at + int64(g.Between(1, 180))*units.Minute
	later := soon + int64(g.Between(60, 4000))*units.Minute
	switch x := g.N(1000); {
	case x < 12:
		f.add(event{at: soon, kind: evEdit, n: n})
	case x < 18:
		f.add(event{at: soon, kind: evEdit, n: n})
		f.add(event{at: later, kind: evRefund, n: n})
	case x < 25:
		f.add(event{at: later, kind: evRefund, n: n})
	case x < 33:
		f.add(event{at: soon, kind: evCancel, n: n})
	case x < 35:
		f.add(event{at: soon, kind: evUnpay, n: n})
	case x < 37:
		f.add(event{at: soon, kind: evUnpay, n: n})
		f.add(event{at: later, kind: evPay, n: n})
	case x < 40:
		f.add(event{at: later, kind: evDelete, n: n})
	}
	return f
}

// apply changes the order's own fields; totals and order of change are the
// caller's.
func (b *Business) apply(o *order, e event) {
	switch e.kind {
	case evPay:
		o.flags |= orderPaid | orderEverPaid
		o.paid = uint32((e.at - o.created) / units.Second)
	case evEdit:
		o.rev++
	case evRefund:
		more := b.ensureMore(e.n)
		more.refunds = append(more.refunds, b.drawRefund(e.n, e.at))
	case evCancel:
		o.flags |= orderCancelled
		b.ensureMore(e.n).removedAt = b.trunc(e.at)
	case evUnpay:
		o.flags &^= orderPaid
	case evDelete:
		o.flags |= orderDeleted
		b.ensureMore(e.n).removedAt = b.trunc(e.at)
	}
}

// drawRefund refunds a line or a part of the order.
func (b *Business) drawRefund(n uint32, at int64) refund {
	c := &b.scratch
	b.fill(c, n)
	g := seeded.New(b.seed, 6, uint64(n), uint64(at))
	r := refund{at: b.trunc(at), cash: g.Chance(400)}
	if g.Chance(500) {
		r.item = 1
		r.amount = max(c.lines[0].total, 100)
		return r
	}
	r.amount = max(c.total*units.Bani(g.Between(10, 100))/100, 100)
	return r
}
