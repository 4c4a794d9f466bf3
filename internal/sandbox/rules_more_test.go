package sandbox

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// A cursor belongs to its filters and its restaurant: with others it is a broken one.
func TestCursorIsBoundToItsWalk(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Businesses: 2, Readings: Readings{SharedIDs: true}})
	for uri, other := range map[string]string{
		"/products?limit=2&updated_since=2020-01-01T00:00:00Z":     "/products?limit=2&updated_since=2020-01-02T00:00:00Z",
		"/sales/orders?limit=2&from=2026-03-01&to=2026-03-20":      "/sales/orders?limit=2&from=2026-03-02&to=2026-03-20",
		"/sales/orders?limit=2&updated_since=2020-01-01T00:00:00Z": "/sales/orders?limit=2",
		"/ingredients?limit=2&below_min=true":                      "/ingredients?limit=2&below_min=false",
	} {
		cursor := *ok[page](h, uri).NextCursor
		ok[page](h, withCursor(uri, cursor))
		h.refused(h.get(withCursor(other, cursor)), 422, "validation_failed")
		h.refused(h.do("GET", h.Key(1, RoleMain).Value, withCursor(uri, cursor)), 422, "validation_failed")
		if a := h.do("GET", h.Key(0, RoleTest).Value, withCursor(uri, cursor)); a.status != 200 {
			t.Errorf("another key of the restaurant: %d", a.status)
		}
	}
}

// A sale made after the day was summed once is in the next answer.
func TestProductSalesFollowTheOrders(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 30, Days: 3})
	r := h.Restaurant(0)
	for range 3 {
		h.checkTotals(t, "")
		h.clock = h.clock.Add(time.Minute)
		id := must(r.PlaceOrder(OrderSpec{Items: 6}))(t)
		h.checkTotals(t, "")
		if err := r.EditOrder(id); err != nil {
			t.Fatal(err)
		}
	}
}

// docs/openapi.yaml, ProductSales: a product of the catalogue has the name under which it was
// last sold in the period, or on the day.
func TestProductSalesName(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: -1, ProductsPer: 1, LocationsPer: 1})
	r := h.Restaurant(0)
	id := r.IDs(StreamProducts)[0]
	yesterday := h.clock
	for _, name := range []string{"Ciorbă veche", "Ciorbă nouă"} {
		if err := r.EditProduct(id, ProductChange{Name: name}); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			h.clock = h.clock.Add(time.Minute)
			must(r.PlaceOrder(OrderSpec{Channel: "pos", Items: 4}))(t)
		}
		if name == "Ciorbă veche" {
			h.clock = yesterday.Add(24 * time.Hour)
		}
	}
	for uri, want := range map[string]string{
		"/sales/products":                 "Ciorbă nouă",
		"/sales/products?to=2026-03-20":   "Ciorbă veche",
		"/sales/products?group_by=day":    "Ciorbă veche",
		"/sales/products?from=2026-03-21": "Ciorbă nouă",
	} {
		for _, row := range ok[productSales](h, uri).Data {
			p := strict[types.ProductSales](t, row)
			if p.ProductID != nil && *p.ProductID == id {
				if p.Name != want {
					t.Errorf("%s: %q, want %q", uri, p.Name, want)
				}
				break
			}
		}
	}
}

// docs/openapi.yaml, Tombstone: deleted_at is an instant or null; here null only for an
// order whose payment was taken back.
func TestDeletedAt(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: -1})
	r := h.Restaurant(0)
	for reason, end := range map[string]func(string) error{rows.ReasonCancelled: r.CancelOrder, rows.ReasonDeleted: r.DeleteOrder, rows.ReasonUnpaid: r.UnpayOrder} {
		id := must(r.PlaceOrder(OrderSpec{}))(t)
		h.clock = h.clock.Add(time.Minute)
		at := h.clock
		if err := end(id); err != nil {
			t.Fatal(err)
		}
		h.clock = h.clock.Add(time.Minute)
		if err := r.Touch(StreamSalesOrders, id); err != nil {
			t.Fatal(err)
		}
		listed := h.walk("/sales/orders?updated_since=" + h.clock.Format(time.RFC3339))
		stone := strict[types.Tombstone](t, listed[0])
		if reason == rows.ReasonUnpaid {
			if stone.DeletedAt != nil {
				t.Errorf("unpaid: %s", listed[0])
			}
			continue
		}
		if stone.DeletedAt == nil || string(*stone.DeletedAt) != at.Format("2006-01-02T15:04:05.000Z") {
			t.Errorf("%s: %s", reason, listed[0])
		}
	}
}

// An order with 100 items, as large as the API's description knows them.
func TestOrderWithHundredItems(t *testing.T) {
	h := newHarness(t, Options{Orders: -1})
	id := must(h.Restaurant(0).PlaceOrder(OrderSpec{Items: 100, Channel: "platform_b", Type: "takeaway"}))(t)
	o := ok[types.SalesOrder](h, "/sales/orders/"+id)
	seen := map[string]bool{}
	for _, l := range o.Items {
		seen[l.ID] = true
	}
	if len(seen) != 100 || o.Channel != "platform_b" || o.Type != "takeaway" {
		t.Errorf("%d items, %s, %s", len(seen), o.Channel, o.Type)
	}
}

// A sliding minute and one from the first request are full until their last
// second.
func TestMinuteIsFullToTheEnd(t *testing.T) {
	for _, algorithm := range []string{AlgorithmSliding, AlgorithmFixedFirst} {
		h := newHarness(t, Options{Algorithm: algorithm, Orders: -1})
		h.fits()
		h.clock = h.clock.Add(time.Minute - time.Microsecond)
		if n := h.fits(); n != 0 {
			t.Errorf("%s: %d requests within the minute", algorithm, n)
		}
	}
}

// A live world shows changes in the order of their stamps: whoever asked up to
// now has missed nothing stamped before.
func TestLiveStampsNeverComeLate(t *testing.T) {
	h := newHarness(t, Options{Live: true, NoLimits: true, Orders: 3_000_000 / 365, Days: 1})
	seen := mirrored{}
	for range 400 {
		before := h.clock.Add(-time.Millisecond)
		h.clock = h.clock.Add(777 * time.Millisecond)
		for _, row := range h.walk("/sales/orders?limit=200&updated_since=" + h.clock.Add(-10*time.Second).Format("2006-01-02T15:04:05.000Z")) {
			var o struct {
				ID        string
				UpdatedAt time.Time `json:"updated_at"`
			}
			if err := json.Unmarshal(row, &o); err != nil {
				t.Fatal(err)
			}
			key := o.ID + o.UpdatedAt.String()
			if _, known := seen[key]; !known && o.UpdatedAt.Before(before) && before.Sub(testEpoch) > 11*time.Second {
				t.Fatalf("stamped before %s and shown after: %s", before, row)
			}
			if o.UpdatedAt.After(h.clock) {
				t.Fatalf("from the future at %s: %s", h.clock, row)
			}
			seen[key] = row
		}
	}
}
