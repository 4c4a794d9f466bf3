package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// fleet is many small restaurants with one daemon, and what is measured of them: their first
// mirror, and then each of the phases.
type fleet struct {
	sources int
	phases  string        // "rest", "restart", "kill", or so many changes a second; in this order
	rest    time.Duration // how long a phase at rest or with changes is
}

const (
	fleetRestarted = 90 * time.Second // watched once the daemon is ready again
	fleetLook      = 15 * time.Second // between looks at its streams; a status of them all costs the daemon something
	fleetReady     = time.Second / 2  // between questions whether it is ready, which do too
	fleetSampled   = 2 * time.Minute  // of changes whose age is measured
	fleetAwaited   = 45 * time.Second // for the last of them: the interval, and what it may take
)

func (f *fleet) run(ctx context.Context, r *report) error {
	phases := strings.Split(f.phases, ",")
	rates := make([]int, len(phases)) // changes a second
	for i, phase := range phases {
		rate, err := strconv.Atoi(phase)
		if (err != nil || rate < 1) && phase != "rest" && phase != "restart" && phase != "kill" {
			return fmt.Errorf("phase %q: allowed: rest, restart, kill, or changes a second", phase)
		}
		rates[i] = rate
	}
	b := bed{sandbox: []string{"-businesses", strconv.Itoa(f.sources), "-orders", "20", "-days", "30", "-products", "20", "-no-limits"}}
	return b.started(ctx, func(s *service, d *daemon) error {
		m := &meter{r, s, d}
		if err := m.measure(ctx, "first mirror of "+strconv.Itoa(f.sources), usage{at: time.Now()}, func() error {
			return until(ctx, 20*time.Minute, 5*time.Second, func() (bool, error) { return f.mirrored(ctx, d), nil })
		}); err != nil {
			return err
		}
		for i, phase := range phases {
			var err error
			switch phase {
			case "rest":
				err = m.measureOn(ctx, phase, func() error { return wait(ctx, f.rest) })
			case "restart":
				err = m.restart(ctx, phase, syscall.SIGTERM)
			case "kill":
				err = m.restart(ctx, phase, syscall.SIGKILL)
			default:
				if err = m.measureOn(ctx, phase+" changes a second", func() error {
					_, err := f.change(ctx, s, rates[i], f.rest)
					return err
				}); err == nil {
					err = f.fresh(ctx, m, rates[i])
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", phase, err)
			}
		}
		return nil
	})
}

// change places orders in restaurants at random, and returns how many.
func (f *fleet) change(ctx context.Context, s *service, rate int, length time.Duration) (placed int, err error) {
	began, random := time.Now(), rand.New(rand.NewPCG(uint64(rate), 0)) //nolint:gosec // the same ones each time
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for ; time.Since(began) < length; placed++ {
		<-tick.C
		if err := s.post(ctx, "/admin/change", fmt.Sprintf(`{"action": "place", "count": 1, "business": %d}`, random.IntN(f.sources))); err != nil {
			return placed, err
		}
	}
	return placed, nil
}

// fresh goes on with changes, and reports how old they are when the engine that takes rows has them. It shows
// rows once they are durable. It is asked ten times a second, so this is no part of the phase.
func (f *fleet) fresh(ctx context.Context, m *meter, rate int) error {
	placed, end := 0, time.Now().Add(fleetSampled+fleetAwaited)
	placing, ctx := errgroup.WithContext(ctx)
	placing.Go(func() (err error) {
		placed, err = f.change(ctx, m.s, rate, fleetSampled)
		return err
	})
	ages, err := watchOrders(ctx, m.d.stored, "larder_raw.sales_orders", func() (bool, error) { return time.Now().After(end), nil })
	if err := cmp.Or(placing.Wait(), err); err != nil {
		return err
	}
	m.r.row(fmt.Sprintf("%d changes a second: orders; of them durable; from the change until then, p50, p99, most, s", rate), "%d; %d; %.1f, %.1f, %.1f",
		placed, len(ages), percentile(ages, 50).Seconds(), percentile(ages, 99).Seconds(), percentile(ages, 100).Seconds())
	return nil
}

// restart ends the daemon, starts it, and measures from there.
func (m *meter) restart(ctx context.Context, name string, sig syscall.Signal) error {
	c, err := m.s.counters(ctx)
	if err != nil {
		return err
	}
	log := filepath.Join(m.d.dir, "log")
	before, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	m.d.signal(sig)
	began := usage{at: time.Now(), requests: c.Stats.Requests, duplicates: c.Stats.DuplicatePages}
	if err := m.d.start(ctx); err != nil {
		return err
	}
	return m.measure(ctx, name, began, func() error {
		if err := until(ctx, 5*time.Minute, fleetReady, func() (bool, error) { return m.d.ready(ctx), nil }); err != nil {
			return err
		}
		took := time.Since(began.at)
		ready, err := m.d.cpu()
		if err != nil {
			return err
		}
		failing := 0
		for end := time.Now().Add(fleetRestarted); time.Now().Before(end); {
			if err := wait(ctx, fleetLook); err != nil {
				return err
			}
			failing = max(failing, m.d.failing(ctx))
		}
		after, err := m.d.cpu()
		if err != nil {
			return err
		}
		lines, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		m.r.row(name+": seconds until ready; CPU-seconds until then; in the next 90 s", "%.1f; %.1f; %.1f", took.Seconds(), ready.Seconds(), (after - ready).Seconds())
		m.r.row(name+": lines \"does not take rows\"; streams failing at once", "%d; %d", bytes.Count(lines[len(before):], []byte("does not take rows")), failing)
		return nil
	})
}

// failing is how many streams have an error.
func (d *daemon) failing(ctx context.Context) int {
	now, err := d.status(ctx)
	if err != nil {
		return 0 // the daemon is starting
	}
	n := 0
	for _, source := range now.Sources {
		for _, stream := range source.Streams {
			if stream.State == status.StateFailing {
				n++
			}
		}
	}
	return n
}

// mirrored reports whether the orders of every source are there. A source has none of its streams while the warehouse is being opened.
func (f *fleet) mirrored(ctx context.Context, d *daemon) bool {
	now, err := d.status(ctx)
	if err != nil {
		return false // the daemon is starting
	}
	n := 0
	for _, source := range now.Sources {
		for _, stream := range source.Streams {
			if stream.Name == registry.Orders && stream.State == status.StateRunning && stream.Progress == nil && !stream.Watermark.IsZero() {
				n++
			}
		}
	}
	return n == f.sources
}
