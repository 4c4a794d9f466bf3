package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

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
				&ready:   func() bool { return d.ready(ctx) },
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

// memory is what all processes of the daemon hold.
func (r *report) memory(d *daemon) error {
	anonymous, err := d.memory("RssAnon")
	if err != nil {
		return err
	}
	r.row("memory of all processes without the page cache", "%d MB", anonymous/1e6)
	return nil
}
