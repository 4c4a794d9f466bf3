package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

// paceFor is how long the backfill is watched, after a first minute that fills
// the window.
const paceFor = 5 * time.Minute

// pace runs a backfill under each algorithm at once, in processes of their own,
// at the documented limits and in real time.
func pace(ctx context.Context, r *report) error {
	algorithms := []string{sandbox.AlgorithmFixed, sandbox.AlgorithmSliding, sandbox.AlgorithmBucket}
	results, errs := make([]counters, len(algorithms)), make([]error, len(algorithms))
	var all sync.WaitGroup
	for i, name := range algorithms {
		all.Go(func() { results[i], errs[i] = paceUnder(ctx, name) })
	}
	all.Wait()
	for i, name := range algorithms {
		if errs[i] != nil {
			return fmt.Errorf("%s: %w", name, errs[i])
		}
		allowed := 120 * paceFor.Minutes()
		r.row(name+": requests in 5 minutes of 600 allowed", "%d (%.1f %%)", results[i].Stats.Requests, float64(results[i].Stats.Requests)/allowed*100)
		r.row(name+": answers 429", "%d", results[i].Stats.RateLimited)
	}
	return nil
}

func paceUnder(ctx context.Context, algorithm string) (counters, error) {
	dir, err := os.MkdirTemp("", "larder-bench-")
	if err != nil {
		return counters{}, err
	}
	defer os.RemoveAll(dir)
	s, err := startService(ctx, "-orders", "400000", "-algorithm", algorithm)
	if err != nil {
		return counters{}, err
	}
	defer s.stop()
	d, err := newDaemon(dir, s, "")
	if err != nil {
		return counters{}, err
	}
	if err := d.start(ctx); err != nil {
		return counters{}, err
	}
	defer d.stop()
	if err := wait(ctx, time.Minute); err != nil {
		return counters{}, err
	}
	before, err := s.counters(ctx)
	if err != nil {
		return counters{}, err
	}
	if err := wait(ctx, paceFor); err != nil {
		return counters{}, err
	}
	after, err := s.counters(ctx)
	after.Stats.Requests -= before.Stats.Requests
	return after, err
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
