package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/sinks/clickhouse"
)

// reachWait bounds how long a command waits for a remote warehouse; the daemon
// waits as long as it takes.
const reachWait = 30 * time.Second

// openSink opens the sink at the end of a route, without asking the warehouse
// anything yet.
func (a *reach) openSink(ctx context.Context, l *lifecycle, w *route, registerer prometheus.Registerer) (*clickhouse.Sink, error) {
	o, err := a.sinkOptions(w, registerer)
	if err != nil {
		return nil, UsageError(err)
	}
	sink, err := clickhouse.Open(ctx, o)
	if err != nil {
		return nil, &WarehouseError{err}
	}
	l.add("sink", 10*time.Second, func(ctx context.Context) error { return a.closeSink(ctx, w, sink) })
	return sink, nil
}

// closeSink flushes what waits. For a warehouse that is known to be down it does
// not wait long: what is not acknowledged is fetched again.
func (a *reach) closeSink(ctx context.Context, w *route, sink *clickhouse.Sink) error {
	down := sink.Health()
	if w.engine != nil {
		down = cmp.Or(w.engine.Health(), down)
	}
	if down == nil {
		return sink.Close(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := sink.Close(ctx); err != nil {
		a.log.Warn("rows that waited for the warehouse are fetched again at the next start", "reason", down)
	}
	return nil
}

// unreachable makes one sentence of an error that means that the warehouse could
// not be asked, whatever was being asked, and leaves other errors as they are.
func (a *reach) unreachable(err error) error {
	if down, ok := errors.AsType[*clickhouse.UnreachableError](err); ok {
		return &WarehouseError{fmt.Errorf("%w: %s: %s", down.Kind, a.cfg.Warehouse.DSN, down.Reason)}
	}
	return err
}

// migrated brings the schema up to date, waiting for a warehouse that is down.
// whenDown hears why it waits; a zero wait tries once.
func (a *reach) migrated(ctx context.Context, sink *clickhouse.Sink, wait time.Duration, whenDown func(error)) error {
	deadline := time.Now().Add(wait)
	for delay := 500 * time.Millisecond; ; delay = min(2*delay, 15*time.Second) {
		err := sink.Migrate(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err = a.unreachable(err); !is[*WarehouseError](err) {
			err = &WarehouseError{fmt.Errorf("warehouse %s: %w", a.cfg.Warehouse.DSN, err)}
		}
		if !errors.Is(err, clickhouse.ErrUnreachable) || time.Now().Add(delay).After(deadline) {
			return err
		}
		whenDown(err)
		if !pause(ctx, delay) {
			return context.Cause(ctx)
		}
	}
}

// forever is a wait that does not end.
const forever = 100 * 365 * 24 * time.Hour

// tellDown says why it waits; the sink has said that the warehouse is away.
func (a *reach) tellDown(err error) { a.log.Debug("waiting for the warehouse", "reason", err) }
