package warehouse

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine"
)

// WatchEvery is how often the warehouse is asked whether it is there.
const WatchEvery = 5 * time.Second

// WarehouseProblem says what is wrong with the warehouse, nil for nothing. One
// that answers may still take no rows, when its disk is full for example.
func (a *Opener) WarehouseProblem(ctx context.Context, w *Route, sink *clickhouse.Sink) error {
	if err := w.Health(); err != nil {
		return err
	}
	ping, cancel := context.WithTimeout(ctx, 2*WatchEvery)
	defer cancel()
	if err := sink.Ping(ping); err != nil {
		return a.Unreachable(err)
	}
	if err := sink.Health(); err != nil {
		return fmt.Errorf("the warehouse %s answers, but takes no rows: %w", a.Config.Warehouse.DSN, err)
	}
	return nil
}

// Waiting is the sentence on why rows wait. Rows for a folder that is lost are not stored at all.
func Waiting(problem error) string {
	if errors.Is(problem, engine.ErrFolderLost) {
		return fmt.Sprintf("No rows are stored: %v.", problem)
	}
	return fmt.Sprintf("Rows wait for the warehouse, and nothing is lost: %v", problem)
}

// GiveUp ends a pass whose warehouse has gone, or takes no rows, for as long as wait: they would
// wait for it forever. down is set meanwhile.
func (a *Opener) GiveUp(ctx context.Context, w *Route, sink *clickhouse.Sink, wait time.Duration, down *atomic.Bool, cancel context.CancelCauseFunc) {
	var began time.Time // of the outage
	for lifecycle.Pause(ctx, min(max(wait/4, 100*time.Millisecond), WatchEvery)) {
		problem := a.WarehouseProblem(ctx, w, sink)
		if ctx.Err() != nil {
			return
		}
		down.Store(problem != nil)
		switch {
		case problem == nil:
			began = time.Time{}
		case began.IsZero():
			began = time.Now()
			a.LogDown(problem)
		case time.Since(began) > wait:
			cancel(lifecycle.WarehouseError(fmt.Errorf("the warehouse has taken no rows for %s; what was not written is fetched again by the next sync: %w",
				time.Since(began).Round(time.Second), problem)))
			return
		}
	}
}
