package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	fleetSources = 1000
	fleetSettles = 2 * time.Minute // the first walks and proofs of all
	fleetRests   = 3 * time.Minute
)

// fleet measures what a thousand restaurants at rest cost, whose deep runs still go on.
func fleet(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-businesses", strconv.Itoa(fleetSources), "-orders", "20", "-days", "30", "-products", "20", "-no-limits"}}
	return b.started(ctx, func(s *service, d *daemon) error {
		began := time.Now()
		if err := until(ctx, 20*time.Minute, 5*time.Second, func() (bool, error) { return mirrored(ctx, d), nil }); err != nil {
			return err
		}
		r.row("sources; until all are mirrored", "%d; %.0f s", fleetSources, time.Since(began).Seconds())
		if err := wait(ctx, fleetSettles); err != nil {
			return err
		}
		if err := s.post(ctx, "/bench/reset", ""); err != nil {
			return err
		}
		before, err := d.cpu()
		if err != nil {
			return err
		}
		if err := wait(ctx, fleetRests); err != nil {
			return err
		}
		after, err := d.cpu()
		if err != nil {
			return err
		}
		c, err := s.counters(ctx)
		if err != nil {
			return err
		}
		asked := 0
		for _, n := range c.Stats.ByRoute {
			asked += n
		}
		r.row("CPU-seconds a minute, all processes", "%.1f", (after-before).Seconds()/fleetRests.Minutes())
		r.row("requests a minute", "%.0f", float64(asked)/fleetRests.Minutes())
		return r.memory(d)
	})
}

// memory is what all processes of the daemon hold.
func (r *report) memory(d *daemon) error {
	anonymous, err := d.memory("RssAnon")
	if err != nil {
		return err
	}
	r.row("memory of all processes without the page cache", "%d MB", anonymous/1e6)
	return nil
}

// mirrored is true when the orders of every source are there.
func mirrored(ctx context.Context, d *daemon) bool {
	status, err := d.status(ctx)
	if err != nil || len(status.Sources) == 0 {
		return false // the daemon is starting
	}
	for _, source := range status.Sources {
		for _, stream := range source.Streams {
			if stream.Name == "sales_orders" && (stream.Progress != nil || stream.Watermark.IsZero()) {
				return false
			}
		}
	}
	return true
}

// start measures how long a daemon with a filled warehouse takes until it is ready, and
// until it answers readers.
func start(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", "20000", "-no-limits"}}
	return b.filled(ctx, func(_ *service, d *daemon) error {
		if err := wait(ctx, time.Minute); err != nil { // the first walks of every stream
			return err
		}
		if err := r.memory(d); err != nil {
			return err
		}
		for range 5 {
			d.stop()
			began := time.Now()
			if err := d.start(ctx); err != nil {
				return err
			}
			var ready, answers time.Duration
			both, ctx := errgroup.WithContext(ctx)
			for took, done := range map[*time.Duration]func() bool{
				&ready: func() bool {
					return ask(ctx, http.MethodGet, "http://"+d.web+"/readyz", "", func(io.Reader) error { return nil }) == nil
				},
				&answers: func() bool { _, err := d.number(ctx, "SELECT count() FROM larder.sales_orders"); return err == nil },
			} {
				both.Go(func() error {
					err := until(ctx, time.Minute, 10*time.Millisecond, func() (bool, error) { return done(), nil })
					*took = time.Since(began)
					return err
				})
			}
			if err := both.Wait(); err != nil {
				return err
			}
			r.row("start to ready; to the first answer to a reader", "%.2f s; %.2f s", ready.Seconds(), answers.Seconds())
		}
		return nil
	})
}
