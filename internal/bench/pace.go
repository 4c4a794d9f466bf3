package main

import (
	"context"
	"fmt"
	"sync"
	"time"

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

func paceUnder(ctx context.Context, algorithm string) (asked counters, err error) {
	b := bed{sandbox: []string{"-orders", "400000", "-algorithm", algorithm}}
	err = b.started(ctx, func(s *service, _ *daemon) error {
		if err := wait(ctx, time.Minute); err != nil {
			return err
		}
		before, err := s.counters(ctx)
		if err != nil {
			return err
		}
		if err := wait(ctx, paceFor); err != nil {
			return err
		}
		asked, err = s.counters(ctx)
		asked.Stats.Requests -= before.Stats.Requests
		return err
	})
	return asked, err
}

func wait(ctx context.Context, d time.Duration) error {
	if !lifecycle.Pause(ctx, d) {
		return ctx.Err()
	}
	return nil
}
