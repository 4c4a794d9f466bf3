package clickhouse

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/sinks"
)

// queued is a commit that waits to be flushed, or is being flushed.
type queued struct {
	commit  *sinks.Commit
	receipt *sinks.Receipt
	rows    int
	bytes   int64 // of the queue that it takes
	fenced  error // why it must not be written any more
}

// queue holds commits in the order of Write, and bounds how many bytes of them
// there are, those under way included.
type queue struct {
	limit int64
	space *semaphore.Weighted
	wake  chan struct{} // holds one value when something changed

	mu       sync.Mutex
	waiting  int           // writers that wait for space
	patience time.Duration // the least of all that wait until one of the commits is durable
	commits  []*queued
	taken    uint64 // how many were, before these
	rows     int
	bytes    int64
	closed   bool
}

func newQueue(limit int64) *queue {
	return &queue{limit: limit, space: semaphore.NewWeighted(limit), wake: make(chan struct{}, 1), patience: math.MaxInt64}
}

// put queues a commit, and gives it its receipt, when there is space for it; one that is larger than the
// queue waits until it has the queue for itself.
func (q *queue) put(ctx context.Context, item *queued) error {
	item.bytes = min(item.bytes, q.limit)
	if !q.space.TryAcquire(item.bytes) {
		if err := q.waitForSpace(ctx, item.bytes); err != nil {
			return err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.space.Release(item.bytes)
		return ErrClosed
	}
	q.commits = append(q.commits, item)
	number := q.taken + uint64(len(q.commits)) // a receipt outlives its commit, and must not hold it
	item.receipt = sinks.NewReceipt(func(patience time.Duration) { q.want(number, patience) })
	q.rows += item.rows
	q.bytes += item.bytes
	q.nudge()
	return nil
}

func (q *queue) waitForSpace(ctx context.Context, bytes int64) error {
	q.mu.Lock()
	q.waiting++
	q.nudge()
	q.mu.Unlock()
	err := q.space.Acquire(ctx, bytes)
	q.mu.Lock()
	q.waiting--
	q.mu.Unlock()
	if err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// want notes that somebody waits until the commit of a number is durable.
func (q *queue) want(number uint64, patience time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if number > q.taken && patience < q.patience {
		q.patience = patience
		q.nudge()
	}
}

// nudge wakes the flusher; it never waits.
func (q *queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// close ends put. What is queued stays to be taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.nudge()
}

// take waits until a flush is due and returns all that is queued; nil means that
// the queue is closed and empty, or that ctx ended. A flush is due when enough is
// queued, when a writer waits for space, or when so much time has passed since the last
// one began as those who wait for what is queued have patience: at least interval, at
// most gather, which is for what nobody waits for.
func (q *queue) take(ctx context.Context, began time.Time, interval, gather time.Duration, enough int) []*queued {
	for {
		var left time.Duration
		commits, end := q.takeIf(func() bool {
			left = time.Until(began.Add(max(interval, min(gather, q.patience))))
			return left <= 0 || q.closed || q.waiting > 0 || q.rows >= enough || q.bytes >= q.limit/2
		})
		if end || commits != nil {
			return commits
		}
		var due <-chan time.Time // none while nothing is queued
		if left > 0 {
			due = time.After(left)
		}
		select {
		case <-q.wake:
		case <-due:
		case <-ctx.Done():
			return nil
		}
	}
}

func (q *queue) takeIf(due func() bool) (commits []*queued, end bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.commits) == 0 {
		return nil, q.closed
	}
	if !due() {
		return nil, false
	}
	commits = q.commits
	q.taken += uint64(len(commits))
	q.commits, q.rows, q.bytes, q.patience = nil, 0, 0, math.MaxInt64
	return commits, false
}

// done gives the space of flushed commits back.
func (q *queue) done(commits []*queued) {
	var bytes int64
	for _, item := range commits {
		bytes += item.bytes
	}
	q.space.Release(bytes)
}

// drain takes what will never be flushed.
func (q *queue) drain() []*queued {
	commits, _ := q.takeIf(func() bool { return true })
	return commits
}

func (q *queue) load() (commits, rows int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.commits), q.rows, q.bytes
}

// weigh is about how much memory a commit holds.
func weigh(c *sinks.Commit) (rows int, bytes int64) {
	bytes = 1 << 10
	if c.Batch != nil {
		rows = len(c.Batch.Rows)
		for i := range c.Batch.Rows {
			bytes += int64(len(c.Batch.Rows[i].Raw)+len(c.Batch.Rows[i].ID)) + 96
		}
		for i := range c.Batch.Vectors {
			bytes += weighVector(&c.Batch.Vectors[i])
		}
	}
	for i := range c.Tombstones {
		bytes += int64(len(c.Tombstones[i].Raw)+len(c.Tombstones[i].ID)) + 128
	}
	for i := range c.Quarantine {
		q := &c.Quarantine[i]
		bytes += int64(len(q.Raw)+len(q.ID)+len(q.Field)+len(q.Reason)) + 128
	}
	for i := range c.Drift {
		bytes += int64(len(c.Drift[i].Path)+len(c.Drift[i].Example)) + 128
	}
	for i := range c.Verdicts {
		bytes += weighVerdict(&c.Verdicts[i])
	}
	return rows + len(c.Tombstones) + len(c.Quarantine), bytes
}

func weighVerdict(v *sinks.Verdict) int64 {
	bytes := int64(len(v.Reason)) + 256
	for _, d := range v.Differences {
		bytes += int64(len(d.Figure)+len(d.Service)+len(d.Mirror)) + 48
	}
	for _, id := range v.OrderIDs {
		bytes += int64(len(id)) + 16
	}
	return bytes
}

func weighVector(v *sinks.Vector) int64 {
	bytes := len(v.Bytes) + len(v.KeyBytes) + len(v.Nulls) + 8*(len(v.Ends)+len(v.Ints)+2*len(v.Wide)+len(v.KeyEnds))
	for _, ends := range v.Offsets {
		bytes += 8 * len(ends)
	}
	return int64(bytes)
}
