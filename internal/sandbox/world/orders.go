package world

import "github.com/larder-sync/larder/internal/sandbox/units"

// order is what is kept of an order; the rest is computed by content.
type order struct {
	created int64  // microseconds, never changes
	stamp   int64  // updated_at
	menu    uint32 // index into Business.menus: what its lines were sold from
	paid    uint32 // seconds from created to paid_at
	rev     uint16 // edits
	loc     uint8
	origin  uint8 // location whose menu its lines are from
	flags   orderFlags
}

type orderFlags uint8

const (
	orderPaid orderFlags = 1 << iota
	orderEverPaid
	orderCancelled
	orderDeleted
	orderExtra // has an entry in Business.extras
)

// orderMore is what few orders have.
type orderMore struct {
	refunds   []refund
	removedAt int64 // when it stopped being a sale
	spec      *OrderSpec
	sold      *soldContent
	raw       []byte
}

type refund struct {
	amount units.Bani
	cash   bool
	at     int64
	item   int // 1-based line, 0 for the order as a whole
}

// Why an order is no sale (api.md, "Tombstone").
const (
	ReasonDeleted   = "deleted"
	ReasonCancelled = "cancelled"
	ReasonUnpaid    = "unpaid"
)

// reason is "" for a sale: paid and neither cancelled nor deleted.
func (o *order) reason() string {
	switch {
	case o.flags&orderDeleted != 0:
		return ReasonDeleted
	case o.flags&orderCancelled != 0:
		return ReasonCancelled
	case o.flags&orderPaid == 0:
		return ReasonUnpaid
	}
	return ""
}

func (o *order) counts() bool { return o.reason() == "" }

// listed tells whether mirror mode shows the order, live or as a tombstone. An
// order that never was a sale does not "no longer" count as one.
func (b *Business) listed(o *order) bool {
	return o.flags&orderEverPaid != 0 || b.readings.NeverPaidTombstones
}

func (b *Business) more(n uint32) *orderMore {
	if b.orders[n].flags&orderExtra == 0 {
		return nil
	}
	return b.extras[n]
}

func (b *Business) ensureMore(n uint32) *orderMore {
	o := &b.orders[n]
	if o.flags&orderExtra == 0 {
		o.flags |= orderExtra
		b.extras[n] = &orderMore{}
	}
	return b.extras[n]
}

// openOrder adds an order that is not paid yet.
func (b *Business) openOrder(created, stamp int64, loc int, spec *OrderSpec) uint32 {
	n := uint32(len(b.orders))
	b.orders = append(b.orders, order{created: created, stamp: stamp, menu: b.currentMenu(), loc: uint8(loc), origin: uint8(loc)})
	b.byCreated.add(change{created, n})
	b.changes.add(change{stamp, n})
	if spec != nil {
		b.ensureMore(n).spec = spec
	}
	return n
}

// changeOrder takes the order out of the totals, changes it, puts it back, and
// moves it to its new place in the order of change.
func (b *Business) changeOrder(n uint32, stamp int64, f func(o *order)) {
	o := &b.orders[n]
	was := o.counts()
	if was {
		b.countOrder(n, -1)
	}
	f(o)
	if o.counts() {
		b.countOrder(n, 1)
	} else if was {
		b.ensureMore(n).removedAt = stamp
	}
	b.touchOrder(n, stamp)
}

func (b *Business) touchOrder(n uint32, stamp int64) {
	o := &b.orders[n]
	if b.readings.NullTombstones && n%4 == 0 && o.flags&orderEverPaid != 0 && !o.counts() {
		stamp = nullStamp
	}
	if o.stamp == stamp {
		return
	}
	o.stamp = stamp
	b.changes.add(change{stamp, n})
	b.changes.outdated(b.currentOrder)
}

func (b *Business) currentOrder(c change) bool { return b.orders[c.n].stamp == c.stamp }

// payOrder makes the order a sale; paid_at is when it is paid.
func (b *Business) payOrder(n uint32, at, stamp int64) {
	b.changeOrder(n, stamp, func(o *order) {
		o.flags |= orderPaid | orderEverPaid
		o.paid = uint32(max(0, at-o.created) / units.Second)
	})
}

func (b *Business) addRefund(n uint32, r refund, stamp int64) {
	b.changeOrder(n, stamp, func(*order) {
		more := b.ensureMore(n)
		more.refunds = append(more.refunds, r)
	})
}

func (b *Business) created(n uint32) int64 { return b.orders[n].created }

func (b *Business) orderID(n uint32) string {
	return string(b.orderIDs.append(nil, n, b.created))
}

// findOrder is the order of an id, opaque to everyone else.
func (b *Business) findOrder(id string) (uint32, bool) {
	n, ok := b.orderIDs.number(id)
	if !ok || int(n) >= len(b.orders) || b.orderID(n) != id {
		return 0, false
	}
	return n, true
}
