package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// step is one statement of a flush.
type step struct {
	what  string // rows, tombstones, quarantine, drift, verdicts, checkpoints, runs, statuses
	table string
	rows  int
	run   func(ctx context.Context) (bytes int64, err error)
}

// errFenced says that some commits must not be written any more: what is left is
// planned anew.
var errFenced = errors.New("commits are fenced")

// flush writes a group of commits, trying again until all of it is durable that
// is not fenced. It returns an error only when the sink is closed before that.
func (s *Sink) flush(commits []*queued) error {
	began := time.Now()
	var steps []step
	for attempt := 0; ; {
		var err error
		if commits, err = unfenced(commits); err != nil {
			steps = nil
		}
		if len(commits) == 0 {
			s.dropped()
			return nil
		}
		if steps == nil {
			if steps, err = s.plan(s.abort, commits); err != nil {
				steps = nil
				s.warehouse.forgetTypes() // another process may migrate the warehouse meanwhile
			}
		}
		if err == nil {
			steps, err = s.runSteps(steps, commits)
		}
		if errors.Is(err, errFenced) {
			continue
		}
		if err == nil {
			s.stored.remember(commits)
			s.succeeded(began, attempt, commits)
			return nil
		}
		s.failed(err, attempt, commits)
		if !s.pause(retryDelay(attempt, s.jitter.Float64())) {
			return fmt.Errorf("%w before its rows were durable: %w", ErrClosed, err)
		}
		attempt++
	}
}

// unfenced returns the commits that may be written still, and marks the others;
// errFenced tells that there are such.
func unfenced(commits []*queued) (kept []*queued, err error) {
	kept = make([]*queued, 0, len(commits))
	for _, item := range commits {
		if item.fenced == nil && item.commit.Fence != nil {
			item.fenced = item.commit.Fence()
		}
		if item.fenced != nil {
			err = errFenced
			continue
		}
		kept = append(kept, item)
	}
	return kept, err
}

// runSteps runs the steps in order and returns those that are left.
func (s *Sink) runSteps(steps []step, commits []*queued) ([]step, error) {
	for len(steps) > 0 {
		if _, err := unfenced(commits); err != nil {
			return nil, err
		}
		next := steps[0]
		began := time.Now()
		ctx, cancel := context.WithTimeout(s.abort, s.options.StepTimeout)
		bytes, err := next.run(ctx)
		cancel()
		if err != nil {
			return steps, fmt.Errorf("write %s to %s: %w", next.what, next.table, err)
		}
		s.metrics.wrote(next, bytes, time.Since(began))
		steps = steps[1:]
	}
	return []step{}, nil
}

// plan lays a flush out: live rows, tombstones, quarantine, drift and verdicts,
// and only then what says that those are durable (DESIGN R1).
func (s *Sink) plan(ctx context.Context, commits []*queued) ([]step, error) {
	rows, err := s.planRows(ctx, commits)
	if err != nil {
		return nil, err
	}
	tombs, err := s.planTombstones(ctx, commits)
	if err != nil {
		return nil, err
	}
	steps := append(append([]step{}, rows...), tombs...)
	for _, plan := range []func(context.Context, []*queued) ([]step, error){
		s.planQuarantine, s.planDrift, s.planVerdicts, s.planCheckpoints, s.planRuns, s.planStatuses,
	} {
		more, err := plan(ctx, commits)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

// planRows makes one INSERT per table of the live rows of all commits.
func (s *Sink) planRows(ctx context.Context, commits []*queued) ([]step, error) {
	var order []string
	parts := map[string][]part{}
	for _, item := range commits {
		c := item.commit
		if c.Batch == nil || len(c.Batch.Rows) == 0 {
			continue
		}
		table := c.Batch.Table.Name
		if parts[table] == nil {
			order = append(order, table)
		}
		parts[table] = append(parts[table], part{source: c.Source, business: c.Business, batch: c.Batch})
	}
	var steps []step
	for _, table := range order {
		types, err := s.warehouse.columns(ctx, table)
		if err != nil {
			return nil, err
		}
		b, err := rowBlock(table, types, parts[table])
		if err != nil {
			return nil, err
		}
		steps = append(steps, s.insertStep("rows", b))
	}
	return steps, nil
}

func (s *Sink) insertStep(what string, b *block) step {
	return step{what: what, table: b.table, rows: b.rows, run: func(ctx context.Context) (int64, error) {
		return s.warehouse.insert(ctx, b)
	}}
}

// insertPlain makes the step that writes a batch to one of Larder's own tables.
func (s *Sink) insertPlain(ctx context.Context, what string, batch *sinks.Batch) ([]step, error) {
	if len(batch.Rows) == 0 {
		return nil, nil
	}
	types, err := s.warehouse.columns(ctx, batch.Table.Name)
	if err != nil {
		return nil, err
	}
	b, err := plainBlock(types, batch)
	if err != nil {
		return nil, err
	}
	return []step{s.insertStep(what, b)}, nil
}

func (s *Sink) succeeded(began time.Time, attempts int, commits []*queued) {
	s.metrics.flushed(commits, time.Since(began))
	s.health.set(nil)
	s.warehouse.outage.flushed(nil)
	if attempts > 0 {
		s.log.Debug("a flush that failed went through", "after", time.Since(began).Round(time.Millisecond), "attempts", attempts+1)
	}
}

// dropped ends a flush of which everything was fenced: no rows wait any more.
func (s *Sink) dropped() {
	s.health.set(nil)
	s.warehouse.outage.dropped()
}

func (s *Sink) failed(err error, attempt int, commits []*queued) {
	if errors.Is(err, context.Canceled) && s.abort.Err() != nil {
		return
	}
	s.health.set(err)
	s.metrics.retries.Inc()
	s.warehouse.outage.flushed(err)
	_, rows, _ := s.queue.load()
	s.log.Debug("a flush failed", "error", err, "attempt", attempt+1, "commits", len(commits), "rows_queued_behind", rows)
}

// pause waits, and returns false when the sink has no more time.
func (s *Sink) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.abort.Done():
		return false
	}
}

// The delays between attempts, doubling from the first to the longest.
const (
	firstDelay   = 100 * time.Millisecond
	longestDelay = 15 * time.Second
)

// retryDelay is how long to wait after the given failed attempt (from 0): half of
// it fixed, half by chance, so that several daemons do not come back at once.
func retryDelay(attempt int, chance float64) time.Duration {
	full := longestDelay
	if attempt < 16 {
		full = min(longestDelay, firstDelay<<attempt)
	}
	return full/2 + time.Duration(chance*float64(full/2))
}
