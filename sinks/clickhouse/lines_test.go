package clickhouse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
)

// bani writes an amount in hundredths as the API does.
func bani(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

// orderOfLines is an order whose lines cost what totals say, in bani, one unit each.
func orderOfLines(id string, discount, fee int64, totals ...int64) string {
	var items []string
	var sum int64
	for i, total := range totals {
		sum += total
		items = append(items, fmt.Sprintf(`{"id":"%s-%d","product_id":null,"name":"line","variant_id":null,"variant_name":null,"quantity":"1.00","weight_kg":null,
"price_per_kg":null,"unit_price":"%s","extras":[],"discount_percent":0,"vat_rate":11,"total":"%s"}`, id, i, bani(total), bani(total)))
	}
	net := sum - discount + fee
	return fmt.Sprintf(`{"id":"%s","deleted":false,"number":null,"location_id":"l1","channel":"pos","type":"delivery","table_id":null,"business_day":"2026-03-28",
"created_at":"2026-03-28T10:00:00Z","updated_at":"2026-03-28T10:00:00Z","paid_at":null,"items":[%s],
"totals":{"items":"%s","discount":"%s","delivery_fee":"%s","tip":"0.00","deposit":"0.00","total":"%s","net_sales":"%s"},"payments":[],"refunds":[]}`,
		id, strings.Join(items, ","), bani(sum), bani(discount), bani(fee), bani(net), bani(net))
}

// TestLinesAddUp spreads discounts over lines of every shape: the lines of an order are
// its net sales less the delivery fee, to the ban.
func TestLinesAddUp(t *testing.T) {
	m := newMirror(t)
	random := rand.New(rand.NewPCG(3, 9))
	rows := []string{
		orderOfLines("free", 500, 0, 0, 0),                                // worth nothing: the first line bears it
		orderOfLines("thirds", 100, 250, 3333, 3333, 3334),                // rounding
		orderOfLines("minus", 100, 0, 1000, -300, 500),                    // a negative line gets none
		orderOfLines("all minus", 100, 0, -1000, -1),                      // so does each of these but the first
		orderOfLines("more than all", 9999, 0, 100, 100),                  // discounts may be any amount
		orderOfLines("surcharge", -700, 0, 100, 200, 300),                 // a discount below zero
		orderOfLines("vast", 1<<58, 0, 1<<57, 1<<56, 1, 1<<58, 1<<56, 77), // beyond what a restaurant sells
		orderOfLines("one", 1, 0, 1, 1, 1, 1, 1, 1, 1),
	}
	for i := range 300 {
		lines := make([]int64, 1+random.IntN(12))
		for l := range lines {
			lines[l] = random.Int64N(20_000)
		}
		rows = append(rows, orderOfLines(fmt.Sprint("random ", i), random.Int64N(30_000), random.Int64N(1500), lines...))
	}
	put[types.SalesOrder](m, "biz", "sales_orders", rows...)
	m.expect(`SELECT order_id FROM (SELECT order_id, sum(net) AS lines, sum(order_discount_share) AS discount FROM sales_items WHERE business_id = 'biz' GROUP BY order_id) AS items
JOIN (SELECT id AS order_id, totals_net_sales, totals_delivery_fee, totals_discount FROM sales_orders WHERE business_id = 'biz') AS orders USING (order_id)
WHERE lines != totals_net_sales - totals_delivery_fee OR discount != totals_discount`)
	m.expect("SELECT order_id, position, order_discount_share, net FROM sales_items WHERE order_id IN ('free', 'thirds', 'minus', 'all minus', 'one') ORDER BY order_id, position",
		"all minus|1|1|-11", "all minus|2|0|-0.01",
		"free|1|5|-5", "free|2|0|0",
		"minus|1|0.67|9.33", "minus|2|0|-3", "minus|3|0.33|4.67",
		"one|1|0|0.01", "one|2|0|0.01", "one|3|0|0.01", "one|4|0.01|0", "one|5|0|0.01", "one|6|0|0.01", "one|7|0|0.01",
		"thirds|1|0.33|33", "thirds|2|0.34|32.99", "thirds|3|0.33|33.01")
	// A share is never further than a ban from what the line is worth.
	m.expect(`SELECT count() FROM (SELECT toFloat64(order_discount_share) AS share, toFloat64(totals_discount) * toFloat64(total) / toFloat64(totals_items) AS fair
FROM sales_items JOIN (SELECT id AS order_id, totals_discount, totals_items FROM sales_orders) AS orders USING (order_id) WHERE order_id LIKE 'random %' AND totals_items > 0) WHERE abs(share - fair) > 0.0100001`, "0")
	m.expect("SELECT count() > 100, (SELECT count() FROM (SELECT order_id, position, product_id, variant_id, quantity, is_weighed, weight_kg FROM sales_quantities EXCEPT SELECT order_id, position, product_id, variant_id, quantity, is_weighed, weight_kg FROM sales_items)) FROM sales_quantities", "1|0")
}

// TestLinesOfTheAPI takes the lines of an order as the API gives them.
func TestLinesOfTheAPI(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("o1", "l1", "2026-03-28", "[]"),
		strings.Replace(orderRow("weighed", "l1", "2026-03-28", "[]"), `"quantity":"1.00","weight_kg":null,"price_per_kg":null,"unit_price":"12.00"`, `"quantity":"1.00","weight_kg":"0.350","price_per_kg":"34.29","unit_price":"12.00"`, 1),
		strings.NewReplacer(`"quantity":"2.00"`, `"quantity":"9999999999999999999999999999.00"`, `"vat_rate":11`, `"vat_rate":-100`).Replace(orderRow("absurd", "l1", "2026-03-28", "[]")))
	m.expect("SELECT position, gross, line_discount, extras_total, total, order_discount_share, net, vat_rate, vat_amount, is_weighed FROM sales_items WHERE order_id = 'o1' ORDER BY position",
		`1|23|0|3|23|2.4|20.6|11|2.04|false`, // (10 + 1.50) x 2; 23 of 33.50 of a discount of 3.50; 20.60 x 11 / 111
		`2|12|1.5|0|10.5|1.1|9.4|\N|\N|false`)
	m.expect("SELECT is_weighed, weight_kg, price_per_kg FROM sales_items WHERE order_id = 'weighed' ORDER BY position", `false|\N|\N`, "true|0.35|34.29")
	m.expect("SELECT count() > 2, (SELECT count() FROM (SELECT business_id, order_id, business_day, location_id, channel, position, product_id, variant_id, quantity, is_weighed, weight_kg FROM sales_quantities EXCEPT SELECT business_id, order_id, business_day, location_id, channel, position, product_id, variant_id, quantity, is_weighed, weight_kg FROM sales_items)), count() = (SELECT count() FROM sales_items) FROM sales_quantities", "1|0|1")
	m.expect("SELECT vat_amount, gross > 1000000 FROM sales_items WHERE order_id = 'absurd' AND position = 1", `\N|1`)
	m.expect("SELECT line_count, item_count, minutes_to_payment, discount_percent, has_refund, refunds_total FROM sales_orders WHERE id = 'o1'", "2|3|30|10.45|false|0")
	m.expect("SELECT item_name, name, price, amount FROM sales_item_extras WHERE order_id = 'o1' ORDER BY position", "Mici|muștar|1|2", "Mici|pâine|0.5|1")
}

// TestNamesStandBesideIDs renames and removes what orders name.
func TestNamesStandBesideIDs(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("o1", "l1", "2026-03-28", `[{"amount":"1.00","method":"card","at":"2026-03-28T10:40:00Z","item_id":"i1"}]`))
	put[types.SalesOrder](m, "other", "sales_orders", orderRow("o1", "l1", "2026-03-28", "[]"))
	m.expect("SELECT business_name, location_name FROM sales_orders", `\N|\N`, `\N|\N`)
	put[types.Location](m, "biz", "locations", strings.Replace(locationRow("l1"), `"L"`, `"Centru"`, 1), strings.Replace(locationRow("l1"), `"L"`, `"Centrul vechi"`, 1))
	put[types.Location](m, "other", "locations", strings.Replace(locationRow("l1"), `"L"`, `"Gară"`, 1))
	m.remove("biz", "locations", "l1", "gone") // its orders stay
	m.expect("SELECT business_id, location_name FROM sales_orders ORDER BY business_id", "biz|Centrul vechi", "other|Gară")
	for _, view := range []string{"sales_items", "sales_item_extras", "sales_payments", "sales_refunds", "sales_orders_full"} {
		m.expect("SELECT DISTINCT location_name FROM "+view+" WHERE business_id = 'biz'", "Centrul vechi")
	}
	m.expect("SELECT item_name, product_id, days_after_order FROM sales_refunds", "Mici|p1|0")
	m.expect("SELECT count() FROM locations WHERE business_id = 'biz'", "0")
}
