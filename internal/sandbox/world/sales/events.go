package sales

import (
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Kind is what happens to an order after it was opened. Its number is part of what is drawn.
type Kind uint8

// The kinds of Event.
const (
	Pay Kind = iota + 1
	Edit
	Refund
	Cancel
	Unpay
	Delete
)

// Event happens at an instant to order N.
type Event struct {
	At   int64
	Kind Kind
	N    uint32
}

// AppendEvents draws what happens to an order, from its number alone: two of a hundred are
// never paid, some are cancelled, edited, refunded days later, or deleted.
func (s *Orders) AppendEvents(to []Event, n uint32) []Event {
	add := func(at int64, kind Kind) { to = append(to, Event{at, kind, n}) }
	g := seeded.New(s.Seed, 5, uint64(n))
	at := s.orders[n].created + int64(g.Between(20, 90))*units.Second
	if g.Chance(600) {
		at += int64(g.Between(15, 95)) * units.Minute // a table that stays
	}
	switch x := g.N(1000); {
	case x < 12:
		add(at, Cancel)
		return to
	case x < 27:
		return to // stays open, never paid
	}
	add(at, Pay)
	soon := at + int64(g.Between(1, 180))*units.Minute
	later := soon + int64(g.Between(60, 4000))*units.Minute
	switch x := g.N(1000); {
	case x < 12:
		add(soon, Edit)
	case x < 18:
		add(soon, Edit)
		add(later, Refund)
	case x < 25:
		add(later, Refund)
	case x < 33:
		add(soon, Cancel)
	case x < 35:
		add(soon, Unpay)
	case x < 37:
		add(soon, Unpay)
		add(later, Pay)
	case x < 40:
		add(later, Delete)
	}
	return to
}

// Happen carries out an event, and reports whether the order was paid. It leaves alone what a
// test or an earlier event has removed.
func (s *Orders) Happen(e Event, stamp int64) (paid bool) {
	o := &s.orders[e.N]
	gone := o.flags&(orderCancelled|orderDeleted) != 0
	if gone || e.Kind != Pay && e.Kind != Cancel && o.flags&orderPaid == 0 {
		return false
	}
	s.change(e.N, max(stamp, o.stamp), func(o *order) { s.apply(o, e) })
	return e.Kind == Pay
}

// apply changes the order's own fields; totals and order of change are the
// caller's.
func (s *Orders) apply(o *order, e Event) {
	switch e.Kind {
	case Pay:
		o.flags |= orderPaid | orderEverPaid
		o.paid = uint32((e.At - o.created) / units.Second)
	case Edit:
		o.rev++
	case Refund:
		more := s.ensureMore(e.N)
		more.refunds = append(more.refunds, s.drawRefund(e.N, e.At))
	case Cancel:
		o.flags |= orderCancelled
		s.ensureMore(e.N).removedAt = s.Precision.Floor(e.At)
	case Unpay:
		o.flags &^= orderPaid
	case Delete:
		o.flags |= orderDeleted
		s.ensureMore(e.N).removedAt = s.Precision.Floor(e.At)
	}
}

// drawRefund refunds a line or a part of the order.
func (s *Orders) drawRefund(n uint32, at int64) refund {
	c := &s.scratch
	s.fill(c, n)
	g := seeded.New(s.Seed, 6, uint64(n), uint64(at))
	r := refund{at: s.Precision.Floor(at), cash: g.Chance(400)}
	if g.Chance(500) {
		r.item = 1
		r.amount = max(c.lines[0].total, 100)
		return r
	}
	r.amount = max(c.total*units.Bani(g.Between(10, 100))/100, 100)
	return r
}
