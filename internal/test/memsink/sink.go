package memsink

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// ErrClosed is what writes to a closed or crashed sink answer.
var ErrClosed = errors.New("the sink is closed")

// Options are the knobs of a sink.
type Options struct {
	FlushInterval time.Duration // 1s by default
	FlushTime     time.Duration // how long a flush takes; 30ms by default
	QueueRows     int           // back-pressure above it; 50,000 by default
	ClaimTimeout  time.Duration // sinks.ClaimTimeout by default
	BeatTime      time.Duration // how long a beat takes on its way there, as long to be stored, and back
}

// Sink is a sink over a store; many can follow each other on one store, as
// processes do on one warehouse.
type Sink struct {
	store *Store
	opts  Options

	mu      sync.Mutex
	queue   []queued
	rows    int
	down    bool
	stuck   chan struct{} // closed when the process goes on; nil while it does
	closed  bool
	applied int
	written int           // commits that were queued
	flushed int           // of these
	wake    chan struct{} // something was queued, or the state changed
	wanted  chan struct{} // somebody waits for what is queued
	space   chan struct{} // closed and replaced after each flush
	gone    chan struct{} // closed when the sink is
	ended   chan struct{} // closed when the flusher has ended
}

type queued struct {
	commit   *sinks.Commit
	receipt  *sinks.Receipt
	patience time.Duration // how long after the flush before it may be flushed
}

var _ sinks.Sink = (*Sink)(nil)

// Open starts a sink over a store.
func Open(store *Store, opts Options) *Sink {
	if opts.FlushInterval == 0 {
		opts.FlushInterval = time.Second
	}
	if opts.FlushTime == 0 {
		opts.FlushTime = 30 * time.Millisecond
	}
	if opts.QueueRows == 0 {
		opts.QueueRows = 50_000
	}
	if opts.ClaimTimeout == 0 {
		opts.ClaimTimeout = sinks.ClaimTimeout
	}
	s := &Sink{
		store: store, opts: opts,
		wake: make(chan struct{}, 1), wanted: make(chan struct{}, 1), space: make(chan struct{}),
		gone: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.flusher()
	return s
}

// Write queues a commit.
func (s *Sink) Write(ctx context.Context, c *sinks.Commit) (*sinks.Receipt, error) {
	if err := sinks.CheckVerdicts(c.Verdicts); err != nil {
		return nil, err
	}
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, ErrClosed
		}
		if s.rows < s.opts.QueueRows {
			break
		}
		space, all := s.space, s.written
		s.mu.Unlock()
		s.want(all, 0)
		select {
		case <-space:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer s.mu.Unlock()
	s.written++
	number := s.written
	r := sinks.NewReceipt(func(patience time.Duration) { s.want(number, patience) })
	s.queue = append(s.queue, queued{c, r, sinks.Gathers(s.opts.FlushInterval)})
	s.rows += size(c)
	s.signal()
	return r, nil
}

func size(c *sinks.Commit) int {
	n := len(c.Tombstones) + len(c.Quarantine)
	if c.Batch != nil {
		n += len(c.Batch.Rows)
	}
	return n
}

func (s *Sink) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// want notes that somebody waits for the first so many commits.
func (s *Sink) want(commits int, patience time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := commits - s.flushed - 1; last >= 0 && last < len(s.queue) && patience < s.queue[last].patience {
		s.queue[last].patience = patience
		select {
		case s.wanted <- struct{}{}:
		default:
		}
	}
}

// gathered waits until something of what is queued has gathered for long enough; false means that
// the sink is gone.
func gathered(s *Sink, began time.Time) bool {
	for {
		s.mu.Lock()
		patience := sinks.Gathers(s.opts.FlushInterval)
		for _, q := range s.queue {
			patience = min(patience, q.patience)
		}
		s.mu.Unlock()
		left := time.Until(began.Add(patience))
		if left <= 0 {
			return true
		}
		select {
		case <-s.wanted:
		case <-time.After(left):
			return true
		case <-s.gone:
			return false
		}
	}
}

// flusher flushes when an interval has passed since the last flush began.
func (s *Sink) flusher() {
	defer close(s.ended)
	var began time.Time
	for {
		select {
		case <-s.wake:
		case <-s.gone:
			return
		}
		if !s.pause(time.Until(began.Add(s.opts.FlushInterval))) || !gathered(s, began) {
			return
		}
		began = time.Now()
		s.mu.Lock()
		n := len(s.queue)
		s.mu.Unlock()
		if !s.pause(s.opts.FlushTime) || s.unstuck(context.Background()) != nil {
			return
		}
		s.flush(n)
	}
}

func (s *Sink) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.gone:
		return false
	}
}

// flush makes the first n commits durable.
func (s *Sink) flush(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down || s.closed {
		return
	}
	for _, q := range s.queue[:n] {
		var err error
		if q.commit.Fence != nil {
			err = q.commit.Fence()
		}
		if err == nil {
			s.store.apply(q.commit, true)
			s.applied++
		}
		s.rows -= size(q.commit)
		q.receipt.Resolve(err)
	}
	s.queue, s.flushed = s.queue[n:], s.flushed+n
	if len(s.queue) > 0 {
		s.signal()
	}
	close(s.space)
	s.space = make(chan struct{})
}

// SetDown makes the warehouse unreachable, or brings it back.
func (s *Sink) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	s.signal()
}

// SetStuck holds up whatever the sink is about to do, as if its process were
// paused, or has it go on.
func (s *Sink) SetStuck(stuck bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stuck {
		s.stuck = make(chan struct{})
	} else {
		close(s.stuck)
		s.stuck = nil
	}
}

// unstuck waits while the sink is held up.
func (s *Sink) unstuck(ctx context.Context) error {
	s.mu.Lock()
	stuck := s.stuck
	s.mu.Unlock()
	if stuck == nil {
		return nil
	}
	select {
	case <-stuck:
		return nil
	case <-s.gone:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Applied is how many commits of this sink have become durable.
func (s *Sink) Applied() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

// Crash ends the sink as kill -9 does. Of the commits that were not yet durable
// the first n get their rows stored, without checkpoint: a flush cut in its middle.
func (s *Sink) Crash(n int) {
	i := 0
	s.CrashKeeping(func(*sinks.Commit) bool { i++; return i <= n })
}

// CrashKeeping is Crash with the rows of any commits stored: a flush goes table by
// table.
func (s *Sink) CrashKeeping(keep func(*sinks.Commit) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queue {
		if keep(q.commit) {
			s.store.apply(q.commit, false)
		}
		q.receipt.Resolve(ErrClosed)
	}
	s.end()
}

// Close flushes what is queued.
func (s *Sink) Close(context.Context) error {
	s.mu.Lock()
	n := len(s.queue)
	s.mu.Unlock()
	s.flush(n)
	s.mu.Lock()
	for _, q := range s.queue {
		q.receipt.Resolve(ErrClosed)
	}
	s.end()
	s.mu.Unlock()
	<-s.ended
	return nil
}

func (s *Sink) end() {
	s.queue = nil
	if !s.closed {
		s.closed = true
		close(s.gone)
		close(s.space)
		s.space = make(chan struct{})
	}
}

// State returns what is stored about a source.
func (s *Sink) State(_ context.Context, source string) (sinks.State, error) {
	return s.store.state(source), nil
}

// Businesses returns whose checkpoints each source has stored.
func (s *Sink) Businesses(context.Context) (map[string]string, error) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	businesses := map[string]string{}
	for _, cp := range s.store.checkpoints {
		businesses[cp.Source] = s.store.business[cp.Source]
	}
	return businesses, nil
}

// MaxVersion returns the highest stored version.
func (s *Sink) MaxVersion(context.Context) (uint64, error) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var highest uint64
	for _, rows := range s.store.tables {
		for _, r := range rows {
			highest = max(highest, r.Version)
		}
	}
	for _, cp := range s.store.checkpoints {
		highest = max(highest, cp.FirstVersion)
	}
	return highest, nil
}

// FirstDay returns the earliest business_day of a business's orders.
func (s *Sink) FirstDay(_ context.Context, business string) (string, error) {
	first, found := int64(0), false
	for _, r := range s.store.Rows("sales_orders", business) {
		if r.Raw != "" && (!found || r.Day < first) {
			first, found = r.Day, true
		}
	}
	if !found {
		return "", nil
	}
	return dateOf(first), nil
}

// dateOf is the date of a day, counted since 1970.
func dateOf(day int64) string { return time.Unix(day*86400, 0).UTC().Format(time.DateOnly) }
