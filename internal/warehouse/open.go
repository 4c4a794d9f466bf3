package warehouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
)

// ReachWait bounds how long a command waits for a remote warehouse; the daemon
// waits as long as it takes.
const ReachWait = 30 * time.Second

// OpenSink opens the sink at the end of a route, without asking the warehouse
// anything yet.
func (a *Opener) OpenSink(ctx context.Context, l *lifecycle.Cleanups, w *Route, registerer prometheus.Registerer) (*clickhouse.Sink, error) {
	c := &a.Config.Warehouse
	o := clickhouse.Options{
		Database: c.Database, Cluster: c.Cluster,
		FlushInterval: c.FlushInterval, FlushRows: c.FlushRows, QueueBytes: cmp.Or(w.queue, queueOf(findMemory("/"))),
		Logger: a.Log, Registerer: registerer,
	}
	if w.engine != nil {
		o.Dial = w.engine.Dial
	} else {
		password, err := c.ReadPassword()
		if err != nil {
			return nil, lifecycle.UsageError(fmt.Errorf("warehouse.password_file: %w", err))
		}
		o.DSN = c.DSN.Reveal(password)
	}
	sink, err := clickhouse.Open(ctx, o)
	if err != nil {
		return nil, lifecycle.WarehouseError(err)
	}
	// Closing flushes what waits. For a warehouse that is known to be down that does not last long:
	// what is not acknowledged is fetched again.
	l.Add("sink", 10*time.Second, func(ctx context.Context) error {
		down := cmp.Or(w.Health(), sink.Health())
		if down == nil {
			return sink.Close(ctx)
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if sink.Close(ctx) != nil {
			a.Log.Warn("rows that waited for the warehouse are fetched again at the next start", "reason", down)
		}
		return nil
	})
	return sink, nil
}

// Unreachable makes one sentence of an error that means that the warehouse could
// not be asked, whatever was being asked, and leaves other errors as they are.
func (a *Opener) Unreachable(err error) error {
	if down, ok := errors.AsType[*connection.UnreachableError](err); ok {
		return lifecycle.WarehouseError(fmt.Errorf("%w: %s: %s", down.Kind, a.Config.Warehouse.DSN, down.Reason))
	}
	return err
}

// Retry calls begin until it succeeds, for as long as wait while the warehouse cannot be reached.
// whenDown is called with the reason before each pause; a zero wait tries once.
func (a *Opener) Retry(ctx context.Context, begin func(context.Context) error, wait time.Duration, whenDown func(error)) error {
	deadline := time.Now().Add(wait)
	for delay := 500 * time.Millisecond; ; delay = min(2*delay, 15*time.Second) {
		err := begin(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err = a.Unreachable(err); lifecycle.ExitCode(err) != lifecycle.ExitWarehouse {
			err = lifecycle.WarehouseError(fmt.Errorf("warehouse %s: %w", a.Config.Warehouse.DSN, err))
		}
		if !errors.Is(err, connection.ErrUnreachable) || time.Now().Add(delay).After(deadline) {
			return err
		}
		whenDown(err)
		if !lifecycle.Pause(ctx, delay) {
			return context.Cause(ctx)
		}
	}
}

// Forever is a wait that does not end.
const Forever = 100 * 365 * 24 * time.Hour

// LogDown logs why it waits; the sink has logged that the warehouse is unreachable.
func (a *Opener) LogDown(err error) { a.Log.Debug("waiting for the warehouse", "reason", err) }
