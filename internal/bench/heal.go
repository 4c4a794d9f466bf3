package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/larder-sync/larder/sinks/engine/server"
)

const (
	healOrders = 40_000
	healDays   = 92
	healSeed   = 11
	healEach   = 5 // damages of each kind, each on a day of its own
	// The daemon does nothing by itself meanwhile.
	healYAML = "schedule: {incremental: \"@every 24h\", online_orders: \"@every 24h\", reconcile: \"0 5 1 1 *\", reconcile_deep: \"0 5 1 1 *\", full_resync: \"0 5 1 1 *\"}\n"
)

// heal damages the warehouse on purpose, has `larder reconcile --heal` look at every
// day, and compares every order with the service afterwards. All of it at the documented
// limits.
func heal(ctx context.Context, r *report) error {
	b := bed{
		sandbox: []string{"-orders", strconv.Itoa(healOrders), "-days", strconv.Itoa(healDays)},
		streams: "[sales_orders, sales_daily, sales_products]", more: healYAML,
	}
	return b.filled(ctx, func(s *service, d *daemon) error {
		if err := s.post(ctx, "/admin/change", fmt.Sprintf(`{"action": "delete", "count": 500, "seed": %d}`, healSeed)); err != nil {
			return err
		}
		if err := command(ctx, d, "sync"); err != nil { // the tombstones keep the values of their rows
			return err
		}
		harms, err := damage(ctx, d)
		if err != nil {
			return err
		}
		return measureHeal(ctx, r, s, d, harms)
	})
}

// damage makes some mistakes of each kind, in a mix that the seed decides.
func damage(ctx context.Context, d *daemon) ([]harm, error) {
	conn, err := ch.Open(&ch.Options{Protocol: ch.HTTP, Addr: []string{"engine"}, DialContext: server.DialHeld(filepath.Join(d.dir, "data"))})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	v, err := newVandal(ctx, conn, rand.New(rand.NewPCG(healSeed, 0)))
	if err != nil {
		return nil, err
	}
	var harms []harm
	for range healEach {
		for _, kind := range harmKinds {
			h, err := v.harm(ctx, kind)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind.name, err)
			}
			harms = append(harms, h)
		}
	}
	return harms, nil
}

func measureHeal(ctx context.Context, r *report, s *service, d *daemon, harms []harm) error {
	var after verified
	if err := s.post(ctx, "/bench/reset", ""); err != nil {
		return err
	}
	began := time.Now()
	if err := command(ctx, d, "reconcile", "--heal"); err != nil {
		return err
	}
	took := time.Since(began)
	c, err := s.counters(ctx)
	if err != nil {
		return err
	}
	if err := runVerify(ctx, d, &after, "--stream", "sales_orders"); err != nil {
		return err
	}
	healed, err := healedRequests(ctx, d, began)
	if err != nil {
		return err
	}
	r.row("orders, tombstones included; days", "%d, %d", after.Rows, healDays)
	r.row("damages, of kinds; orders in them", "%d, %d; %d", len(harms), len(harmKinds), ordersOf(harms))
	reportShare(r, harms, healed)
	r.row("differences that larder verify finds afterwards", "%d", after.Differences)
	r.row("time, two looks and the minutes between them included", "%.0f s", took.Seconds())
	r.row("requests, all routes; answers 429", "%d; %d", c.Stats.Requests, c.Stats.RateLimited)
	for _, route := range slices.Sorted(maps.Keys(c.Stats.ByRoute)) {
		r.row("requests: "+route, "%d", c.Stats.ByRoute[route])
	}
	reportRequests(r, harms, healed)
	if after.Differences > 0 {
		return fmt.Errorf("%d differences are left", after.Differences)
	}
	return nil
}

// command runs larder beside the daemon.
func command(ctx context.Context, d *daemon, args ...string) error {
	cmd := exec.CommandContext(ctx, "bin/larder", append(args, "--config", d.config)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("larder %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// healedRequests are the requests of each day that was healed since.
func healedRequests(ctx context.Context, d *daemon, since time.Time) (map[string]int, error) {
	rows, err := d.stored(ctx, fmt.Sprintf("SELECT toString(day), max(requests) FROM larder_raw.proofs FINAL WHERE verdict = 'healed' AND asked_at >= fromUnixTimestamp64Micro(%d) GROUP BY day", since.UnixMicro()))
	if err != nil {
		return nil, err
	}
	healed := map[string]int{}
	for _, row := range rows {
		n, err := strconv.Atoi(row[1])
		if err != nil {
			return nil, errors.Join(fmt.Errorf("requests of %s", row[0]), err)
		}
		healed[row[0]] = n
	}
	return healed, nil
}

func ordersOf(harms []harm) (n int) {
	for _, h := range harms {
		n += h.orders
	}
	return n
}

// reportShare prints which damages were found, and which days were said to differ
// without one.
func reportShare(r *report, harms []harm, healed map[string]int) {
	found, may := 0, map[string]bool{}
	for _, h := range harms {
		if _, ok := healed[h.day]; ok {
			found++
		}
		for _, day := range h.days {
			may[day] = true
		}
	}
	r.row("damages found and healed", "%d of %d", found, len(harms))
	alarms := 0
	for day := range healed {
		if !may[day] {
			alarms++
		}
	}
	r.row("days healed; of them without damage", "%d; %d", len(healed), alarms)
}

// reportRequests prints what the healing of a day cost, by kind of damage.
func reportRequests(r *report, harms []harm, healed map[string]int) {
	var all []int
	for _, kind := range harmKinds {
		var of []int
		for _, h := range harms {
			if n, ok := healed[h.day]; ok && h.kind == kind.name {
				of = append(of, n)
			}
		}
		all = append(all, of...)
		r.row("requests of a healed day, "+kind.name+": p50, most", "%d, %d", percentile(of, 50), percentile(of, 100))
	}
	r.row("requests of a healed day, all kinds: p50, p95, most", "%d, %d, %d", percentile(all, 50), percentile(all, 95), percentile(all, 100))
}
