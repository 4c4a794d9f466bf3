package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/sinks/clickhouse/native"
)

// flusher writes what is queued, one group of commits at a time.
type flusher struct {
	sink    *Sink
	queue   *queue
	stored  *storedCheckpoints
	jitter  *rand.Rand // of its own goroutine alone
	closing context.Context
	close   context.CancelFunc
	ended   chan struct{}   // closed when it has ended
	abort   context.Context // ends statements under way
	stop    context.CancelFunc
}

func newFlusher(s *Sink) *flusher {
	f := &flusher{
		sink: s, queue: newQueue(s.options.QueueBytes), stored: newStoredCheckpoints(), ended: make(chan struct{}),
		jitter: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)),
	}
	f.closing, f.close = context.WithCancel(context.Background())
	f.abort, f.stop = context.WithCancel(context.Background())
	return f
}

// step is one statement of a flush.
type step struct {
	what   string // rows, tombstones, quarantine, drift, verdicts, checkpoints, runs, statuses
	table  string
	rows   int
	ofRows bool // rows or tombstones, each of which may go to quarantine instead
	run    func(ctx context.Context) (bytes int64, err error)
}

// errFenced says that some commits must not be written any more: what is left is
// planned anew.
var errFenced = errors.New("commits are fenced")

// flush writes a group of commits, trying again until all of it is durable that
// is not fenced. It returns an error only when the sink is closed before that.
func (f *flusher) flush(commits []*queued) error {
	began := time.Now()
	var steps []step
	for attempt := 0; ; {
		var err error
		if commits, err = unfenced(commits); err != nil {
			steps = nil
		}
		if len(commits) == 0 {
			f.dropped()
			return nil
		}
		if steps == nil {
			if err = f.recovered(func() (err error) { steps, err = f.plan(f.abort, commits); return err }); err != nil {
				steps = nil
				f.sink.warehouse.ForgetTypes() // another process may migrate the warehouse meanwhile
			}
		}
		if err == nil {
			steps, err = f.runSteps(steps, commits)
		}
		if len(steps) > 0 && steps[0].ofRows && connection.RefusesValues(err) {
			if err, steps = f.sift(commits), nil; err == nil {
				continue
			}
		}
		if errors.Is(err, errFenced) {
			continue
		}
		if err == nil {
			f.stored.remember(commits)
			f.succeeded(began, attempt, commits)
			return nil
		}
		f.failed(err, attempt, commits)
		delay := lifecycle.Backoff(firstDelay, longestDelay, attempt)
		if !lifecycle.Pause(f.abort, lifecycle.Between(delay/2, delay, f.jitter.Float64())) { // the sink has no more time
			return fmt.Errorf("%w before its rows were durable: %w", ErrClosed, err)
		}
		attempt++
	}
}

// recovered runs part of a flush. A panic of it is an error: the flush is tried again.
func (f *flusher) recovered(part func() error) (err error) {
	if lifecycle.Recovered(f.sink.log, "the writing of rows", func() { err = part() }) {
		return errors.New("a fault in Larder: the log has its stack; report it")
	}
	return err
}

// unfenced returns the commits that may be written still, and marks the others;
// errFenced means that there are such.
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
func (f *flusher) runSteps(steps []step, commits []*queued) ([]step, error) {
	for len(steps) > 0 {
		if _, err := unfenced(commits); err != nil {
			return nil, err
		}
		next := steps[0]
		began := time.Now()
		ctx, cancel := context.WithTimeout(f.abort, f.sink.options.StepTimeout)
		var bytes int64
		err := f.recovered(func() (err error) { bytes, err = next.run(ctx); return err })
		cancel()
		if err != nil {
			return steps, fmt.Errorf("write %s to %s: %w", next.what, next.table, err)
		}
		f.sink.metrics.wrote(next, bytes, time.Since(began))
		steps = steps[1:]
	}
	return []step{}, nil
}

// plan lays a flush out: live rows and tombstones, quarantine, drift and verdicts,
// and only then what says that those are durable (docs/rules.md R1).
func (f *flusher) plan(ctx context.Context, commits []*queued) ([]step, error) {
	return planAll(ctx, commits, f.planRows, f.planQuarantine, f.planDrift, f.planVerdicts,
		f.planCheckpoints, f.planRuns, f.planStatuses)
}

func planAll(ctx context.Context, commits []*queued, plans ...func(context.Context, []*queued) ([]step, error)) ([]step, error) {
	steps := []step{}
	for _, plan := range plans {
		more, err := plan(ctx, commits)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

// changes are the rows and tombstones of one table in a flush.
type changes struct {
	table      string
	parts      []native.Part // live rows
	rows       int
	tombstones []committedTombstone // of each removed row the highest version
	inserted   map[rowKey]bool      // tombstones that were inserted with the live rows
}

// planRows makes, per table, one INSERT of the live rows of all commits, and then what the tombstones need.
func (f *flusher) planRows(ctx context.Context, commits []*queued) ([]step, error) {
	var order []*changes
	byTable := map[string]*changes{}
	of := func(table string) *changes {
		if byTable[table] == nil {
			byTable[table] = &changes{table: table}
			order = append(order, byTable[table])
		}
		return byTable[table]
	}
	for _, item := range commits {
		c := item.commit
		if c.Batch != nil && len(c.Batch.Rows) > 0 {
			t := of(c.Batch.Table.Name)
			t.parts = append(t.parts, native.Part{Source: c.Source, Business: c.Business, Batch: c.Batch})
			t.rows += len(c.Batch.Rows)
		}
		for i := range c.Tombstones {
			t := of(c.Stream)
			t.tombstones = append(t.tombstones, committedTombstone{c.Source, c.Business, &c.Tombstones[i]})
		}
	}
	var steps []step
	for _, t := range order {
		types, err := f.sink.warehouse.Columns(ctx, t.table)
		if err != nil {
			return nil, err
		}
		t.tombstones = newest(t.tombstones)
		if len(t.parts) > 0 {
			b, err := native.RowBlock(t.table, types, t.parts)
			if err != nil {
				return nil, err
			}
			insert := f.insertStep("rows", b)
			if t.rows >= bulkRows && len(t.tombstones) > 0 {
				insert.run = func(ctx context.Context) (int64, error) { return f.insertWithLone(ctx, types, t, commits) }
			}
			insert.ofRows = true
			steps = append(steps, insert)
		}
		steps = append(steps, f.tombstoneSteps(types, t)...)
	}
	return steps, nil
}

func (f *flusher) insertStep(what string, b *native.Block) step {
	return step{what: what, table: b.Table, rows: b.Rows, run: func(ctx context.Context) (int64, error) {
		return f.sink.warehouse.Insert(ctx, b)
	}}
}

// insertPlain makes the step that writes a batch to one of Larder's own tables.
func (f *flusher) insertPlain(ctx context.Context, what string, batch *sinks.Batch) ([]step, error) {
	if len(batch.Rows) == 0 {
		return nil, nil
	}
	types, err := f.sink.warehouse.Columns(ctx, batch.Table.Name)
	if err != nil {
		return nil, err
	}
	b, err := native.PlainBlock(types, batch)
	if err != nil {
		return nil, err
	}
	return []step{f.insertStep(what, b)}, nil
}

func (f *flusher) succeeded(began time.Time, attempts int, commits []*queued) {
	f.sink.metrics.flushed(commits, time.Since(began))
	f.sink.health.set(nil)
	f.sink.warehouse.Outage.Flushed(nil)
	if attempts > 0 {
		f.sink.log.Debug("a flush that failed went through", "after", time.Since(began).Round(time.Millisecond), "attempts", attempts+1)
	}
}

// dropped ends a flush of which everything was fenced: no rows wait any more.
func (f *flusher) dropped() {
	f.sink.health.set(nil)
	f.sink.warehouse.Outage.Dropped()
}

func (f *flusher) failed(err error, attempt int, commits []*queued) {
	if errors.Is(err, context.Canceled) && f.abort.Err() != nil {
		return
	}
	f.sink.health.set(err)
	f.sink.metrics.retries.Inc()
	f.sink.warehouse.Outage.Flushed(err)
	_, rows, _ := f.queue.load()
	f.sink.log.Debug("a flush failed", "error", err, "attempt", attempt+1, "commits", len(commits), "rows_queued_behind", rows)
}

// The delays between attempts, doubling from the first to the longest.
const (
	firstDelay   = 100 * time.Millisecond
	longestDelay = 15 * time.Second
)

// flushAll is the flusher: it groups what is queued and writes it, one group at a
// time, while the next gathers.
func (f *flusher) flushAll() {
	defer close(f.ended)
	opened, interval := time.Now(), f.sink.options.FlushInterval
	var began time.Time
	for {
		commits := f.queue.take(f.abort, began, interval, gathers(opened, interval), f.sink.options.FlushRows)
		if commits == nil {
			break
		}
		began = time.Now()
		f.settle(commits, f.flush(commits))
	}
	f.settle(f.queue.drain(), ErrClosed)
}

// gathers is how long what nobody waits for may gather now. At first it is a quarter of the time since the
// sink was opened: a process that is killed again and again has a fifth of its pages fetched again, and gets on.
func gathers(opened time.Time, interval time.Duration) time.Duration {
	return min(sinks.Gathers(interval), max(interval, time.Since(opened)/4))
}

// settle resolves receipts in the order of Write.
func (f *flusher) settle(commits []*queued, err error) {
	for _, item := range commits {
		if item.fenced != nil {
			item.receipt.Resolve(item.fenced)
		} else {
			item.receipt.Resolve(err)
		}
	}
	f.queue.done(commits)
}
