package clickhouse_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
	"github.com/larder-sync/larder/syncer/mapping"
)

// dayTotals are the service's totals of a day; a day's key is the date, with the
// location behind it when it is of one.
func (m *mirror) dayTotals(business, day, location, orders, net, items, discounts, refunds, maps string) {
	m.t.Helper()
	plan, err := mapping.Compile[types.SalesDay]("sales_daily", sinks.Column{Name: "location_id", Kind: sinks.Text, Nullable: true})
	if err != nil {
		m.t.Fatal(err)
	}
	raw := fmt.Sprintf(`{"date":%q,"orders":%s,"net_sales":%q,"items":%q,"discounts":%q,"delivery_fees":"0.00","tips":"2.00","deposits":"0.50","refunds":%q,%s}`,
		day, orders, net, items, discounts, refunds, maps)
	b := batchOf(m, plan, []string{raw}, location)
	b.Rows[0].ID = strings.TrimSuffix(day+"/"+location, "/")
	m.store(business, "sales_daily", b)
}

const oneOrder = `"payments":{"cash":"12.50","card":"20.00","voucher":"0.00"},"by_type":{"dine_in":"30.00","delivery":"0.00"},"by_channel":{"pos":"30.00","direct":"0.00"}`

func TestTotalsSideBySide(t *testing.T) {
	m := newMirror(t)
	put[types.SalesOrder](m, "biz", "sales_orders",
		orderRow("a", "l1", "2026-03-28", `[{"amount":"5.00","method":"card","at":"2026-03-28T21:59:59Z","item_id":null},{"amount":"7.00","method":"card","at":"2026-03-28T22:00:00Z","item_id":null}]`),
		orderRow("b", "l1", "2026-03-30", "[]"), orderRow("c", "l2", "2026-03-30", "[]"), orderRow("gone", "l1", "2026-03-30", "[]"))
	m.remove("biz", "sales_orders", "gone", "cancelled")
	const figures = "date, orders, net_sales, items, discounts, tips, deposits, refunds, payments, by_type, by_channel"
	m.expect("SELECT location_id, "+figures+" FROM sales_daily_computed_by_location WHERE business_id = 'biz' ORDER BY date, location_id",
		"l1|2026-03-28|1|30|33.5|3.5|2|0.5|5|{'card':20,'cash':12.5}|{'dine_in':30}|{'pos':30}",
		"l1|2026-03-29|0|0|0|0|0|0|7|{}|{}|{}",
		"l1|2026-03-30|1|30|33.5|3.5|2|0.5|0|{'card':20,'cash':12.5}|{'dine_in':30}|{'pos':30}",
		"l2|2026-03-30|1|30|33.5|3.5|2|0.5|0|{'card':20,'cash':12.5}|{'dine_in':30}|{'pos':30}")
	m.expect("SELECT "+figures+", average_order FROM sales_daily_computed WHERE business_id = 'biz' ORDER BY date",
		"2026-03-28|1|30|33.5|3.5|2|0.5|5|{'card':20,'cash':12.5}|{'dine_in':30}|{'pos':30}|30",
		`2026-03-29|0|0|0|0|0|0|7|{}|{}|{}|\N`,
		"2026-03-30|2|60|67|7|4|1|0|{'card':40,'cash':25}|{'dine_in':60}|{'pos':60}|30")

	m.dayTotals("biz", "2026-03-28", "", "1", "30.00", "33.50", "3.50", "5.00", oneOrder)
	m.dayTotals("biz", "2026-03-28", "l1", "1", "30.01", "33.50", "3.50", "5.00", strings.Replace(oneOrder, `"card":"20.00"`, `"card":"20.01"`, 1))
	m.dayTotals("biz", "2026-03-27", "", "0", "0.00", "0.00", "0.00", "0.00", `"payments":{"cash":"0.00"},"by_type":{},"by_channel":{}`)
	m.dayTotals("biz", "2026-03-30", "l2", "7", "30.00", "33.50", "3.50", "0.00", oneOrder)
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("late", "l2", "2026-03-30", "[]"))
	m.expect("SELECT date, verdict, differences FROM reconciliation WHERE business_id = 'biz' ORDER BY date",
		"2026-03-27|differs|['tips','deposits']",
		"2026-03-28|equal|[]",
		"2026-03-29|unproven|['no totals']",
		"2026-03-30|unproven|['no totals']")
	m.expect("SELECT location_id, date, verdict, differences FROM reconciliation_by_location WHERE business_id = 'biz' ORDER BY date, location_id",
		"l1|2026-03-28|differs|['net_sales','payments']",
		"l1|2026-03-29|unproven|['no totals']",
		"l1|2026-03-30|unproven|['no totals']",
		"l2|2026-03-30|unproven|['orders','net_sales','items','discounts','tips','deposits','payments','by_type','by_channel']")
	m.expect("SELECT service_net_sales, mirror_net_sales, service_payments['card'], mirror_payments['card'] FROM reconciliation_by_location WHERE verdict = 'differs' AND date = '2026-03-28'", "30.01|30|20.01|20")
}

// TestOneRestaurantIsReadAlone asks the engine how many rows it would read for
// one restaurant of fifteen, through every view of theirs.
func TestOneRestaurantIsReadAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the engine for plans: no goroutines of ours meet")
	}
	m := newMirror(t)
	const each, restaurants = 9000, 15
	chance := rand.New(rand.NewPCG(5, 6))
	table := tables(t, m.Sink)["sales_orders"]
	page := orderPage(table, chance, each)
	for n := range restaurants {
		b := *page
		b.Rows = make([]sinks.Row, each)
		for r := range b.Rows {
			b.Rows[r] = sinks.Row{ID: fmt.Sprintf("%08x", chance.Uint32()), Version: uint64(n*each + r + 1), FetchedAt: time.Unix(1, 0), Raw: []byte("{}")}
		}
		m.store(fmt.Sprintf("biz-%02d", n), "sales_orders", &b)
	}
	provenDays, provenProducts := clickhouse.ProofStatements(m.Sink, sinks.DayQuery{Business: "biz-07", From: "2026-01-01", To: "2026-04-02"})
	for what, sql := range map[string]string{
		"proven days":    provenDays,
		"proven lines":   provenProducts,
		"days":           "SELECT business_day, sum(totals_net_sales) FROM sales_orders WHERE business_id = 'biz-07' AND business_day >= '2026-01-01' GROUP BY business_day",
		"items":          "SELECT name, sum(total) FROM sales_items WHERE business_id = 'biz-07' AND business_day >= '2026-01-01' GROUP BY name",
		"extras":         "SELECT name, count() FROM sales_item_extras WHERE business_id = 'biz-07' GROUP BY name",
		"payments":       "SELECT method, sum(amount) FROM sales_payments WHERE business_id = 'biz-07' GROUP BY method",
		"refunds":        "SELECT refund_day, sum(amount) FROM sales_refunds WHERE business_id = 'biz-07' GROUP BY refund_day",
		"removed":        "SELECT id, reason FROM sales_orders_removed WHERE business_id = 'biz-07'",
		"computed":       "SELECT date, net_sales FROM sales_daily_computed WHERE business_id = 'biz-07'",
		"proof":          "SELECT proven_until FROM proof WHERE business_id = 'biz-07' AND location_id IS NULL",
		"data quality":   "SELECT order_id, rule FROM data_quality WHERE business_id = 'biz-07'",
		"orders":         "SELECT * FROM sales_orders WHERE business_id = 'biz-07' AND created_at >= '2026-01-01'",
		"day close":      "SELECT * FROM day_close WHERE business_id = 'biz-07'",
		"places":         "SELECT date, verdict FROM reconciliation_by_location WHERE business_id = 'biz-07'",
		"reconciliation": "SELECT date, verdict FROM reconciliation WHERE business_id = 'biz-07'",
	} {
		most := 2 * (each + 2*8192)
		if strings.Contains(sql, "day_close") {
			most *= 2 // orders on their day, refunds on theirs, each twice, and the first day
		}
		if read := m.wouldRead(sql); read == 0 || read > most {
			t.Errorf("%s: reads %d rows of %d for a restaurant that has %d", what, read, each*restaurants, each)
		}
	}
	for sql, reads := range map[string]bool{provenDays: false, provenProducts: false, "SELECT _raw FROM sales_orders_full": true, "SELECT * FROM sales_orders": false} {
		if plan := query(t, m.Sink, "EXPLAIN header = 1 "+sql, "TSVRaw"); strings.Contains(plan, "_raw String") != reads {
			t.Errorf("whether the JSON of rows is read should be %t: %s", reads, plan)
		}
	}
	if all := m.wouldRead("SELECT sum(total) FROM sales_items"); all < each*restaurants {
		t.Errorf("the measure is wrong: all rows are %d", all)
	}
}

// wouldRead adds up the rows that EXPLAIN ESTIMATE names.
func (m *mirror) wouldRead(sql string) int {
	m.t.Helper()
	rows := 0
	for line := range strings.Lines(query(m.t, m.Sink, "EXPLAIN ESTIMATE "+sql, "TSV")) {
		fields := strings.Split(line, "\t")
		n, err := strconv.Atoi(fields[3])
		if err != nil {
			m.t.Fatal(err)
		}
		rows += n
	}
	return rows
}

func TestSyncViews(t *testing.T) {
	m := newMirror(t)
	at := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	bad := sinks.Quarantined{ID: "x", Field: "price", Reason: "no money", Raw: []byte(`{"id":"x"}`), Version: 3, FetchedAt: at}
	for _, c := range []*sinks.Commit{
		{Source: "s", Business: "biz", Stream: "products", Status: &sinks.StreamStatus{Source: "s", Stream: "products", State: "starting", ChangedAt: at},
			Drift: []sinks.Drift{{Path: "a.b", Kind: "field", Example: `"later"`, SeenAt: at.Add(time.Hour)}, {Path: "a.b", Kind: "field", Example: `"first"`, RowID: "p", SeenAt: at}}},
		{Source: "s", Business: "biz", Stream: "products", Quarantine: []sinks.Quarantined{bad}, Status: &sinks.StreamStatus{Source: "s", Stream: "products", State: "running", ChangedAt: at},
			Checkpoint: &sinks.Checkpoint{Source: "s", Stream: "products", Walk: "backfill", Watermark: at, Done: true, Rows: 12, UpdatedAt: at},
			Run:        &sinks.Run{Source: "s", Stream: "products", Walk: "backfill", StartedAt: at, FinishedAt: at.Add(time.Second), Rows: 12, Tombs: 1}},
		{Source: "s", Business: "biz", Stream: "products", Checkpoint: &sinks.Checkpoint{Source: "s", Stream: "products", Walk: "incremental", Watermark: at.Add(time.Minute), UpdatedAt: at}},
		{Source: "s", Business: "biz", Stream: "ingredients", Status: &sinks.StreamStatus{Source: "s", Stream: "ingredients", State: "backfill", ChangedAt: at},
			Checkpoint: &sinks.Checkpoint{Source: "s", Stream: "ingredients", Walk: "backfill", Watermark: at, Rows: 7, UpdatedAt: at}},
		{Source: "s", Business: "biz", Stream: "locations", Checkpoint: &sinks.Checkpoint{Source: "s", Stream: "locations", Walk: "snapshot", UpdatedAt: at}},
	} {
		receipt, err := m.Write(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := receipt.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	m.expect("SELECT business_id, source, stream, state, watermark, backfill_done, backfill_rows, quarantined FROM sync_streams ORDER BY stream",
		"biz|s|ingredients|backfill|2026-04-01 15:00:00.000000|false|7|0",
		`biz|s|locations||\N|\N|\N|0`, "biz|s|products|running|2026-04-01 15:01:00.000000|true|12|1")
	m.expect("SELECT stream, state_since FROM sync_streams WHERE stream != 'ingredients' ORDER BY stream", `locations|\N`, "products|2026-04-01 15:00:00.000000")
	m.expect("SELECT business_id, walk, rows, tombstones, error FROM sync_runs", "biz|backfill|12|1|")

	m.expect("SELECT business_id, stream, row_id, field, raw FROM quarantine", `biz|products|x|price|{"id":"x"}`)
	m.expect("SELECT path, example, row_id, first_seen_at FROM schema_drift", `a.b|"first"|p|2026-04-01 15:00:00.000000`)
	counts, err := m.Counts(t.Context(), schema.StreamTables)
	if err != nil || len(counts) != 0 {
		t.Errorf("counts of an empty mirror: %v, %v", counts, err)
	}
	put[types.SalesOrder](m, "biz", "sales_orders", orderRow("a", "l1", "2026-03-28", "[]"), orderRow("b", "l1", "2026-03-28", "[]"))
	put[types.SalesOrder](m, "biz2", "sales_orders", orderRow("a", "l1", "2026-03-28", "[]"))
	m.remove("biz", "sales_orders", "b", "deleted")
	many := []string{"biz"} // more than the statement may hold by default
	for i := range 2000 {
		many = append(many, fmt.Sprintf("nobody-of-the-kind-%d", i))
	}
	counts, err = m.Counts(t.Context(), schema.StreamTables, many...)
	if err != nil || len(counts) != 1 || counts[0] != (clickhouse.Count{Stream: "sales_orders", Business: "biz", Rows: 1}) {
		t.Errorf("counts: %v, %v", counts, err)
	}
}

// Figures that were given again stand as of then, without being stored again.
func TestTotalsSayAsOfWhenTheyStand(t *testing.T) {
	m := newMirror(t)
	maps := `"payments":{"cash":"0.00"},"by_type":{},"by_channel":{}`
	for _, at := range [][2]string{{"2026-03-28", ""}, {"2026-03-28", "l1"}, {"2025-12-31", "l1"}, {"2025-01-01", ""}} {
		m.dayTotals("biz", at[0], at[1], "0", "0.00", "0.00", "0.00", "0.00", maps)
	}
	expect := func(want ...string) {
		t.Helper()
		m.expect(standing("business_id = 'biz'"), want...)
	}
	expect(`2025-01-01|\N|fetched`, "2025-12-31|l1|fetched", "2026-03-28|l1|fetched", `2026-03-28|\N|fetched`)
	asked := func(stream, walk string, begun time.Time, done bool) {
		m.commit(&sinks.Commit{Source: "src-biz", Business: "biz", Stream: stream, Checkpoint: &sinks.Checkpoint{
			Source: "src-biz", Stream: stream, Walk: walk, StartedAt: begun, UpdatedAt: begun, Done: done}})
	}
	deep := time.Date(2036, 4, 2, 0, 30, 0, 0, time.UTC)
	asked("sales_daily", "totals", deep.Add(-24*time.Hour), false) // not at its end
	asked("sales_products", "reconcile_deep", deep, true)          // another stream's
	expect(`2025-01-01|\N|fetched`, "2025-12-31|l1|fetched", "2026-03-28|l1|fetched", `2026-03-28|\N|fetched`)
	asked("sales_daily", "totals", deep.Add(-24*time.Hour), true)
	old := "2036-04-01 00:30:00.000000"
	expect(`2025-01-01|\N|`+old, "2025-12-31|l1|fetched", "2026-03-28|l1|fetched", `2026-03-28|\N|`+old)
	for _, at := range [][2]string{{"2036-01-02", "l1"}, {"2036-01-01", "l1"}, {"2036-01-02", "lost"}, {"2036-01-02", ""}} {
		m.dayTotals("biz", at[0], at[1], "0", "0.00", "0.00", "0.00", "0.00", maps)
	}
	put[types.Location](m, "biz", "locations", locationRow("l1"), locationRow("lost"))
	m.remove("biz", "locations", "lost", "gone")
	asked("sales_daily", "reconcile_deep", deep, true)
	m.expect(standing("date > '2030-01-01'"),
		"2036-01-01|l1|fetched", "2036-01-02|l1|2036-04-02 00:30:00.000000", "2036-01-02|lost|fetched", `2036-01-02|\N|2036-04-02 00:30:00.000000`)
}

// standing asks as of when the totals of days stand, in UTC.
func standing(condition string) string {
	const columns = " AS place, if(as_of = _fetched_at, 'fetched', toString(as_of, 'UTC')) FROM "
	return "SELECT * FROM (SELECT date, NULL" + columns + "sales_daily WHERE " + condition + " UNION ALL SELECT date, toNullable(toString(location_id))" + columns +
		"sales_daily_by_location WHERE " + condition + ") ORDER BY date, place"
}

func locationRow(id string) string {
	return `{"id":"` + id + `","name":"L","timezone":"Europe/Bucharest","ordering":{"accepting":false,"status":"closed","types":[],"default_prep_minutes":1,"answer_within_minutes":1},"opening_hours":null}`
}

// Sales of products of one location are a view of their own, beside those of all together.
func TestProductsByLocation(t *testing.T) {
	m := newMirror(t)
	line := func(id, location string, net string) {
		t.Helper()
		value := "NULL"
		if location != "" {
			value = "'" + location + "'"
		}
		err := enginetest.Conn(t, "default").Exec(t.Context(), "INSERT INTO `"+m.database+"_raw`.sales_products (business_id, id, location_id, date, product_id, name, net) VALUES ('biz', '"+id+"', "+value+", '2026-03-28', 'p', 'Mici', "+net+")")
		if err != nil {
			t.Fatal(err)
		}
	}
	line("2026-03-28/p/p", "", "30.00")
	line("2026-03-28/l/l1/p/p", "l1", "20.00")
	line("2026-03-28/l/l2/p/p", "l2", "10.00")
	m.expect("SELECT count(), sum(net) FROM sales_products WHERE business_id = 'biz'", "1|30")
	m.expect("SELECT location_id, name, net FROM sales_products_by_location WHERE business_id = 'biz' ORDER BY location_id", "l1|Mici|20", "l2|Mici|10")
}
