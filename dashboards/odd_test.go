package dashboards

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

const oddID = "odd"

// oddRows are those of a restaurant with names and events that the sandbox has none of.
func (w *warehouse) oddRows() {
	w.t.Helper()
	yesterday := w.to.AddDate(0, 0, -1).Format("2006-01-02")
	at := func(clock string) string {
		return "toDateTime64('" + yesterday + " " + clock + "', 6, 'Europe/Bucharest')"
	}
	// Two keys of one restaurant, and another restaurant of the same name.
	w.exec("INSERT INTO larder_raw.api_keys (business_id, id, business_name, _version) VALUES ('odd', 'k', 'Bistro', 1), ('odd', 'k2', 'Bistro', 1), ('x', 'k', 'Bistro', 1), ('y', 'k', 'Cramă', 1)")
	for id, name := range map[string]string{"own": "Bistro Centru", "dash": "Bistro – Gară", "comma": "Bistro, Piață", "word": "Bistroul Mare", "hyphen": "Bistro-Bar", "same": "Bistro", "far": "Lângă Bistro"} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.locations (business_id, id, name, _version) VALUES ('odd', '%s', '%s', 1)", id, name))
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, location_id, channel, type, business_day, created_at, totals_items, totals_net_sales, totals_total, "+
			"items.id, items.product_id, items.name, items.variant_id, items.variant_name, items.quantity, items.weight_kg, items.price_per_kg, items.unit_price, items.extras_name, items.extras_price, items.discount_percent, items.vat_rate, items.total, _version) "+
			"SELECT 'odd', '%[1]s', '%[1]s', 'pos', 'dine_in', '%[2]s', %[3]s, 14, 14, 14, ['1', '2', '3'], ['pizza', NULL, NULL], ['Pizza', 'Rest', 'Rest'], ['v_small', NULL, NULL], ['small', NULL, NULL], [1, 1, 1], [NULL, NULL, NULL], [NULL, NULL, NULL], [10, 1, 1], "+
			"[['Sos'], ['Sos'], []], [[1], [1], []], [0, 0, 0], [11, NULL, NULL], [11, 2, 1], 1", id, yesterday, at("12:00:00")))
	}
	// The same weekday a week ago, and today, which has hardly begun.
	w.exec("INSERT INTO larder_raw.sales_orders (business_id, id, location_id, channel, type, business_day, created_at, totals_net_sales, totals_total, _version) " +
		"SELECT 'odd', toString(ago), 'far', 'pos', 'dine_in', toDate32(at), at, 50, 50, 1 FROM (SELECT arrayJoin([7, 0]) AS ago, toStartOfDay(now('Europe/Bucharest')) - toIntervalDay(ago) + toIntervalHour(if(ago = 7, 15, 0)) AS at)")
	// One order was cancelled; one belongs to a location that the key has lost.
	for id, reason := range map[string]string{"cancelled": "cancelled", "elsewhere": "no_access"} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, location_id, channel, type, business_day, created_at, totals_net_sales, _version, _deleted, _delete_reason, _fetched_at) "+
			"SELECT 'odd', '%s', 'own', 'pos', 'dine_in', '%s', %s, 50, 1, 1, '%s', %[3]s", id, yesterday, at("13:00:00"), reason))
	}
	// The large pizza costs more since yesterday; only small ones are sold.
	for version, price := range []int{30, 33} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.product_history (business_id, id, name, location_id, available, valid_from, seen_at, `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`, _state, _version) "+
			"SELECT 'odd', 'pizza', 'Pizza', 'own', true, %[1]s, %[1]s, ['v_large'], ['large'], [%[2]d], [0], %[3]d, %[3]d", at(fmt.Sprintf("%02d:00:00", 9+version)), price, version+1))
	}
	// Stock that is used up: one ingredient with no minimum that is in use, one that never was.
	for id, before := range map[string]int{"flour": 5, "never": 0} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.ingredients (business_id, id, name, location_id, unit, stock, min_stock, below_min, _version) VALUES ('odd', '%[1]s', '%[1]s', 'own', 'kg', 0, 0, true, 2)", id))
		for version, stock := range []int{before, 0} {
			w.exec(fmt.Sprintf("INSERT INTO larder_raw.stock_history (business_id, id, name, location_id, unit, stock, valid_from, seen_at, _state, _version) "+
				"SELECT 'odd', '%[1]s', '%[1]s', 'own', 'kg', %[2]d, %[3]s - INTERVAL %[5]d DAY, %[3]s - INTERVAL %[5]d DAY, %[4]d, %[6]d", id, stock, at("10:00:00"), stock+1, 4-version, version+1))
		}
	}
}

// TestOddRows looks at what owners see of rows that are rare.
func TestOddRows(t *testing.T) {
	w := newBareWarehouse(t)
	w.oddRows()
	c := w.mine()
	c.restaurants = []string{oddID}
	same(t, "restaurants to choose from", w.ask(restaurantsSQL).rows(t, "value", "label"), []string{"odd Bistro · odd", "x Bistro · x", "y Cramă"})
	same(t, "names of locations", w.shown(t, "sales", "locations", c).rows(t, "location"),
		[]string{"Bistro", "Bistro-Bar", "Bistroul Mare", "Centru", "Gară", "Lângă Bistro", "Piață"})
	weekday := []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}[w.to.Weekday()]
	same(t, "hours", w.shown(t, "sales", "hours", c).rows(t, "at_hour", weekday), []string{"12 null", "15 50"})
	same(t, "cancelled orders", w.shown(t, "sales", "removed", c).rows(t, "reason", "removed_orders", "lost"), []string{"cancelled 1 50"})
	same(t, "price changes", w.shown(t, "products", "prices", c).rows(t, "product", "price", "a_day_after"), []string{"Pizza · large 33 0"})
	// A line without a product sells its extras too; how often they go along is known of products only.
	same(t, "extras", w.shown(t, "products", "extras", c).rows(t, "extra", "times", "amount", "attach_rate"), []string{"Sos 14 14 100"})
	// What has no rate has no VAT that anyone knows.
	same(t, "VAT", w.shown(t, "cash-up", "vat", c).rows(t, "rate", "with_vat", "vat_inside"), []string{"11 % 77 7.63", "– 21 null"})
	same(t, "below minimum", w.shown(t, "stock", "below", c).rows(t, "ingredient", "left_stock", "minimum"), []string{"flour 0 null"})
	if below := w.shown(t, "stock", "summary", c).value(t, "below_minimum"); below != "1" {
		t.Errorf("%s ingredients are below their minimum, want 1", below)
	}
}

// TestADayShowsTheWorstOfItsLocations: a day is proven in total, and one of its locations
// drifts. Proven? is about the total, and each location stands beside it.
func TestADayShowsTheWorstOfItsLocations(t *testing.T) {
	w := newBareWarehouse(t)
	day := w.to.AddDate(0, 0, -1).Format("2006-01-02")
	for _, location := range []string{"l1", "l2"} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, location_id, channel, type, business_day, created_at, totals_items, totals_net_sales, totals_total, _version) "+
			"VALUES ('p', '%[1]s', '%[1]s', 'pos', 'dine_in', '%[2]s', '%[2]s 12:00:00', 10, 10, 10, 1)", location, day))
	}
	for location, verdict := range map[string]string{"": "proven", "l1": "proven", "l2": "drift"} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.proofs (business_id, source, location_id, day, subject, verdict, asked_at) VALUES ('p', 's', '%s', '%s', 'daily', '%s', now64(6))", location, day, verdict))
	}
	c := w.mine()
	c.restaurants = []string{"p"}
	for _, locations := range [][]string{nil, {"l1", "l2"}} {
		c.locations = locations
		same(t, "each day", w.shown(t, "cash-up", "each_day", c).rows(t, "all_taken", "verdict"), []string{"20 drift"})
		same(t, "locations", w.shown(t, "cash-up", "places", c).rows(t, "location", "verdict"), []string{"l1 proven", "l2 drift"})
	}
	same(t, "chosen ones", w.shown(t, "cash-up", "proof", c).rows(t, "verdict"), []string{"drift"})
	c.locations = nil
	same(t, "the total", w.shown(t, "cash-up", "proof", c).rows(t, "verdict"), []string{"proven"})
}

// TestADayOpensFromMidnightToMidnight: a click on a day of Cash-up opens that day by the
// restaurant's clock, be it of 23 or of 25 hours.
func TestADayOpensFromMidnightToMidnight(t *testing.T) {
	w := newBareWarehouse(t)
	zone, err := time.LoadLocation("Europe/Bucharest")
	if err != nil {
		t.Fatal(err)
	}
	for day, hours := range map[string]time.Duration{"2026-03-29": 23, "2026-06-01": 24, "2026-10-25": 25} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, location_id, channel, type, business_day, created_at, totals_net_sales, _fetched_at, _version) "+
			"VALUES ('p', '%[1]s', 'l', 'pos', 'dine_in', '%[1]s', '%[1]s 12:00:00', 10, '%[1]s 12:01:00', 1)", day))
		begins, err := time.ParseInLocation("2006-01-02", day, zone)
		if err != nil {
			t.Fatal(err)
		}
		c := w.mine()
		c.restaurants, c.from, c.to = []string{"p"}, begins, begins.Add(hours*time.Hour-time.Second)
		opens := fmt.Sprintf("10 %d %d", begins.UnixMilli(), begins.Add(hours*time.Hour).UnixMilli()-1)
		same(t, day, w.shown(t, "cash-up", "each_day", c).rows(t, "all_taken", "day_begins", "day_ends"), []string{opens})
	}
}

// TestAMillionFitsItsColumn: a figure that is wider than its column would lose its first digit.
func TestAMillionFitsItsColumn(t *testing.T) {
	w := newBareWarehouse(t)
	c := w.mine()
	c.restaurants = []string{"p"}
	day := c.to.AddDate(0, 0, -1).Format("2006-01-02")
	w.exec(fmt.Sprintf("INSERT INTO larder_raw.sales_daily (business_id, id, date, orders, net_sales, tips, _fetched_at, _version) VALUES ('p', '%[1]s', '%[1]s', 2, 2246913.55, 999.99, '%[1]s 12:02:00', 1)", day))
	for location, net := range map[string]string{"large": "1234567.89", "small": "999999.99"} {
		w.exec(fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, location_id, channel, type, business_day, created_at, totals_net_sales, _fetched_at, _version) "+
			"VALUES ('p', '%[1]s', '%[1]s', 'pos', 'dine_in', '%[2]s', '%[2]s 12:00:00', %[3]s, '%[2]s 12:01:00', 1)", location, day, net))
	}
	same(t, "locations", w.shown(t, "cash-up", "places", c).rows(t, "location", "all_taken"), []string{"large 1234568", "small 999999.99"})
	figures := w.shown(t, "cash-up", "beside", c).rows(t, "figure", "mirrored", "service", "difference")
	for _, want := range []string{"net_sales 2234568 2246914 -12346", "tips 0 999.99 -999.99"} {
		if !slices.Contains(figures, want) {
			t.Errorf("%q is not in %v", want, figures)
		}
	}
}

// TestPriceChangesAreHeldAgainstTheDaysBefore: a price changed five days ago. What was sold a
// day before it is told where anything was sold in the week before those two, whatever the period.
func TestPriceChangesAreHeldAgainstTheDaysBefore(t *testing.T) {
	w := newBareWarehouse(t)
	day := func(ago int) string { return w.to.AddDate(0, 0, -ago).Format("2006-01-02") }
	const changed = 5
	for restaurant, soldOn := range map[string][]int{
		"long":   {60, changed + 15, changed + 14, changed + 1, changed, changed - 1, 1}, // days ago
		"short":  {changed + 14, changed},
		"closed": {60, changed + 22, changed},
		"none":   {},
	} {
		for version, price := range []int{10, 12} {
			w.exec(fmt.Sprintf("INSERT INTO larder_raw.product_history (business_id, id, name, location_id, available, price, valid_from, seen_at, _state, _version) "+
				"SELECT '%s', 'tea', 'Tea', 'own', true, %d, '%[3]s 10:00:00', '%[3]s 10:00:00', %[4]d, %[4]d", restaurant, price, day(changed*(2-version)), version+1))
		}
		for _, ago := range soldOn {
			w.exec(fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, location_id, channel, type, business_day, created_at, "+
				"items.id, items.product_id, items.name, items.variant_id, items.variant_name, items.quantity, items.weight_kg, items.price_per_kg, items.unit_price, items.extras_name, items.extras_price, items.discount_percent, items.vat_rate, items.total, _version) "+
				"SELECT '%s', '%d', 'own', 'pos', 'dine_in', '%[3]s', '%[3]s 12:00:00', ['1'], ['tea'], ['Tea'], [NULL], [NULL], [7], [NULL], [NULL], [10], [[]], [[]], [0], [11], [70], 1", restaurant, ago, day(ago)))
		}
	}
	for restaurant, want := range map[string]string{
		"long":   "Tea 12 20 1 4.2",    // 14 in 14 days, 21 in 5
		"short":  "Tea 12 20 null 1.4", // not more than 14 days
		"closed": "Tea 12 20 null 1.4",
		"none":   "Tea 12 20 null 0",
	} {
		c := w.mine()
		c.restaurants = []string{restaurant}
		same(t, restaurant, w.shown(t, "products", "prices", c).rows(t, "product", "price", "price_change", "a_day_before", "a_day_after"), []string{want})
	}
}

// TestSigned holds changes in percent: whole ones, since a point in a text would be that of
// thousands to a Romanian.
func TestSigned(t *testing.T) {
	w := newBareWarehouse(t)
	for ratio, want := range map[string]string{
		"27.3": "+27 %", "4.9": "+5 %", "0.4": "0 %", "0.0": "0 %", "-0.4": "0 %", "-4.94": "-5 %", "-195.2": "-195 %", "CAST(NULL, 'Nullable(Float64)')": "",
	} {
		same(t, ratio, w.texts("SELECT ifNull("+signed(ratio)+", '')"), []string{want})
	}
}
