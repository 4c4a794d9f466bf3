package app

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/control"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer"
)

// Sync makes one pass. Beside a daemon on the same embedded warehouse, the daemon
// makes it. A remote warehouse that is down is waited for as long as wait, at the
// start and in the middle. onProgress, which may be nil, is called about every second. The report
// is filled as far as the pass came; an error in a source or stream, and rows in
// quarantine, are a *SyncError.
func (a *App) Sync(ctx context.Context, sel syncer.Selection, wait time.Duration, onProgress func(syncer.Status)) (report syncer.Report, err error) {
	err = a.run(ctx, task{
		sel:   sel,
		there: func(d control.Client) (err error) { report, err = d.Sync(ctx, sel, onProgress); return err },
		here: func(l *lifecycle.Cleanups, w *warehouse.Route, sources []syncer.Source) (err error) {
			report, err = a.syncHere(ctx, l, w, pass{sources: sources, sel: sel, wait: wait, onProgress: onProgress})
			return err
		},
	})
	outcomes := outcomesOf(report.Sources)
	unserved := a.judgeScopes(outcomes, sel)
	switch {
	case err != nil:
	case report.Err() != nil || quarantines(outcomes):
		err = &SyncError{report}
	default:
		err = unserved
	}
	return report, err
}

// pass is what a command asks of a pass.
type pass struct {
	sources    []syncer.Source
	sel        syncer.Selection
	wait       time.Duration
	onProgress func(syncer.Status)
	reads      bool // it writes nothing
}

// syncHere makes the pass in this process.
func (a *App) syncHere(ctx context.Context, l *lifecycle.Cleanups, w *warehouse.Route, p pass) (syncer.Report, error) {
	y, ctx, stop, err := a.syncerHere(ctx, l, w, p)
	if err != nil {
		return syncer.Report{}, err
	}
	defer stop()
	report, err := y.RunOnce(ctx, p.sel, p.onProgress)
	if err == nil {
		err = a.Damages(w).Repaired(y.Status())
	}
	return report, err
}

// syncerHere makes a syncer of this process, for one pass. The context that it
// returns ends when the warehouse has gone.
func (a *App) syncerHere(ctx context.Context, l *lifecycle.Cleanups, w *warehouse.Route, p pass) (*syncer.Syncer, context.Context, func(), error) {
	sink, err := a.OpenSink(ctx, l, w, prometheus.NewRegistry())
	if err != nil {
		return nil, nil, nil, err
	}
	if err := a.Migrated(ctx, sink, p.wait, a.TellDown); err != nil {
		return nil, nil, nil, err
	}
	if !p.reads {
		if err := a.Damages(w).Settle(ctx, sink); err != nil {
			return nil, nil, nil, &exit.WarehouseError{Err: err}
		}
	}
	a.Damages(w).Tell()
	down := &warehouse.Outage{}
	warehouse := func() syncer.Warehouse {
		return syncer.Warehouse{Unavailable: down.Text() != "", Damaged: a.Damages(w).Streams()}
	}
	y, err := a.newSyncer(l, p.sources, sink, nil, warehouse)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { a.GiveUp(ctx, w, sink, p.wait, down, cancel) })
	return y, ctx, func() { cancel(nil); watching.Wait() }, nil
}
