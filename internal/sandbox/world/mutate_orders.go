package world

import (
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// OrderSpec asks for an order; empty fields are left to chance.
type OrderSpec struct {
	Location string    // id; default the first
	Created  time.Time // created_at; default the stamp of the change
	Channel  string
	Type     string
	Items    int // number of lines
	Unpaid   bool
}

// PlaceOrder opens an order and, unless Unpaid, pays it in the same moment.
func (r Restaurant) PlaceOrder(spec OrderSpec) (string, error) {
	stamp, unlock := r.lock()
	defer unlock()
	loc := 0
	if spec.Location != "" {
		var ok bool
		if loc, ok = r.b.locationOf(spec.Location); !ok {
			return "", fmt.Errorf("place order: location %q: %w", spec.Location, errNoLocation)
		}
	}
	created := stamp
	if !spec.Created.IsZero() {
		created = r.b.trunc(spec.Created.UnixMicro())
	}
	n := r.b.openOrder(created, stamp, loc, spec.kept())
	if !spec.Unpaid {
		r.b.payOrder(n, max(stamp, created), stamp)
	}
	return r.b.orderID(n), nil
}

// kept is nil when the spec asks for nothing that content has to know.
func (s OrderSpec) kept() *OrderSpec {
	if s.Channel == "" && s.Type == "" && s.Items == 0 {
		return nil
	}
	return &s
}

// PayOrder pays an open or unpaid order.
func (r Restaurant) PayOrder(id string) error {
	return r.order("pay", id, func(n uint32, stamp int64) { r.b.payOrder(n, stamp, stamp) })
}

// UnpayOrder takes the payment back: the order is no sale any more.
func (r Restaurant) UnpayOrder(id string) error {
	return r.changed("unpay", id, func(o *order) { o.flags &^= orderPaid })
}

// EditOrder changes an order's content.
func (r Restaurant) EditOrder(id string) error {
	return r.changed("edit", id, func(o *order) { o.rev++ })
}

// CancelOrder cancels an order.
func (r Restaurant) CancelOrder(id string) error {
	return r.changed("cancel", id, func(o *order) { o.flags |= orderCancelled })
}

// DeleteOrder deletes an order.
func (r Restaurant) DeleteOrder(id string) error {
	return r.Delete(StreamSalesOrders, id)
}

// RefundOrder refunds an amount in bani, now or as Ago says.
func (r Restaurant) RefundOrder(id string, amount int64) error {
	return r.order("refund", id, func(n uint32, stamp int64) {
		r.b.addRefund(n, refund{amount: units.Bani(amount), at: stamp}, stamp)
	})
}

// RefundOrderAt refunds at another instant than that of the change, which is
// what puts a refund on another day.
func (r Restaurant) RefundOrderAt(id string, amount int64, at time.Time) error {
	return r.order("refund", id, func(n uint32, stamp int64) {
		r.b.addRefund(n, refund{amount: units.Bani(amount), at: r.b.trunc(at.UnixMicro())}, stamp)
	})
}

func (r Restaurant) changed(what, id string, f func(*order)) error {
	return r.order(what, id, func(n uint32, stamp int64) { r.b.changeOrder(n, stamp, f) })
}

func (r Restaurant) order(what, id string, f func(n uint32, stamp int64)) error {
	stamp, unlock := r.lock()
	defer unlock()
	n, ok := r.b.findOrder(id)
	if !ok {
		return fmt.Errorf("%s order %q: %w", what, id, errNoRow)
	}
	f(n, stamp)
	return nil
}
