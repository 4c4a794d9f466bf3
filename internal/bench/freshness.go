package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

const (
	freshnessFor  = 5 * time.Minute
	freshnessPoll = 100 * time.Millisecond
)

// freshness measures from updated_at of an order that is placed in the sandbox to
// the moment when a query of the view shows it, with the default schedule (@every
// 30s) and at the documented limits.
func freshness(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", "20000", "-days", "90"}}
	return b.filled(ctx, func(s *service, d *daemon) error {
		end := time.Now().Add(freshnessFor)
		ages, err := watchChanges(ctx, s, d, func() bool { return time.Now().After(end) })
		if err != nil {
			return err
		}
		r.row("changes seen in "+freshnessFor.String(), "%d", len(ages))
		r.row("from the change to visible, p50", "%.1f s", percentile(ages, 50).Seconds())
		r.row("from the change to visible, p99", "%.1f s", percentile(ages, 99).Seconds())
		return nil
	})
}

// watchChanges places an order at every poll until done, and returns how old each
// was when a reader first saw it.
func watchChanges(ctx context.Context, s *service, d *daemon, done func() bool) ([]time.Duration, error) {
	return watchOrders(ctx, d.query, "larder.sales_orders", func() (bool, error) {
		if done() {
			return true, nil
		}
		return false, s.post(ctx, "/admin/change", `{"action": "place", "count": 1}`)
	})
}

// watchOrders has something done before every poll, until that is done, and returns how old each order that was
// placed meanwhile was when it was first in a table.
func watchOrders(ctx context.Context, query func(context.Context, string) ([][]string, error), table string, do func() (done bool, err error)) ([]time.Duration, error) {
	var ages []time.Duration
	newest := time.Now().UnixMicro()
	seen := map[string]bool{}
	for {
		if done, err := do(); err != nil || done {
			return ages, err
		}
		rows, err := query(ctx, fmt.Sprintf("SELECT id, toUnixTimestamp64Micro(updated_at) FROM %s WHERE updated_at > fromUnixTimestamp64Micro(%d)", table, newest))
		if err != nil {
			return nil, err
		}
		now := time.Now()
		for _, row := range rows {
			us, err := strconv.ParseInt(row[1], 10, 64)
			if err != nil {
				return nil, err
			}
			if change := row[0] + "@" + row[1]; !seen[change] {
				seen[change] = true
				ages = append(ages, now.Sub(time.UnixMicro(us)))
			}
		}
		if err := wait(ctx, freshnessPoll); err != nil {
			return nil, err
		}
	}
}
