package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
)

// paceFor is how long the backfill is watched, after a first minute that fills
// the window.
const paceFor = 5 * time.Minute

// pace runs a backfill under each algorithm at once, in processes of their own,
// at the documented limits and in real time.
func pace(ctx context.Context, r *report) error {
	algorithms := []string{sandbox.AlgorithmFixed, sandbox.AlgorithmSliding, sandbox.AlgorithmBucket}
	results := make([]paced, len(algorithms))
	all, ctx := errgroup.WithContext(ctx)
	for i, name := range algorithms {
		all.Go(func() (err error) {
			if results[i], err = paceUnder(ctx, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	for i, name := range algorithms {
		p, allowed := results[i], 120*paceFor.Minutes()
		event, requests := p.after.since(p.before), p.after.requests-p.before.requests
		r.row(name+": requests in 5 minutes of 600 allowed; answers 429", "%d (%.1f %%); %d", requests, float64(requests)/allowed*100, p.refused)
		r.row(name+": orders; CPU-seconds per million of them, all processes", "%d; %.1f", p.orders, (p.after.all-p.before.all).Seconds()/float64(p.orders)*1e6)
		r.row(name+": INSERTs, merges, fsyncs; rows merged for one inserted", "%d, %d, %d; %.1f", event(inserts), event(merges),
			event(fileSyncs)+event(folderSync), float64(event(merged))/float64(event(inserted)))
	}
	return nil
}

// paced is what a backfill has cost in paceFor.
type paced struct {
	before, after   usage
	orders, refused int
}

func paceUnder(ctx context.Context, algorithm string) (p paced, err error) {
	b := bed{sandbox: []string{"-orders", "400000", "-algorithm", algorithm}}
	err = b.started(ctx, func(s *service, d *daemon) error {
		m := &meter{s: s, d: d}
		if err := wait(ctx, time.Minute); err != nil {
			return err
		}
		earlier, err := d.storedOrders(ctx)
		if err != nil {
			return err
		}
		if p.before, err = m.usage(ctx); err != nil {
			return err
		}
		if err := wait(ctx, paceFor); err != nil {
			return err
		}
		if p.after, err = m.usage(ctx); err != nil {
			return err
		}
		if p.orders, err = d.storedOrders(ctx); err != nil {
			return err
		}
		p.orders -= earlier
		c, err := s.counters(ctx)
		p.refused = c.Stats.RateLimited
		return err
	})
	return p, err
}

// storedOrders counts the orders that are durable.
func (d *daemon) storedOrders(ctx context.Context) (int, error) {
	rows, err := d.stored(ctx, "SELECT uniqExact(business_id, id) FROM larder_raw.sales_orders")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(rows[0][0])
}

func wait(ctx context.Context, d time.Duration) error {
	if !lifecycle.Pause(ctx, d) {
		return ctx.Err()
	}
	return nil
}
