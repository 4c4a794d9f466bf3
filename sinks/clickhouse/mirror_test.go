package clickhouse_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/simulated"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/mapping"
)

// mirror stores JSON rows as the syncer does.
type mirror struct {
	*clickhouse.Sink
	t        *testing.T
	database string
	version  uint64
	at       time.Time
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	s, database := migrated(t, clickhouse.Options{FlushInterval: time.Millisecond})
	return &mirror{Sink: s, t: t, database: database, at: time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)}
}

// newMirrorAt has a database of its own, whose views read a clock of the test.
func newMirrorAt(t *testing.T, now time.Time) *mirror {
	t.Helper()
	s, database := migratedAnew(t, clickhouse.Options{FlushInterval: time.Millisecond})
	simulated.Clock{At: now}.Set(t, database)
	return &mirror{Sink: s, t: t, database: database, at: now}
}

func put[T any](m *mirror, business, stream string, rows ...string) {
	m.t.Helper()
	plan, err := mapping.Compile[T](stream)
	if err != nil {
		m.t.Fatal(err)
	}
	m.store(business, stream, batchOf(m, plan, rows))
}

func batchOf(m *mirror, plan *mapping.Plan, rows []string, context ...string) *sinks.Batch {
	m.t.Helper()
	b := sinks.NewBatch(plan.Table(), len(rows))
	mapper := plan.NewMapper()
	for _, raw := range rows {
		result, err := mapper.Append(b, []byte(raw), context...)
		if err != nil {
			m.t.Fatal(err)
		}
		m.version++
		m.at = m.at.Add(time.Minute)
		id := result.ID
		if id == "" {
			id = raw
		}
		if err := b.EndRow(sinks.Row{ID: id, Version: m.version, FetchedAt: m.at, Raw: []byte(raw)}); err != nil {
			m.t.Fatal(err)
		}
	}
	return b
}

func (m *mirror) store(business, stream string, b *sinks.Batch, stones ...sinks.Tombstone) {
	m.t.Helper()
	m.commit(&sinks.Commit{Source: "src-" + business, Business: business, Stream: stream, Batch: b, Tombstones: stones})
}

func (m *mirror) commit(c *sinks.Commit) {
	m.t.Helper()
	receipt, err := m.Write(context.Background(), c)
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := receipt.Wait(ctx); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mirror) remove(business, stream, id, reason string) {
	m.t.Helper()
	m.version++
	m.at = m.at.Add(time.Minute)
	m.store(business, stream, nil, sinks.Tombstone{ID: id, Version: m.version, FetchedAt: m.at, Reason: reason, DeletedAt: m.at.Add(-time.Second)})
}

// expect compares the lines of an answer, tabs shown as bars.
func (m *mirror) expect(sql string, want ...string) {
	m.t.Helper()
	answer := strings.TrimSuffix(query(m.t, m.Sink, sql, "TSV"), "\n")
	var got []string
	if answer != "" {
		got = strings.Split(strings.ReplaceAll(answer, "\t", "|"), "\n")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.t.Errorf("%s (-want +got):\n%s", sql, diff)
	}
}

// An order as the API sends it, with holes for what the tests vary.
const orderJSON = `{"id":"ID","deleted":false,"number":"17","location_id":"LOC","channel":"pos","type":"dine_in","table_id":null,
"business_day":"DAY","created_at":"DAYT10:00:00Z","updated_at":"DAYT10:30:00Z","paid_at":"DAYT10:30:00Z",
"items":[
 {"id":"i1","product_id":"p1","name":"Mici","variant_id":null,"variant_name":null,"quantity":"2.00","weight_kg":null,"price_per_kg":null,"unit_price":"10.00",
  "extras":[{"name":"muștar","price":"1.00"},{"name":"pâine","price":"0.50"}],"discount_percent":0,"vat_rate":11,"total":"23.00"},
 {"id":"i2","product_id":null,"name":"Limonadă","variant_id":"v_1","variant_name":"mare","quantity":"1.00","weight_kg":null,"price_per_kg":null,"unit_price":"12.00",
  "extras":[],"discount_percent":12.5,"vat_rate":null,"total":"10.50"}],
"totals":{"items":"33.50","discount":"3.50","delivery_fee":"0.00","tip":"2.00","deposit":"0.50","total":"32.50","net_sales":"30.00"},
"payments":[{"method":"cash","amount":"12.50","at":"DAYT10:29:00Z"},{"method":"card","amount":"20.00","at":"DAYT10:30:00Z"}],
"refunds":REFUNDS}`

func orderRow(id, location, day, refunds string) string {
	return strings.NewReplacer("ID", id, "LOC", location, "DAY", day, "REFUNDS", refunds).Replace(orderJSON)
}

func TestOrdersUnfold(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("o1", "l1", "2026-03-28", `[{"amount":"12.00","method":"card","at":"2026-03-28T22:30:00Z","item_id":"i2"},{"amount":"1.00","method":"cash","at":"2026-03-29T21:30:00Z","item_id":null}]`))
	put[types.SalesOrder](m, "other", "sales_orders", orderRow("o1", "l9", "2026-03-28", `[]`))
	m.expect("SELECT business_id, order_id, position, id, product_id, name, variant_name, quantity, unit_price, discount_percent, vat_rate, total, extras_name FROM sales_items ORDER BY ALL LIMIT 2",
		`biz|o1|1|i1|p1|Mici|\N|2|10|0|11|23|['muștar','pâine']`,
		`biz|o1|2|i2|\N|Limonadă|mare|1|12|12.5|\N|10.5|[]`)
	m.expect("SELECT order_id, item_position, item_id, position, name, price, item_quantity FROM sales_item_extras WHERE business_id = 'biz' ORDER BY ALL",
		"o1|1|i1|1|muștar|1|2", "o1|1|i1|2|pâine|0.5|2")
	m.expect("SELECT position, method, amount, at FROM sales_payments WHERE business_id = 'biz' ORDER BY ALL",
		"1|cash|12.5|2026-03-28 12:29:00.000000", "2|card|20|2026-03-28 12:30:00.000000")
	// 22:30 UTC is half past midnight in Bucharest in winter, and half past one after the clock went forward.
	m.expect("SELECT position, amount, item_id, refund_day FROM sales_refunds WHERE business_id = 'biz' ORDER BY ALL",
		"1|12|i2|2026-03-29", `2|1|\N|2026-03-30`)
	m.expect("SELECT business_id, id, totals_net_sales, _source, JSONExtractString(_raw, 'number') FROM sales_orders_full ORDER BY ALL",
		"biz|o1|30|src-biz|17", "other|o1|30|src-other|17")
	// A line without a rate has no VAT that is known, and no rate of 0.
	m.expect("SELECT vat, vat_by_rate FROM day_close WHERE business_id = 'other'", "2.04|{'11':2.04}")
	// Whose part of two payments the tip is, is not known; of one it is.
	one := strings.Replace(orderRow("o2", "l1", "2026-03-28", "[]"), `{"method":"cash","amount":"12.50","at":"2026-03-28T10:29:00Z"},`, "", 1)
	put[types.SalesOrder](m, "tips", "sales_orders", orderRow("o1", "l1", "2026-03-28", "[]"), one, strings.NewReplacer(`"o2"`, `"o3"`, `"tip":"2.00"`, `"tip":"0.00"`).Replace(one))
	m.expect("SELECT order_id, position, tip FROM sales_payments WHERE business_id = 'tips' ORDER BY ALL", `o1|1|\N`, `o1|2|\N`, "o2|1|2", "o3|1|0")
}

// What adds up stands in columns that can be added up: pieces apart from kilograms.
func TestPiecesAndKilogramsAreApart(t *testing.T) {
	m := newMirror(t)
	weighed := strings.NewReplacer(`"quantity":"1.00","weight_kg":null`, `"quantity":"0.450","weight_kg":"0.450"`).Replace(orderRow("o1", "l1", "2026-03-28", "[]"))
	put[types.SalesOrder](m, "biz", "sales_orders", weighed)
	for _, view := range []string{"sales_items", "sales_lines", "sales_quantities"} {
		m.expect("SELECT sum(quantity), sum(pieces), sum(weight_kg), countIf(isNull(pieces)) FROM "+view, "2.45|2|0.45|1")
	}
}

// Dimensions have the members that were removed too, with when and why.
func TestRemovedMembersOfDimensions(t *testing.T) {
	m := newMirror(t)
	category := `{"id":"ID","deleted":false,"location_id":null,"name":"Supe","image_url":null,"position":1,"created_at":null,"updated_at":"2026-03-01T10:00:00Z"}`
	put[types.Category](m, "biz", "categories", strings.Replace(category, "ID", "c1", 1), strings.Replace(category, "ID", "c2", 1))
	m.version++
	m.store("biz", "categories", nil,
		sinks.Tombstone{ID: "c1", Version: m.version, FetchedAt: m.at, Reason: "deleted", UpdatedAt: time.Date(2026, 3, 28, 10, 0, 0, 0, time.UTC)},
		sinks.Tombstone{ID: "never", Version: m.version, FetchedAt: m.at, Reason: "deleted"})
	m.expect("SELECT category_id, category_name, location_id, removed, removed_reason, removed_at FROM categories_ever ORDER BY ALL",
		`c1|Supe|\N|true|deleted|2026-03-28 12:00:00.000000`, `c2|Supe|\N|false|\N|\N`, `never|\N|\N|true|deleted|\N`)
	m.expect("SELECT id FROM categories", "c2")

	put[types.Location](m, "biz", "locations", openFromTen(), locationRow("l2"))
	m.expect("SELECT weekday, open, close, closed FROM location_hours WHERE location_id = 'l1' AND weekday IN (1, 5, 7) ORDER BY weekday",
		`1|\N|\N|true`, "5|10:00|02:00|false", "7|10:00|22:00|false")
	m.expect("SELECT count(), countIf(isNull(closed)) FROM location_hours WHERE location_id = 'l2'", "7|7")
	m.expect("SELECT location_id, position, date, closed, reason FROM location_exceptions", "l1|1|2026-03-06|true|nuntă")
	m.remove("biz", "locations", "l2", "no_access")
	m.expect("SELECT location_id, removed, removed_reason, isNull(removed_at) FROM locations_ever ORDER BY location_id", `l1|false|\N|1`, "l2|true|no_access|0")
	m.expect("SELECT uniqExact(location_id) FROM location_hours", "1")

	put[types.Allergen](m, "biz", "allergens", `{"code":"A1","name":"gluten"}`, `{"code":"A7","name":"lapte"}`)
	m.remove("biz", "allergens", "A7", "gone")
	m.expect("SELECT code, name, removed, removed_reason FROM allergens_ever ORDER BY code", `A1|gluten|false|\N`, "A7|lapte|true|gone")
	put[types.Ingredient](m, "biz", "ingredients", strings.NewReplacer("STOCK", "1.000", "STAMP", "2026-03-01T10:00:00Z", `"allergens":[]`, `"allergens":[{"code":"A1","name":"gluten"}]`).Replace(ingredientJSON))
	m.expect("SELECT ingredient_id, ingredient_name, position, code, name FROM ingredient_allergens", "s1|Făină|1|A1|gluten")
}

func TestRemovedOrders(t *testing.T) {
	m := newMirror(t)
	day := "2026-03-28"
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", day, "[]"), orderRow("b", "l1", day, "[]"), orderRow("c", "l1", day, "[]"))
	m.remove("biz", "sales_orders", "a", "cancelled")
	m.remove("biz", "sales_orders", "a", "deleted")
	m.remove("biz", "sales_orders", "b", "unpaid")
	m.remove("biz", "sales_orders", "ghost", "deleted")
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("b", "l2", day, "[]"))
	m.expect("SELECT id, reason, value_known, business_day, totals_net_sales, length(`items.id`), isNull(removed_at) FROM sales_orders_removed WHERE business_id = 'biz' ORDER BY id",
		"a|deleted|true|2026-03-28|30|2|0", `ghost|deleted|false|\N|\N|0|0`)
	m.expect("SELECT id, location_id FROM sales_orders ORDER BY id", "b|l2", "c|l1")
	m.expect("SELECT count() FROM sales_items", "4")
}

// TestOldValuesDoNotMatch filters on what a row used to be: moving conditions
// before FINAL would find it.
func TestOldValuesDoNotMatch(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "old", "2026-03-01", "[]"), orderRow("b", "old", "2026-03-01", "[]"))
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "new", "2026-04-01", "[]"))
	m.remove("biz", "sales_orders", "b", "deleted")
	for _, where := range []string{"location_id = 'old'", "business_day = '2026-03-01'", "business_day < '2026-04-01' AND totals_net_sales > 0"} {
		m.expect("SELECT count() FROM sales_orders WHERE "+where, "0")
		m.expect("SELECT count() FROM sales_items WHERE "+strings.ReplaceAll(where, "totals_net_sales", "total"), "0")
	}
	m.expect("SELECT count() FROM sales_orders WHERE business_day = '2026-04-01'", "1")
}

const productJSON = `{"id":"p1","deleted":false,"location_id":"l1","category_id":"c1","name":"Pizza","description":null,"image_url":null,"price":"PRICE","unit":"piece",
"vat_rate":11,"deposit":null,"available":AVAILABLE,"allergens":[{"code":"A1","name":"gluten"}],"diets":["vegetarian"],"calories":null,"prep_minutes":15,"station":"kitchen",
"channels":{"online":{"enabled":true,"price":"31.00"},"platform_a":{"enabled":false,"price":"35.00"},"platform_z":{"enabled":true,"price":"36.00"}},
"variants":[{"id":"v_1","name":"mică","price":"25.00","price_delta":"-5.00"},{"id":"v_2","name":"mare","price":"40.00","price_delta":"10.00"}],
"extra_groups":[{"id":"g_1","name":"Sosuri","min":0,"max":null,"required":false,"options":[{"id":"x_1","name":"alb","price":"2.00"},{"id":"x_2","name":"roșu","price":"2.50"}]},
 {"id":"g_2","name":"Blat","min":1,"max":1,"required":true,"options":[]}],
"position":3,"created_at":"2026-01-01T00:00:00Z","updated_at":"STAMP"}`

func product(price, available, stamp string) string {
	return strings.NewReplacer("PRICE", price, "AVAILABLE", available, "STAMP", stamp).Replace(productJSON)
}

func TestProductsUnfoldAndKeepTheirHistory(t *testing.T) {
	m := newMirror(t)
	put[types.Product](m, "biz", "products", product("30.00", "true", "2026-03-01T10:00:00Z"))
	m.expect("SELECT product_id, channel, enabled, price FROM product_channels ORDER BY channel",
		"p1|direct|true|31", "p1|platform_a|false|35", "p1|platform_z|true|36")
	m.expect("SELECT product_name, position, id, name, price, price_delta FROM product_variants ORDER BY position",
		"Pizza|1|v_1|mică|25|-5", "Pizza|2|v_2|mare|40|10")
	m.expect("SELECT group_position, group_id, group_min, group_max, group_required, position, id, name, price FROM product_options ORDER BY ALL",
		`1|g_1|0|\N|false|1|x_1|alb|2`, `1|g_1|0|\N|false|2|x_2|roșu|2.5`, `2|g_2|1|1|true|\N|\N|\N|\N`)
	m.expect("SELECT product_id, product_name, location_id, position, code, name FROM product_allergens", "p1|Pizza|l1|1|A1|gluten")

	put[types.Product](m, "biz", "products", product("30.00", "true", "2026-03-02T10:00:00Z")) // nothing but the stamp
	put[types.Product](m, "biz", "products", product("32.00", "true", "2026-03-03T10:00:00Z"))
	put[types.Product](m, "biz", "products", product("32.00", "false", "2036-03-03T10:00:00Z")) // dated in the future
	m.remove("biz", "products", "p1", "gone")
	put[types.Product](m, "biz", "products", product("32.00", "true", "2026-04-01T12:06:00Z"))
	m.expect("SELECT valid_from, valid_to, removed, removed_reason, price, available, length(`variants.id`) FROM product_history WHERE business_id = 'biz' ORDER BY valid_from",
		`2026-03-01 12:00:00.000000|2026-03-03 12:00:00.000000|false||30|true|2`,
		`2026-03-03 12:00:00.000000|2026-04-01 15:04:00.000000|false||32|true|2`,
		`2026-04-01 15:04:00.000000|2026-04-01 15:04:59.000000|false||32|false|2`,
		`2026-04-01 15:04:59.000000|2026-04-01 15:06:00.000000|true|gone|32|false|2`,
		`2026-04-01 15:06:00.000000|\N|false||32|true|2`)
}

const ingredientJSON = `{"id":"s1","location_id":"l1","name":"Făină","deleted":false,"unit":"kg","stock":"STOCK","min_stock":"5.000","below_min":false,"category":{"id":"c","name":"Uscate"},
"warehouse":null,"sku":null,"barcode":null,"is_prepared":false,"allergens":[],"created_at":null,"updated_at":"STAMP"}`

func TestStockHistory(t *testing.T) {
	m := newMirror(t)
	for _, move := range [][2]string{{"10.000", "2026-03-01T10:00:00Z"}, {"9.500", "2026-03-01T11:00:00Z"}, {"9.500", "2026-03-01T11:30:00Z"}, {"10.000", "2026-03-01T12:00:00Z"}} {
		put[types.Ingredient](m, "biz", "ingredients", strings.NewReplacer("STOCK", move[0], "STAMP", move[1]).Replace(ingredientJSON))
	}
	m.expect("SELECT stock, toHour(toTimeZone(valid_from, 'UTC')), toHour(toTimeZone(valid_to, 'UTC')) FROM stock_history ORDER BY valid_from", `10|10|11`, `9.5|11|12`, `10|12|\N`)
	m.expect("SELECT category_name, warehouse_id, stock FROM ingredients", `Uscate|\N|10`)
}
