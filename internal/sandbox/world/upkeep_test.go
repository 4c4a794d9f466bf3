package world

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Two weeks in which people keep a restaurant up: prices change, stock is counted and
// delivered without running out everywhere, products are sold out and come back.
func TestUpkeep(t *testing.T) {
	clock := time.Date(2026, 3, 20, 10, 0, 0, 0, time.UTC)
	world, err := New(Options{Live: true, Upkeep: true, Orders: 5400, Days: 30, Epoch: clock, Now: func() time.Time { return clock }})
	if err != nil {
		t.Fatal(err)
	}
	b := world.businesses[0]
	before := map[string]units.Bani{}
	for _, r := range b.catalogue.Products.Rows {
		before[r.ID] = r.Val.Price
	}
	delivered, counted, out := map[time.Weekday]int{}, 0, map[string]bool{}
	stocks := map[string]units.Milli{}
	for range 16 * 24 * 4 { // to a Sunday, when nobody has delivered since the day before
		clock = clock.Add(15 * time.Minute)
		world.Tick(clock)
		at := clock.In(world.cal.Zone)
		for _, r := range b.stock.Ingredients.Rows {
			switch was := stocks[r.ID]; {
			case at.Hour() == 7 && at.Minute() >= 30 && at.Minute() < 45 && r.Val.Stock > was+r.Val.Refill/3:
				delivered[at.Weekday()]++
			case at.Weekday() == time.Monday && at.Hour() == 6 && at.Minute() >= 30 && at.Minute() < 45 && r.Val.Stock != was:
				counted++
			}
			stocks[r.ID] = r.Val.Stock
		}
		for _, r := range b.catalogue.Products.Rows {
			if !r.Val.Available {
				out[r.ID] = true
			}
		}
	}
	repriced, negative, short := 0, 0, 0
	for _, r := range b.catalogue.Products.Rows {
		if r.Val.Price != before[r.ID] {
			repriced++
		}
	}
	for _, r := range b.stock.Ingredients.Rows {
		if r.Val.Stock < 0 {
			negative++
		}
		if r.Val.BelowMin() {
			short++
		}
	}
	all := len(b.stock.Ingredients.Rows)
	if repriced < 2 || repriced > 30 || counted < 20 || len(out) < 20 || len(out) > len(b.catalogue.Products.Rows)/2 {
		t.Errorf("%d prices changed, %d stocks counted, %d products sold out", repriced, counted, len(out))
	}
	if delivered[time.Tuesday] == 0 || delivered[time.Friday] == 0 || delivered[time.Sunday] != 0 {
		t.Errorf("deliveries by weekday: %v", delivered)
	}
	if negative > all/10 || short == 0 || short > all/3 {
		t.Errorf("of %d ingredients %d are short, %d negative", all, short, negative)
	}
	t.Logf("%d prices changed, %d counts, %d sold out, %d short, %d negative of %d, deliveries %v", repriced, counted, len(out), short, negative, all, delivered)
}
