package main

import (
	"context"
	"os"
	"time"
)

// bed is what a scenario is measured on: a sandbox, and a daemon that mirrors it.
type bed struct {
	sandbox []string // flags of the sandbox
	streams string   // YAML list; empty for all
	more    string   // YAML, behind the rest of the configuration
	hooks   bool     // the daemon takes webhooks
}

// made has something done with a daemon that has not been started.
func (b bed) made(ctx context.Context, do func(*service, *daemon) error) error {
	dir, err := os.MkdirTemp("", "larder-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := startService(ctx, b.sandbox...)
	if err != nil {
		return err
	}
	defer s.stop()
	d, err := newDaemon(dir, s, b.more)
	if err != nil {
		return err
	}
	if b.streams != "" {
		d.streams = b.streams
	}
	if b.hooks {
		if err := d.takeWebhooks(s); err != nil {
			return err
		}
	}
	if err := d.write(); err != nil {
		return err
	}
	return do(s, d)
}

// started has something measured from the daemon's start on.
func (b bed) started(ctx context.Context, measure func(*service, *daemon) error) error {
	return b.made(ctx, func(s *service, d *daemon) error {
		if err := d.start(ctx); err != nil {
			return err
		}
		defer d.stop()
		return measure(s, d)
	})
}

// filled has something measured once the orders are mirrored.
func (b bed) filled(ctx context.Context, measure func(*service, *daemon) error) error {
	return b.filledWith(ctx, "sales_orders", measure)
}

// filledWith has something measured once a stream is mirrored.
func (b bed) filledWith(ctx context.Context, stream string, measure func(*service, *daemon) error) error {
	return b.started(ctx, func(s *service, d *daemon) error {
		if err := until(ctx, 10*time.Minute, time.Second, func() (bool, error) { return backfilled(ctx, d, stream) }); err != nil {
			return err
		}
		return measure(s, d)
	})
}
