package world

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// orderChanges are what is done at the till.
type orderChanges struct{ change }

// PlaceOrder opens an order and, unless Unpaid, pays it in the same moment.
func (r orderChanges) PlaceOrder(spec sales.OrderSpec) (string, error) {
	stamp, unlock := r.lock()
	defer unlock()
	id, err := r.b.sales.Place(spec, stamp)
	if err != nil {
		return "", fmt.Errorf("place order: %w", err)
	}
	return id, nil
}

// PayOrder pays an open or unpaid order.
func (r orderChanges) PayOrder(id string) error {
	return r.order("pay", id, func(n uint32, stamp int64) { r.b.sales.Pay(n, stamp, stamp) })
}

// UnpayOrder takes the payment back: the order is no sale any more.
func (r orderChanges) UnpayOrder(id string) error { return r.order("unpay", id, r.b.sales.Unpay) }

// EditOrder changes an order's content.
func (r orderChanges) EditOrder(id string) error { return r.order("edit", id, r.b.sales.Revise) }

// CancelOrder cancels an order.
func (r orderChanges) CancelOrder(id string) error { return r.order("cancel", id, r.b.sales.Cancel) }

// DeleteOrder deletes an order.
func (r orderChanges) DeleteOrder(id string) error {
	return rowChanges(r).Delete(StreamSalesOrders, id)
}

// RefundOrder refunds an amount in bani, now or as Ago says.
func (r orderChanges) RefundOrder(id string, amount int64) error {
	return r.order("refund", id, func(n uint32, stamp int64) { r.b.sales.Refund(n, units.Bani(amount), stamp, stamp) })
}

// RefundOrderAt refunds at another instant than that of the change, which is
// what puts a refund on another day.
func (r orderChanges) RefundOrderAt(id string, amount int64, at time.Time) error {
	return r.order("refund", id, func(n uint32, stamp int64) {
		r.b.sales.Refund(n, units.Bani(amount), r.b.common.Precision.Floor(at.UnixMicro()), stamp)
	})
}

// Refund is a part of what an order cost, given back.
type Refund struct {
	Location string // of the order
	At       time.Time
	Amount   int64 // in bani
}

// Refunds are the refunds of an order so far, a removed one too.
func (r orderChanges) Refunds(id string) (all []Refund, err error) {
	r.b.mu.RLock()
	defer r.b.mu.RUnlock()
	n, err := r.b.sales.Find(id)
	if err != nil {
		return nil, fmt.Errorf("refunds of order %q: %w", id, err)
	}
	r.b.sales.Refunds(n, func(location string, amount units.Bani, at int64) {
		all = append(all, Refund{location, time.UnixMicro(at), int64(amount)})
	})
	return all, nil
}

// refundPart refunds an amount in bani, at most what is left of a sale: nobody refunds an order
// that was removed.
func (r orderChanges) refundPart(id string, amount int64) error {
	return r.order("refund", id, func(n uint32, stamp int64) {
		if left := min(units.Bani(amount), r.b.sales.Refundable(n)); left > 0 {
			r.b.sales.Refund(n, left, stamp, stamp)
		}
	})
}

func (r orderChanges) order(what, id string, f func(n uint32, stamp int64)) error {
	stamp, unlock := r.lock()
	defer unlock()
	n, err := r.b.sales.Find(id)
	if err != nil {
		return fmt.Errorf("%s order %q: %w", what, id, err)
	}
	f(n, stamp)
	return nil
}

// anyOrder draws one, a removed one too.
func (r orderChanges) anyOrder(g *rand.Rand) (string, bool) {
	r.b.mu.RLock()
	defer r.b.mu.RUnlock()
	return r.b.sales.Random(g)
}
