package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	menuLocations = 25
	menusFor      = 2 * time.Minute
	menusEvery    = "schedule: {snapshots: \"@every 2s\", incremental: \"@every 24h\", reconcile: \"0 5 1 1 *\", reconcile_deep: \"0 5 1 1 *\", full_resync: \"0 5 1 1 *\"}\n"
	menuRoute     = "/locations/{location_id}/menu"
)

// menus lets the menus of many locations be asked for while nothing changes. The same
// daemon without menus, which asks for its key at the same turns, says what of the
// processor's time is theirs.
func menus(ctx context.Context, r *report) error {
	s, err := startService(ctx, "-orders", "-1", "-no-limits", "-locations", fmt.Sprint(menuLocations), "-products", "600")
	if err != nil {
		return err
	}
	defer s.stop()
	without, _, err := menuTurns(ctx, nil, s, "[api_keys]")
	if err != nil {
		return err
	}
	with, asks, err := menuTurns(ctx, r, s, "[api_keys, menus]")
	if err != nil {
		return err
	}
	r.row("CPU of a daemon without menus, in "+menusFor.String(), "%s", without)
	r.row("CPU of a daemon with menus, in "+menusFor.String(), "%s", with)
	r.row("CPU per ask", "%.2f ms", float64((with-without).Microseconds())/1000/float64(asks))
	return nil
}

// menuTurns is the processor's time of a daemon with these streams while nothing changes,
// and how many menus it asked for meanwhile.
func menuTurns(ctx context.Context, r *report, s *service, streams string) (used time.Duration, asks int, err error) {
	dir, err := os.MkdirTemp("", "larder-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	d, err := newDaemon(dir, s, menusEvery)
	if err != nil {
		return 0, 0, err
	}
	d.streams = streams
	if err := d.write(); err != nil {
		return 0, 0, err
	}
	if err := d.start(ctx); err != nil {
		return 0, 0, err
	}
	defer d.stop()
	if err := wait(ctx, 30*time.Second); err != nil { // all is stored, and the engine has come to rest
		return 0, 0, err
	}
	if r != nil {
		if err := r.menuRows(ctx, d); err != nil {
			return 0, 0, err
		}
	}
	before, err := d.cpu()
	if err != nil {
		return 0, 0, err
	}
	if err := s.post(ctx, "/bench/reset", ""); err != nil {
		return 0, 0, err
	}
	if err := wait(ctx, menusFor); err != nil {
		return 0, 0, err
	}
	c, err := s.counters(ctx)
	if err != nil {
		return 0, 0, err
	}
	after, err := d.cpu()
	if err != nil || r == nil {
		return after - before, 0, err
	}
	r.row("menus asked for in "+menusFor.String(), "%d", c.Stats.ByRoute[menuRoute])
	for status, n := range c.Stats.ByStatus {
		r.row(fmt.Sprintf("answers %v, those of the key included", status), "%d", n)
	}
	return after - before, c.Stats.ByRoute[menuRoute], r.menuRows(ctx, d)
}

// menuRows reports what is stored of menus, and in how many versions.
func (r *report) menuRows(ctx context.Context, d *daemon) error {
	rows, err := d.stored(ctx, "SELECT count(), min(products), max(products), round(avg(bytes)), (SELECT count() FROM larder_raw.menus), (SELECT max(modification_time) FROM system.parts WHERE database = 'larder_raw' AND table IN ('menus', 'menu_states', 'menu_versions')) "+
		"FROM (SELECT length(_raw) AS bytes, length(arrayFlatten(`categories.products_id`)) AS products FROM larder.menus)")
	if err != nil {
		return err
	}
	r.row("menus, fewest and most products, bytes of a menu, stored rows, newest part", "%v", rows)
	return nil
}
