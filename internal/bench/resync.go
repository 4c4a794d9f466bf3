package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"time"
)

const (
	resyncOrders = 1_000_000
	resyncPace   = 6000 // requests a minute while the resync runs
	resyncYAML   = "schedule: {incremental: \"@every 5s\", snapshots: \"@every 5s\"}\n"
)

// resync measures a full resync of a million orders: its memory, its requests
// against the smallest possible number, and what it does to the freshness of the
// incremental walks beside it, with the same limit and schedule.
func resync(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", strconv.Itoa(resyncOrders), "-no-limits"}, streams: "[sales_orders]", more: resyncYAML}
	return b.filled(ctx, func(s *service, d *daemon) error {
		if err := s.post(ctx, "/admin/keys", fmt.Sprintf(`{"value": %q, "per_minute": %d}`, mainKey(s).Value, resyncPace)); err != nil {
			return err
		}
		if err := wait(ctx, 10*time.Second); err != nil { // until /me has answered
			return err
		}
		return measureResync(ctx, r, s, d)
	})
}

func measureResync(ctx context.Context, r *report, s *service, d *daemon) error {
	end := time.Now().Add(time.Minute)
	before, err := watchChanges(ctx, s, d, func() bool { return time.Now().After(end) })
	if err != nil {
		return err
	}
	began, heap, memory := time.Now(), 0.0, 0.0
	pass := exec.CommandContext(ctx, "bin/larder", "sync", "--full", "--config", d.config)
	pass.Stderr = os.Stderr
	if err := pass.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- pass.Wait() }()
	var result error
	finished := false
	during, err := watchChanges(ctx, s, d, func() bool {
		if used, err := d.metric(ctx, "go_memstats_heap_inuse_bytes"); err == nil {
			heap = math.Max(heap, used)
		}
		if used, err := d.rss(); err == nil {
			memory = math.Max(memory, float64(used))
		}
		select {
		case result = <-ended:
			finished = true
		default:
		}
		return finished
	})
	if err != nil {
		return err
	}
	if result != nil {
		return fmt.Errorf("larder sync --full: %w", result)
	}
	took := time.Since(began)
	pages, err := d.metric(ctx, `larder_pages_total{source="",stream="sales_orders",walk="full"}`)
	if err != nil {
		return err
	}
	stored, err := d.number(ctx, "SELECT (SELECT count() FROM larder.sales_orders) + (SELECT count() FROM larder.sales_orders_removed)")
	if err != nil {
		return err
	}
	r.row("orders of the resync, removed ones included", "%d", stored)
	r.row("time", "%.0f s", took.Seconds())
	r.row("requests, smallest possible", "%.0f, %d", pages, (stored+199)/200)
	r.row("Larder's heap in use, highest", "%.0f MB", heap/1e6)
	r.row("memory of the process, engine included, highest", "%.0f MB", memory/1e6)
	r.row("from a change to visible without the resync, p50 / p99", "%.1f / %.1f s", percentile(before, 50).Seconds(), percentile(before, 99).Seconds())
	r.row("during the resync, p50 / p99", "%.1f / %.1f s", percentile(during, 50).Seconds(), percentile(during, 99).Seconds())
	return nil
}

// rss is the resident memory of the daemon and its engine, in bytes.
func (d *daemon) rss() (int64, error) { return d.memory("VmRSS") }
