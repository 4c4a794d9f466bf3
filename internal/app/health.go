package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/syncer"
)

// watchEvery is how often the warehouse is asked whether it is there.
const watchEvery = 5 * time.Second

// warehouseProblem says what is wrong with the warehouse, nil for nothing. One
// that answers may still take no rows, when its disk is full for example.
func (a *reach) warehouseProblem(ctx context.Context, w *route, sink *clickhouse.Sink) error {
	if w.engine != nil {
		if err := w.engine.Health(); err != nil {
			return err
		}
	}
	ping, cancel := context.WithTimeout(ctx, 2*watchEvery)
	defer cancel()
	if err := sink.Ping(ping); err != nil {
		return a.unreachable(err)
	}
	if err := sink.Health(); err != nil {
		return fmt.Errorf("the warehouse %s answers, but takes no rows: %w", a.cfg.Warehouse.DSN, err)
	}
	return nil
}

// withProblems is a status with what is wrong with the warehouse: that it takes no rows, and
// that some of its own are damaged.
func (a *reach) withProblems(s syncer.Status, w *route, away string) syncer.Status {
	if away != "" {
		s.Away, s.Problems = true, []string{away}
	}
	damage := a.Damages(w).Problems()
	s.Damaged, s.Problems = len(damage) > 0, append(s.Problems, damage...)
	return s
}

// waiting says why rows wait. Those for a folder that is lost wait in vain.
func waiting(problem error) string {
	if errors.Is(problem, embedded.ErrFolderLost) {
		return fmt.Sprintf("No rows are stored: %v.", problem)
	}
	return fmt.Sprintf("Rows wait for the warehouse, and nothing is lost: %v", problem)
}

// giveUp ends a pass whose warehouse has gone, or takes no rows: they would wait
// for it forever.
func (a *reach) giveUp(ctx context.Context, w *route, sink *clickhouse.Sink, wait time.Duration, down *outage, cancel context.CancelCauseFunc) {
	for pause(ctx, min(max(wait/4, 100*time.Millisecond), watchEvery)) {
		problem := a.warehouseProblem(ctx, w, sink)
		if ctx.Err() != nil {
			problem = nil
		}
		began, first := down.saw(problem)
		switch {
		case first:
			a.tellDown(problem)
		case problem != nil && time.Since(began) > wait:
			cancel(&WarehouseError{fmt.Errorf("the warehouse has taken no rows for %s; what was not written is fetched again by the next sync: %w",
				time.Since(began).Round(time.Second), problem)})
			return
		}
	}
}

// outage is since when, and why, the warehouse takes no rows of a pass.
type outage struct {
	mu      sync.Mutex
	began   time.Time
	problem string
}

// saw notes how the warehouse is now: when the outage began, and whether that was just now.
func (o *outage) saw(problem error) (began time.Time, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if problem == nil {
		o.began, o.problem = time.Time{}, ""
		return o.began, false
	}
	if first = o.began.IsZero(); first {
		o.began = time.Now()
	}
	o.problem = waiting(problem)
	return o.began, first
}

// text is the outage in words, empty while there is none.
func (o *outage) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.problem
}
