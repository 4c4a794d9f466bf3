package sandbox

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// Refunds of an order that was cancelled later count on, or not; so of one that lives again.
func TestReadingRemovedRefunds(t *testing.T) {
	for counted, want := range map[bool]string{false: "0.00", true: "12.34"} {
		h := newHarness(t, Options{NoLimits: true, Orders: -1, Readings: Readings{RemovedRefunds: counted}})
		r := h.Restaurant(0)
		id := must(r.PlaceOrder(OrderSpec{}))(t)
		if err := r.RefundOrder(id, 1234); err != nil {
			t.Fatal(err)
		}
		h.clock = h.clock.Add(time.Second)
		expect := func(when string, orders int64, want string) {
			t.Helper()
			if got := ok[dailySales](h, "/sales/daily").Totals; string(got.Refunds) != want || got.Orders != orders {
				t.Errorf("counted %v, %s: %+v", counted, when, got)
			}
		}
		expect("refunded", 1, "12.34")
		if err := r.CancelOrder(id); err != nil {
			t.Fatal(err)
		}
		expect("cancelled", 0, want)
		if err := r.Restore(StreamSalesOrders, id); err != nil {
			t.Fatal(err)
		}
		expect("restored", 1, "12.34")
	}
}

// The gross of a product is the sum of its rounded lines, or is rounded once.
func TestReadingGrossPerProduct(t *testing.T) {
	gross := func(once bool) map[string]string {
		h := newHarness(t, Options{NoLimits: true, Orders: 2000, Days: 10, Readings: Readings{GrossPerProduct: once}})
		all := map[string]string{}
		for _, row := range ok[productSales](h, "/sales/products").Data {
			p := strict[types.ProductSales](t, row)
			if sum(t, "+", p.Gross, "-", p.LineDiscounts).Cmp(rat(t, string(p.Net))) != 0 {
				t.Errorf("gross - line_discounts is not net: %s", row)
			}
			all[p.Name] = string(p.Gross)
			if p.WeightKg == nil {
				all[p.Name] = ""
			}
		}
		return all
	}
	perLine, once := gross(false), gross(true)
	differ := 0
	for name, amount := range perLine {
		if once[name] != amount {
			differ++
		}
	}
	if differ == 0 {
		t.Errorf("no weighed product of %d differs", len(perLine))
	}
}
