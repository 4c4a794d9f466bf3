package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const quietFor = 3 * time.Minute

// quiet lets a mirror that is up to date run while nothing changes, and counts
// what it asks and what it writes.
func quiet(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", "5000", "-no-limits"}}
	return b.filled(ctx, func(s *service, d *daemon) error {
		if err := wait(ctx, time.Minute); err != nil { // the first walks of every stream
			return err
		}
		return measureQuiet(ctx, r, s, d)
	})
}

func measureQuiet(ctx context.Context, r *report, s *service, d *daemon) error {
	const inserted = "SELECT sum(rows), max(modification_time), count() FROM system.parts WHERE database = 'larder_raw' AND active"
	before, err := d.stored(ctx, inserted)
	if err != nil {
		return err
	}
	if err := s.post(ctx, "/bench/reset", ""); err != nil {
		return err
	}
	used, err := d.cpu()
	if err != nil {
		return err
	}
	if err := wait(ctx, quietFor); err != nil {
		return err
	}
	now, err := d.cpu()
	if err != nil {
		return err
	}
	c, err := s.counters(ctx)
	if err != nil {
		return err
	}
	after, err := d.stored(ctx, inserted)
	if err != nil {
		return err
	}
	routes := make([]string, 0, len(c.Stats.ByRoute))
	for route := range c.Stats.ByRoute {
		routes = append(routes, route)
	}
	slices.Sort(routes)
	for _, route := range routes {
		r.row(fmt.Sprintf("requests in %s: %s", quietFor, route), "%d", c.Stats.ByRoute[route])
	}
	r.row("CPU-seconds a minute, all processes", "%.2f", (now-used).Seconds()/quietFor.Minutes())
	r.row("stored rows, newest part, parts: before", "%v", before)
	r.row("stored rows, newest part, parts: after", "%v", after)
	return nil
}
