package world

import (
	"fmt"

	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// Till is where the online orders of a restaurant become sales: each is an order of the restaurant,
// open until it is paid. Its changes happen at the instant given, which is no later than
// the restaurant's own and no earlier than its last; so the caller moves it there first.
type Till struct{ b *Business }

// Till is that of restaurant i, from 0.
func (w *World) Till(i int) Till { return Till{w.businesses[i]} }

// Open adds an unpaid order, and returns its id and the number on its receipt.
func (t Till) Open(s sales.Sale, at int64) (id, number string, err error) {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.b.sales.Online().Place(s, t.b.common.Precision.Floor(at))
}

// Pay makes a sale of the order, and draws what it sold from the stock.
func (t Till) Pay(id, method string, at int64) error {
	return t.change("pay", id, at, func(n uint32, stamp int64) {
		t.b.sales.Online().Pay(n, method, stamp)
		t.b.drawStock(n, stamp)
	})
}

// Cancel takes the order back: it is no sale, or none any more.
func (t Till) Cancel(id string, at int64) error {
	return t.change("cancel", id, at, t.b.sales.Online().Cancel)
}

// change leaves alone what is cancelled or deleted at the till already.
func (t Till) change(what, id string, at int64, f func(n uint32, stamp int64)) error {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	n, open, err := t.b.sales.Online().Find(id)
	if err != nil {
		return fmt.Errorf("%s online order %q: %w", what, id, err)
	}
	if open {
		f(n, t.b.common.Precision.Floor(at))
	}
	return nil
}
