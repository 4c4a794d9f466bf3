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

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/server"
)

const (
	queryRounds   = 200
	queryLastDay  = "2026-10-31"
	queryYears    = 2
	queriesWarmup = 5
)

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
	_, sink, conn, err := openWarehouse(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	if err := queryFilling.fillOrders(ctx, conn, "toDateTime64('"+queryLastDay+" 20:00:00', 6, 'UTC')"); err != nil {
		return err
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

func openWarehouse(ctx context.Context, path string) (*server.Server, *clickhouse.Sink, driver.Conn, error) {
	engine, err := server.Open(ctx, engine.Options{Path: path, Memory: 8 << 30, Databases: []string{"larder", "larder_raw"}})
	if err != nil {
		return nil, nil, nil, err
	}
	sink, err := clickhouse.Open(ctx, clickhouse.Options{Dial: engine.Dial})
	if err != nil {
		return nil, nil, nil, err
	}
	if err := sink.Migrate(ctx); err != nil {
		return nil, nil, nil, err
	}
	conn, err := ch.Open(&ch.Options{Protocol: ch.HTTP, Addr: []string{"engine:8123"}, DialContext: engine.Dial, ReadTimeout: 10 * time.Minute})
	return engine, sink, conn, err
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
			if err := drain(ctx, conn, fmt.Sprintf(q.sql, fmt.Sprintf("biz_%03d", random.IntN(queryFilling.shops)))); err != nil {
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
	n, err := count(ctx, conn, sql)
	if err == nil && n == 0 {
		return fmt.Errorf("no rows")
	}
	return err
}

// count reads an answer to its end.
func count(ctx context.Context, conn driver.Conn, sql string) (n int, err error) {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// The days that a proof asks about at once, up to queryLastDay.
const proofFirstDay = "2026-08-01"

// timeProofs computes the figures of 92 days of each restaurant, one after the other: a quarter of a second of each is
// spent waiting for others to join the statement.
func timeProofs(ctx context.Context, r *report, sink *clickhouse.Sink, state string) error {
	for _, proof := range []struct {
		name    string
		compute func(context.Context, sinks.DayQuery) ([]sinks.DayFigures, error)
	}{{"daily totals", sink.SalesDays}, {"products by day", sink.SalesProducts}} {
		var took []time.Duration
		var all time.Duration
		for shop := range queryFilling.shops {
			began := time.Now()
			days, err := proof.compute(ctx, sinks.DayQuery{Business: fmt.Sprintf("biz_%03d", shop), From: proofFirstDay, To: queryLastDay})
			if err != nil {
				return fmt.Errorf("%s: %w", proof.name, err)
			}
			if len(days) == 0 {
				return fmt.Errorf("%s: no days", proof.name)
			}
			took = append(took, time.Since(began))
			all += took[shop]
		}
		r.row(fmt.Sprintf("%s of 92 days of one restaurant, %s: p50 / p95; of all %d", proof.name, state, queryFilling.shops), "%.1f / %.1f ms; %.1f s",
			percentile(took, 50).Seconds()*1e3, percentile(took, 95).Seconds()*1e3, all.Seconds())
	}
	return nil
}
