package clickhouse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// TestEveryInstantIsTheRestaurants looks at the type of every instant of both databases.
func TestEveryInstantIsTheRestaurants(t *testing.T) {
	s, database := migrated(t, clickhouse.Options{})
	instants := 0
	for line := range strings.Lines(query(t, s, fmt.Sprintf("SELECT table, name, type FROM system.columns WHERE database IN (%s, %s) AND type LIKE '%%DateTime%%'",
		sqlText(database), sqlText(database+"_raw")), "TSVRaw")) {
		instants++
		if !strings.Contains(line, "DateTime64(6, '"+schema.Zone+"')") {
			t.Errorf("an instant without the zone: %s", line)
		}
	}
	if instants < 100 {
		t.Errorf("only %d instants were looked at", instants)
	}
}

// TestLocalTime reads hours, days and weekdays through both changes of clock.
func TestLocalTime(t *testing.T) {
	notInShort(t)
	m := newMirror(t)
	at := func(id, instant string) string {
		return strings.ReplaceAll(strings.Replace(orderRow(id, "l1", instant[:10], "[]"), instant[:10]+"T10:00:00Z", instant, 1), `"business_day":"`+instant[:10]+`"`, `"business_day":"2026-01-01"`)
	}
	put[types.SalesOrder](m, "biz", "sales_orders",
		at("a", "2026-03-29T00:59:59Z"), // the hour from 3 to 4 is not there
		at("b", "2026-03-29T01:00:00Z"),
		at("c", "2026-10-25T00:30:00Z"), // that one is there twice
		at("d", "2026-10-25T01:30:00Z"),
		at("e", "2026-07-31T21:30:00Z"), // the next day, and month
		at("f", "2026-12-31T21:59:59Z"), at("g", "2026-12-31T22:00:00Z"))
	m.expect("SELECT id, toHour(created_at), toDate(created_at), toDayOfWeek(created_at), toStartOfMonth(created_at), toUnixTimestamp(created_at) FROM sales_orders ORDER BY id",
		"a|2|2026-03-29|7|2026-03-01|1774745999", "b|4|2026-03-29|7|2026-03-01|1774746000",
		"c|3|2026-10-25|7|2026-10-01|1792888200", "d|3|2026-10-25|7|2026-10-01|1792891800",
		"e|0|2026-08-01|6|2026-08-01|1785533400",
		"f|23|2026-12-31|4|2026-12-01|1798754399", "g|0|2027-01-01|5|2027-01-01|1798754400")
	// A text without a zone means the restaurant's clock, and so does the session.
	m.expect("SELECT id FROM sales_orders WHERE created_at >= '2026-07-31 00:00:00' AND created_at < '2026-08-01 00:00:00'")
	m.expect("SELECT id FROM sales_orders WHERE created_at >= '2026-08-01 00:00:00' AND created_at < '2026-08-01 01:00:00'", "e")
	m.expect("SELECT timezone(), today() = toDate(now('Europe/Bucharest'))", "Europe/Bucharest|1")
}

// TestDatesPrune asks the engine which of its indexes the filters of BI tools use.
func TestDatesPrune(t *testing.T) {
	notInShort(t)
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", "2026-03-28", "[]"))
	m.remove("biz", "sales_orders", "a", "cancelled")
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("b", "l1", "2026-03-28", "[]"))
	m.dayTotals("biz", "2026-03-28", "", "1", "30.00", "33.50", "3.50", "0.00", oneOrder)
	if err := enginetest.Conn(t, "default").Exec(t.Context(), "INSERT INTO `"+m.database+"_raw`.sales_products (business_id, id, date) VALUES ('biz', '2026-03-28/p/1', '2026-03-28')"); err != nil {
		t.Fatal(err)
	}
	const range64 = " >= toDateTime64('2026-03-01 00:00:00', 3) AND %[1]s < toDateTime64('2026-04-01 00:00:00', 3)"
	for _, c := range []struct{ view, column, filter, index string }{
		{"sales_orders", "business_day", "%s BETWEEN '2026-03-01' AND '2026-03-31'", "business_day_minmax"},
		{"sales_orders", "created_at", "%s >= toDateTime('2026-03-01 00:00:00') AND %[1]s <= toDateTime(1775000000)", "created_at_minmax"},
		{"sales_orders", "created_at", "%s" + range64, "created_at_minmax"},
		{"sales_orders", "created_at", "%s >= '2026-03-01' AND %[1]s < '2026-04-01'", "created_at_minmax"},
		{"sales_orders", "created_at", "toDate(%s) = '2026-03-28'", "created_at_minmax"},
		{"sales_orders", "paid_at", "%s" + range64, "paid_at_minmax"},
		{"sales_items", "created_at", "%s" + range64, "created_at_minmax"},
		{"sales_payments", "paid_at", "%s" + range64, "paid_at_minmax"},
		{"sales_refunds", "business_day", "%s >= '2026-03-01'", "business_day_minmax"},
		{"sales_daily", "date", "%s >= toDate('2026-03-01') AND %[1]s <= toDate('2026-03-31')", "date_minmax"},
		{"sales_daily_by_location", "date", "%s = '2026-03-28'", "date_minmax"},
		{"sales_products", "date", "%s >= '2026-03-01'", "date_minmax"},
		{"sales_daily_computed", "date", "%s >= '2026-03-01'", "business_day_minmax"},
		{"reconciliation", "date", "%s >= '2026-03-01'", "date_minmax"},
		{"day_close", "date", "%s = '2026-03-28'", "business_day_minmax"},
	} {
		plan := query(t, m.Sink, "EXPLAIN indexes = 1 SELECT * FROM "+c.view+" WHERE business_id = 'biz' AND "+fmt.Sprintf(c.filter, c.column), "TSVRaw")
		if !strings.Contains(plan, "Name: "+c.index) {
			t.Errorf("%s by %s: %s does not use %s:\n%s", c.view, c.column, fmt.Sprintf(c.filter, c.column), c.index, plan)
		}
	}
}
