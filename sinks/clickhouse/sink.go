package clickhouse

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Sink writes to ClickHouse. It implements [sinks.Sink].
type Sink struct {
	options   Options
	warehouse *warehouse
	log       *slog.Logger
	metrics   *metrics

	queue   *queue
	stored  *storedCheckpoints
	health  health
	jitter  *rand.Rand // of the flusher alone
	closing context.Context
	close   context.CancelFunc
	ended   chan struct{}   // closed when the flusher has ended
	abort   context.Context // ends statements under way
	stop    context.CancelFunc
	once    sync.Once
}

var _ sinks.Sink = (*Sink)(nil)

// Open returns a sink and starts its flusher. It does not talk to the warehouse,
// which may be down: use [Sink.Check] or [Sink.Migrate] for that. Errors are
// about the options.
func Open(_ context.Context, o Options) (*Sink, error) {
	t, err := parseTarget(o)
	if err != nil {
		return nil, err
	}
	if o.Database == "" {
		o.Database = t.named
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	w, err := openWarehouse(t, dialect{database: o.Database, cluster: o.Cluster}, &outage{log: o.Logger})
	if err != nil {
		return nil, fmt.Errorf("open the warehouse: %w", err)
	}
	s := &Sink{
		options: o, warehouse: w, log: o.Logger, queue: newQueue(o.QueueBytes),
		stored: newStoredCheckpoints(), ended: make(chan struct{}),
		jitter: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)),
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.abort, s.stop = context.WithCancel(context.Background())
	s.metrics = newMetrics(s)
	s.metrics.begin()
	if o.Registerer != nil {
		if err := s.metrics.register(o.Registerer); err != nil {
			return nil, fmt.Errorf("open the warehouse: %w", err)
		}
	}
	go s.flushAll()
	return s, nil
}

// Write implements [sinks.Sink].
func (s *Sink) Write(ctx context.Context, c *sinks.Commit) (*sinks.Receipt, error) {
	if err := sinks.CheckVerdicts(c.Verdicts); err != nil {
		return nil, fmt.Errorf("queue %s of %s for the warehouse: %w", c.Stream, c.Source, err)
	}
	s.warehouse.outage.begin()
	item := &queued{commit: c, receipt: sinks.NewReceipt()}
	item.rows, item.bytes = weigh(c)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.closing, func() { cancel(ErrClosed) })()
	if err := s.queue.put(ctx, item); err != nil {
		return nil, fmt.Errorf("queue %s of %s for the warehouse: %w", c.Stream, c.Source, err)
	}
	return item.receipt, nil
}

// Close flushes what is queued, as long as ctx allows, and closes the
// connections. What could not be flushed has its receipts fail with [ErrClosed].
func (s *Sink) Close(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		s.close()
		s.queue.close()
		select {
		case <-s.ended:
		case <-ctx.Done():
			s.stop()
			<-s.ended
			err = fmt.Errorf("close the warehouse: %w", context.Cause(ctx))
		}
		s.stop()
		if closed := s.warehouse.close(); err == nil {
			err = closed
		}
		s.metrics.unregister(s.options.Registerer)
	})
	return err
}

// flushAll is the flusher: it groups what is queued and writes it, one group at a
// time, while the next gathers.
func (s *Sink) flushAll() {
	defer close(s.ended)
	var began time.Time
	for {
		commits := s.queue.take(s.abort, began, s.options.FlushInterval, s.options.FlushRows)
		if commits == nil {
			break
		}
		began = time.Now()
		s.settle(commits, s.flush(commits))
	}
	s.settle(s.queue.drain(), ErrClosed)
}

// settle resolves receipts in the order of Write.
func (s *Sink) settle(commits []*queued, err error) {
	for _, item := range commits {
		if item.fenced != nil {
			item.receipt.Resolve(item.fenced)
		} else {
			item.receipt.Resolve(err)
		}
	}
	s.queue.done(commits)
}

// health is how the last attempt to write went.
type health struct {
	mu    sync.Mutex
	err   error
	since time.Time
}

func (h *health) set(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && h.err == nil {
		h.since = time.Now()
	}
	h.err = err
}

// Health returns nil when the last flush went well, and otherwise its error and
// since when flushes have failed. Nothing is lost meanwhile: the same rows are
// tried again.
func (s *Sink) Health() error {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if s.health.err == nil {
		return nil
	}
	return fmt.Errorf("the warehouse has not taken rows since %s: %w", s.health.since.UTC().Format(time.RFC3339), s.health.err)
}
