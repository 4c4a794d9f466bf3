package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// ErrClosed says that the sink was closed; a receipt that fails with it was not durable.
var ErrClosed = errors.New("the sink is closed")

// Sink writes to ClickHouse. It implements [sinks.Sink].
type Sink struct {
	*reader
	*migrator
	*claims
	flusher  *flusher
	personal *personalData

	options   Options
	warehouse *connection.Warehouse
	log       *slog.Logger
	metrics   *metrics
	health    health // of flushes
	claiming  health // of beats
	once      sync.Once
}

var _ sinks.Sink = (*Sink)(nil)

// Open returns a sink and starts its flusher. It does not talk to the warehouse,
// which may be down: use [Sink.Check] or [Sink.Migrate] for that. Errors are
// about the options.
func Open(_ context.Context, o Options) (*Sink, error) {
	t, err := connection.Parse(connection.Address{DSN: o.DSN, Password: o.Password, Dial: o.Dial})
	if err != nil {
		return nil, err
	}
	if o.Database == "" {
		o.Database = t.Named
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	w, err := connection.Open(t, schema.Dialect{Database: o.Database, Cluster: o.Cluster}, o.Logger)
	if err != nil {
		return nil, fmt.Errorf("open the warehouse: %w", err)
	}
	beats, err := w.Beside()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the warehouse: %w", err), w.Close())
	}
	s := &Sink{options: o, warehouse: w, log: o.Logger}
	s.flusher = newFlusher(s)
	s.reader, s.migrator, s.claims = newReader(w, s.flusher.stored), &migrator{w, o.Logger}, &claims{beats, o.ClaimTimeout}
	s.personal = &personalData{warehouse: w, erasing: semaphore.NewWeighted(1)}
	s.metrics = newMetrics(s)
	s.metrics.begin()
	if o.Registerer != nil {
		if err := s.metrics.register(o.Registerer); err != nil {
			return nil, fmt.Errorf("open the warehouse: %w", err)
		}
	}
	go s.flusher.flushAll()
	return s, nil
}

// Write implements [sinks.Sink].
func (s *Sink) Write(ctx context.Context, c *sinks.Commit) (*sinks.Receipt, error) {
	if err := sinks.CheckVerdicts(c.Verdicts); err != nil {
		return nil, fmt.Errorf("queue %s of %s for the warehouse: %w", c.Stream, c.Source, err)
	}
	s.warehouse.Outage.Begin()
	item := &queued{commit: c}
	item.rows, item.bytes = weigh(c)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.flusher.closing, func() { cancel(ErrClosed) })()
	if err := s.flusher.queue.put(ctx, item); err != nil {
		return nil, fmt.Errorf("queue %s of %s for the warehouse: %w", c.Stream, c.Source, err)
	}
	return item.receipt, nil
}

// Close flushes what is queued, as long as ctx allows, and closes the
// connections. What could not be flushed has its receipts fail with [ErrClosed].
func (s *Sink) Close(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		s.flusher.close()
		s.flusher.queue.close()
		select {
		case <-s.flusher.ended:
		case <-ctx.Done():
			s.flusher.stop()
			<-s.flusher.ended
			err = fmt.Errorf("close the warehouse: %w", context.Cause(ctx))
		}
		s.flusher.stop()
		if closed := errors.Join(s.warehouse.Close(), s.claims.warehouse.Close()); err == nil {
			err = closed
		}
		s.metrics.unregister(s.options.Registerer)
	})
	return err
}

// health is how the last attempt went.
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

// Beat implements [sinks.Sink].
func (s *Sink) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	claims, err := s.claims.Beat(ctx, p, wants)
	if !errors.Is(err, context.Canceled) { // whoever asked has stopped: that tells nothing of the warehouse
		s.claiming.set(err)
	}
	return claims, err
}

// Health returns nil when the last flush and the last beat went well, and otherwise the error
// and since when they have failed. Nothing is lost meanwhile: the same rows are tried again.
func (s *Sink) Health() error { return cmp.Or(s.health.failed(), s.claiming.failed()) }

func (h *health) failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		return nil
	}
	return fmt.Errorf("the warehouse has not taken rows since %s: %w", h.since.UTC().Format(time.RFC3339), h.err)
}
