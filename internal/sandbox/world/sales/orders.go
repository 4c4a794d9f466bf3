package sales

import (
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// Orders is the orders of one restaurant and what they add up to.
type Orders struct {
	store
	invent   inventor
	totals   totals
	products productDays
	scratch  content
}

// New takes orders from a catalogue. idSeed is that of their ids.
func New(c *rows.Common, menu *catalogue.Catalogue, idSeed uint64) *Orders {
	return &Orders{
		store: store{
			Common: c, extras: map[uint32]*orderMore{},
			ids: orderIDs{key: seeded.Mix(idSeed ^ seeded.Golden), strange: c.Readings.StrangeIDs},
		},
		invent:   inventor{seed: seeded.Mix(c.Seed), newKeys: c.Readings.NewMapKeys, catalogue: menu},
		totals:   totals{},
		products: productDays{kept: map[units.Day]productDay{}},
	}
}

// fill computes an order's content.
func (s *Orders) fill(c *content, n uint32) { s.invent.fill(c, n, &s.orders[n], s.more(n)) }

// Open opens an order that is not paid yet.
func (s *Orders) Open(created, stamp int64, loc int) uint32 {
	n := uint32(len(s.orders))
	s.orders = append(s.orders, order{created: created, stamp: stamp, menu: s.invent.catalogue.Edition(), loc: uint8(loc), origin: uint8(loc)})
	s.byCreated.Add(rows.Change{Stamp: created, N: n})
	s.changes.Add(rows.Change{Stamp: stamp, N: n})
	return n
}

// OrderSpec asks for an order; empty fields are left to chance.
type OrderSpec struct {
	Location string    // id; default the first
	Created  time.Time // created_at; default the stamp of the change
	Channel  string
	Type     string
	Items    int // number of lines
	Unpaid   bool
}

// Place opens an order and, unless Unpaid, pays it in the same moment.
func (s *Orders) Place(spec OrderSpec, stamp int64) (id string, err error) {
	loc := 0
	if spec.Location != "" {
		if loc, err = s.Locations.Find(spec.Location); err != nil {
			return "", fmt.Errorf("location %q: %w", spec.Location, err)
		}
	}
	created := stamp
	if !spec.Created.IsZero() {
		created = s.Precision.Floor(spec.Created.UnixMicro())
	}
	n := s.Open(created, stamp, loc)
	if spec.Channel != "" || spec.Type != "" || spec.Items != 0 {
		s.ensureMore(n).spec = &spec
	}
	if !spec.Unpaid {
		s.Pay(n, max(stamp, created), stamp)
	}
	return s.ID(n), nil
}

// change takes the order out of the totals, changes it, puts it back, and
// moves it to its new place in the order of change.
func (s *Orders) change(n uint32, stamp int64, f func(o *order)) {
	o := &s.orders[n]
	was := o.counts()
	s.count(n, -1)
	f(o)
	s.count(n, 1)
	if was && !o.counts() {
		s.ensureMore(n).removedAt = stamp
	}
	if s.Readings.NullTombstones && n%4 == 0 && o.flags&orderEverPaid != 0 && !o.counts() {
		stamp = rows.NullStamp
	}
	if o.stamp == stamp {
		return
	}
	o.stamp = stamp
	s.changes.Add(rows.Change{Stamp: stamp, N: n})
	s.changes.Outdated(s.current)
}

// count adds what an order counts for to the totals of its days (sign 1) or takes it out (-1).
func (s *Orders) count(n uint32, sign int64) {
	o := &s.orders[n]
	if o.counts() {
		s.fill(&s.scratch, n)
		day := s.Calendar.Day(o.created)
		s.totals.count(day, o.loc, &s.scratch, sign)
		s.products.forget(day)
	}
	if more := s.more(n); more != nil && (o.counts() || s.Readings.RemovedRefunds && o.flags&orderEverPaid != 0) {
		for _, r := range more.refunds {
			s.totals.of(s.Calendar.Day(r.at), o.loc).refunds += units.Bani(sign) * r.amount
		}
	}
}

// Pay makes the order a sale; at is its paid_at.
func (s *Orders) Pay(n uint32, at, stamp int64) {
	s.change(n, stamp, func(o *order) {
		o.flags |= orderPaid | orderEverPaid
		o.paid = uint32(max(0, at-o.created) / units.Second)
	})
}

// Unpay takes the payment back: the order is no sale any more.
func (s *Orders) Unpay(n uint32, stamp int64) {
	s.change(n, stamp, func(o *order) { o.flags &^= orderPaid })
}

// Revise changes an order's content.
func (s *Orders) Revise(n uint32, stamp int64) { s.change(n, stamp, func(o *order) { o.rev++ }) }

// Cancel cancels an order.
func (s *Orders) Cancel(n uint32, stamp int64) {
	s.change(n, stamp, func(o *order) { o.flags |= orderCancelled })
}

// Refund refunds an amount at an instant, which puts it on that day.
func (s *Orders) Refund(n uint32, amount units.Bani, at, stamp int64) {
	s.change(n, stamp, func(*order) {
		more := s.ensureMore(n)
		more.refunds = append(more.refunds, refund{amount: amount, at: at})
	})
}

// Refunds calls refunded for each refund of an order.
func (s *Orders) Refunds(n uint32, refunded func(location string, amount units.Bani, at int64)) {
	if more := s.more(n); more != nil {
		for _, r := range more.refunds {
			refunded(s.Locations.All[s.orders[n].loc].ID, r.amount, r.at)
		}
	}
}

// Refundable is what an order cost less what was refunded of it, 0 for one that is no sale.
func (s *Orders) Refundable(n uint32) units.Bani {
	if !s.orders[n].counts() {
		return 0
	}
	s.fill(&s.scratch, n)
	left := s.scratch.total
	if more := s.more(n); more != nil {
		for _, r := range more.refunds {
			left -= r.amount
		}
	}
	return left
}

// Edit changes the order of an id as a row of any list is changed.
func (s *Orders) Edit(id string, e rows.Edit, stamp int64) error {
	loc := -1
	if e.Location != "" {
		var err error
		if loc, err = s.Locations.Find(e.Location); err != nil {
			return err
		}
	}
	n, err := s.Find(id)
	switch {
	case err != nil:
		return err
	case e.Purge:
		return errors.New("orders cannot be purged")
	case e.SetRaw:
		s.ensureMore(n).raw = e.Raw
	}
	s.change(n, stamp, func(o *order) {
		switch {
		case e.Remove:
			o.flags |= orderDeleted
		case e.Restore:
			o.flags &^= orderDeleted | orderCancelled
			if more := s.more(n); more != nil {
				more.removedAt = 0
			}
		case loc >= 0:
			o.loc = uint8(loc)
		}
	})
	return nil
}

// Used calls use for all that an order took from the stock of a location.
func (s *Orders) Used(n uint32, use func(loc int, u catalogue.Use, times units.Milli)) {
	c := &s.scratch
	s.fill(c, n)
	for i := range c.lines {
		if item := c.lines[i].item; item != nil {
			for _, u := range item.Product.Val.Recipe {
				use(int(s.orders[n].origin), u, c.lines[i].qty)
			}
		}
	}
}
