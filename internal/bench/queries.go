package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/embedded"
)

const (
	queryOrders   = 10_000_000
	queryShops    = 100
	queryBatch    = 500_000
	queryRounds   = 200
	queryLastDay  = "2026-10-31"
	queryYears    = 2
	queriesWarmup = 5
)

// fillOrders makes orders inside the engine: 3 to 5 lines each, spread over two
// years and a hundred restaurants, with random ids.
const fillOrders = `
INSERT INTO larder_raw.sales_orders (
    business_id, id, number, location_id, channel, type, business_day, created_at, updated_at, paid_at,
    items.id, items.product_id, items.name, items.variant_id, items.variant_name, items.quantity, items.weight_kg,
    items.price_per_kg, items.unit_price, items.extras_name, items.extras_price, items.discount_percent, items.vat_rate, items.total,
    totals_items, totals_discount, totals_delivery_fee, totals_tip, totals_deposit, totals_total, totals_net_sales,
    payments.method, payments.amount, payments.at, refunds.amount, refunds.method, refunds.at, refunds.item_id,
    _source, _version, _fetched_at, _deleted, _deleted_at, _delete_reason, _raw)
WITH
    cityHash64(number) AS h,
    3 + h %% 3 AS lines,
    toDateTime64('%s 20:00:00', 6, 'UTC') - toIntervalSecond(intHash32(number) %% (%d * 365 * 86400)) AS opened,
    arrayMap(i -> cityHash64(number, i) %% 150, range(lines)) AS products,
    arrayMap(p -> toDecimal64(8 + p %% 60, 2), products) AS prices,
    arraySum(prices) AS total
SELECT
    concat('biz_', leftPad(toString(number %% %d), 3, '0')), concat('ord_', lower(hex(h))), toString(number), concat('loc_', toString(h %% 2)),
    ['pos', 'platform_a', 'platform_b', 'direct'][1 + h %% 4], ['dine_in', 'takeaway', 'delivery'][1 + h %% 3],
    toDate32(toTimeZone(opened, 'Europe/Bucharest')), opened, opened, opened,
    arrayMap(i -> concat('itm_', toString(i)), range(lines)), arrayMap(p -> concat('prd_', toString(p)), products), arrayMap(p -> concat('Produs ', toString(p)), products),
    arrayMap(p -> NULL, products), arrayMap(p -> NULL, products), arrayMap(p -> toDecimal128(1, 10), products), arrayMap(p -> NULL, products),
    arrayMap(p -> NULL, products), prices, arrayMap(p -> CAST([], 'Array(String)'), products), arrayMap(p -> CAST([], 'Array(Decimal(18, 2))'), products),
    arrayMap(p -> toDecimal128(0, 10), products), arrayMap(p -> toDecimal128(11, 10), products), prices,
    total, 0, 0, 0, 0, total, total,
    ['card'], [toDecimal64(total, 2)], [opened], [], [], [], [],
    'bench', number + 1, opened, 0, NULL, '', ''
FROM numbers(%d, %d)`

// dashboardQueries are what an owner's dashboard asks; %[1]s is the restaurant.
var dashboardQueries = []struct{ name, sql string }{
	{"net sales per day, 90 days", `SELECT business_day, sum(totals_net_sales) FROM larder.sales_orders
		WHERE business_id = '%[1]s' AND business_day > toDate32('` + queryLastDay + `') - 90 GROUP BY business_day ORDER BY business_day`},
	{"top 20 products of a month", `SELECT product_id, any(name), sum(quantity), sum(total) AS sold FROM larder.sales_items
		WHERE business_id = '%[1]s' AND business_day > toDate32('` + queryLastDay + `') - 30 GROUP BY product_id ORDER BY sold DESC LIMIT 20`},
}

// queries fills the mirror's own tables and times the queries, each for a random
// restaurant, one after the other, and then what a proof computes of 92 days: as
// filled, and with everything merged.
func queries(ctx context.Context, r *report) error {
	dir, err := os.MkdirTemp("", "larder-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sink, conn, err := openWarehouse(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	for from := 0; from < queryOrders; from += queryBatch {
		if err := conn.Exec(ctx, fmt.Sprintf(fillOrders, queryLastDay, queryYears, queryShops, from, queryBatch)); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	if err := timeQueries(ctx, r, conn, "as filled"); err != nil {
		return err
	}
	if err := timeProofs(ctx, r, sink, "as filled"); err != nil {
		return err
	}
	if err := conn.Exec(ctx, "OPTIMIZE TABLE larder_raw.sales_orders FINAL"); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	if err := timeQueries(ctx, r, conn, "merged"); err != nil {
		return err
	}
	return timeProofs(ctx, r, sink, "merged")
}

func openWarehouse(ctx context.Context, path string) (*clickhouse.Sink, driver.Conn, error) {
	engine, err := embedded.Open(ctx, embedded.Options{Path: path, Memory: 8 << 30, Databases: []string{"larder", "larder_raw"}})
	if err != nil {
		return nil, nil, err
	}
	sink, err := clickhouse.Open(ctx, clickhouse.Options{Dial: engine.Dial})
	if err != nil {
		return nil, nil, err
	}
	if err := sink.Migrate(ctx); err != nil {
		return nil, nil, err
	}
	conn, err := ch.Open(&ch.Options{Protocol: ch.HTTP, Addr: []string{"engine:8123"}, DialContext: engine.Dial, ReadTimeout: 10 * time.Minute})
	return sink, conn, err
}

func timeQueries(ctx context.Context, r *report, conn driver.Conn, state string) error {
	var parts uint64
	if err := conn.QueryRow(ctx, "SELECT count() FROM system.parts WHERE database = 'larder_raw' AND table = 'sales_orders' AND active").Scan(&parts); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, q := range dashboardQueries {
		var took []time.Duration
		for i := range queriesWarmup + queryRounds {
			began := time.Now()
			if err := drain(ctx, conn, fmt.Sprintf(q.sql, fmt.Sprintf("biz_%03d", random.IntN(queryShops)))); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
			if i >= queriesWarmup {
				took = append(took, time.Since(began))
			}
		}
		r.row(fmt.Sprintf("%s, %s (%d parts): p50 / p95", q.name, state, parts), "%.1f / %.1f ms",
			percentile(took, 50).Seconds()*1e3, percentile(took, 95).Seconds()*1e3)
	}
	return nil
}

func drain(ctx context.Context, conn driver.Conn, sql string) error {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
	}
	if rows.Err() == nil && n == 0 {
		return fmt.Errorf("no rows")
	}
	return rows.Err()
}
