package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"
)

const backfillOrders = 200_000

// backfill measures the stream of orders alone, from the first request for them
// until the last is durable and can be queried. CPU is the daemon's whole process,
// the engine inside it included: without and with its start and the migrations.
func backfill(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", strconv.Itoa(backfillOrders), "-no-limits"}, streams: "[sales_orders]"}
	return b.started(ctx, func(s *service, d *daemon) error { return measureBackfill(ctx, r, s, d) })
}

func measureBackfill(ctx context.Context, r *report, s *service, d *daemon) error {
	heap, rows := 0.0, 0
	var startUp time.Duration
	err := until(ctx, 5*time.Minute, 100*time.Millisecond, func() (bool, error) {
		if c, err := s.counters(ctx); err == nil && c.FirstOrders.IsZero() {
			if startUp, err = d.cpu(); err != nil {
				return false, err
			}
		}
		if used, err := d.metric(ctx, "go_memstats_heap_inuse_bytes"); err == nil {
			heap = math.Max(heap, used)
		}
		done, err := ordersDone(ctx, d)
		return done, err
	})
	if err != nil {
		return err
	}
	cpu, err := d.cpu()
	if err != nil {
		return err
	}
	end := time.Now()
	c, err := s.counters(ctx)
	if err != nil {
		return err
	}
	if rows, err = d.number(ctx, "SELECT count() FROM larder.sales_orders"); err != nil {
		return err
	}
	took := end.Sub(c.FirstOrders)
	r.row("orders mirrored", "%d", rows)
	r.row("first request to durable", "%.2f s", took.Seconds())
	r.row("orders a second", "%.0f", float64(rows)/took.Seconds())
	r.row("CPU-seconds per million orders, Larder and engine", "%.1f", (cpu-startUp).Seconds()/float64(rows)*1e6)
	r.row("the same with start-up and migrations", "%.1f", cpu.Seconds()/float64(rows)*1e6)
	r.row("Larder's heap in use, highest", "%.0f MB", heap/1e6)
	return nil
}

// ordersDone is true when the backfill of the orders has reached its end.
func ordersDone(ctx context.Context, d *daemon) (bool, error) {
	return backfilled(ctx, d, "sales_orders")
}

// backfilled is true when the backfill of a stream has reached its end; the status says
// so only when everything is durable.
func backfilled(ctx context.Context, d *daemon, name string) (bool, error) {
	status, err := d.status(ctx)
	if err != nil {
		return false, nil //nolint:nilerr // the daemon is starting
	}
	for _, source := range status.Sources {
		for _, stream := range source.Streams {
			if stream.Name == name {
				if stream.LastError != "" {
					return false, fmt.Errorf("%s: %s", name, stream.LastError)
				}
				return stream.State == "running" && stream.Progress == nil && stream.Written > 0, nil
			}
		}
	}
	return false, nil
}
