package app

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/control"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

// The passes that commands ask for. Beside a daemon on the same embedded warehouse the daemon
// makes them, else this process does: then a remote warehouse that is down is waited for as
// long as wait, at the start and in the middle. A report is filled as far as the pass came.

// Sync makes one pass. onProgress, which may be nil, is called about every second. A failure of
// a source or stream, and rows in quarantine, are an error.
func (a *App) Sync(ctx context.Context, sel syncer.Selection, wait time.Duration, onProgress func(status.Status)) (report syncer.Report, err error) {
	err = a.run(ctx, task{sel: sel, wait: wait}, func(ctx context.Context, p control.Passer) (err error) {
		report, err = p.RunOnce(ctx, sel, onProgress)
		return err
	})
	return report, judged(a.Config, report.Sources, sel, err)
}

// Verify compares the mirror with the API; found and progress may be nil. A difference, what
// could not be compared, and rows in quarantine, are an error.
func (a *App) Verify(ctx context.Context, sel syncer.Selection, wait time.Duration, found func(verify.Finding), progress func(verify.Progress)) (report verify.Report, err error) {
	err = a.run(ctx, task{sel: sel, existing: true, reads: true, wait: wait}, func(ctx context.Context, p control.Passer) (err error) {
		report, err = p.Verify(ctx, sel, found, progress)
		return err
	})
	var differs []string
	if n := report.Differences(); n > 0 {
		differs = append(differs, text.Counted(n, "row", "differs", "differ")+" from the API")
	}
	return report, judged(a.Config, report.Sources, sel, err, differs...)
}

// judged is the error of a pass that ended with err: that one, or what it has found.
func judged[S status.Outcomer](c *config.Config, sources []status.SourceOutcome[S], sel syncer.Selection, err error, found ...string) error {
	unserved := judgeScopes(c, sources, sel.Streams)
	if err == nil {
		err = passError(sources, found...)
	}
	if err == nil {
		err = unserved
	}
	return err
}

// Reconcile compares days of the mirror with the service's totals; progress may be nil. A drift,
// and what could not be compared, is an error.
func (a *App) Reconcile(ctx context.Context, r syncer.ReconcileRequest, wait time.Duration, progress func(syncer.ReconcileReport)) (report syncer.ReconcileReport, err error) {
	t := task{sel: syncer.Selection{Sources: r.Sources}, existing: true, wait: wait}
	err = a.run(ctx, t, func(ctx context.Context, p control.Passer) (err error) {
		report, err = p.Reconcile(ctx, r, progress)
		return err
	})
	if err != nil {
		return report, err
	}
	failed := &failures{}
	if n := report.Drift(); n > 0 {
		failed.add(exit.Problem, text.Counted(n, "verdict", "is", "are")+" drift: the mirror adds up to other figures than the service reports")
	}
	if n := report.Unproven(); n > 0 {
		failed.add(exit.Problem, text.Counted(n, "verdict", "is", "are")+" unproven: what the service answered could not be compared")
	}
	for i := range report.Sources {
		failed.source(report.Sources[i].Source, "", report.Sources[i].Err)
	}
	return report, failed.err()
}

// Forget erases what the warehouse holds of a person who ordered online.
func (a *App) Forget(ctx context.Context, r syncer.ForgetRequest, wait time.Duration) (report syncer.ForgetReport, err error) {
	if r.CustomerKey, err = a.reader().Pseudonym(r.Phone); err != nil {
		return syncer.ForgetReport{}, err
	}
	t := task{sel: syncer.Selection{Sources: []string{r.Source}}, existing: true, wait: wait}
	err = a.run(ctx, t, func(ctx context.Context, p control.Passer) (err error) {
		report, err = p.Forget(ctx, r)
		return err
	})
	return report, err
}

// task is what a pass needs.
type task struct {
	sel      syncer.Selection
	existing bool // a warehouse that exists
	reads    bool // it writes nothing
	wait     time.Duration
}

// run calls f with the daemon beside this process, or else a syncer of its own, to make a pass. The
// context ends when the warehouse has gone.
func (a *App) run(ctx context.Context, t task, f func(context.Context, control.Passer) error) error {
	if err := a.checkSelection(t.sel); err != nil {
		return err
	}
	sources, err := a.sources(nil)
	if err != nil {
		return err
	}
	if t.existing {
		if err := a.Existing(); err != nil {
			return err
		}
	}
	if a.Served(ctx) {
		return f(ctx, a.Daemon())
	}
	return a.withWarehouse(ctx, func(o opened) error { return a.runAlone(ctx, o, t, sources, f) })
}

// runAlone calls f with a syncer of this process.
func (a *App) runAlone(ctx context.Context, o opened, t task, sources []syncer.Source, f func(context.Context, control.Passer) error) error {
	begin := o.sink.Migrate
	if t.reads {
		begin = o.sink.CheckSchema
	}
	if err := a.Retry(ctx, begin, t.wait, a.LogDown); err != nil {
		return err
	}
	damages := a.Damages(o.route)
	if !t.reads {
		if err := damages.Settle(ctx, o.sink); err != nil {
			return exit.WarehouseError(err)
		}
	}
	damages.Log()
	down := &atomic.Bool{}
	y, err := a.newSyncer(o.life, sources, o.sink, nil, func() status.Warehouse {
		return status.Warehouse{Unavailable: down.Load(), Damaged: damages.Streams()}
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { a.GiveUp(ctx, o.route, o.sink, t.wait, down, cancel) })
	defer func() { cancel(nil); watching.Wait() }()
	return f(ctx, passes{y, damages})
}

// passes runs passes on a syncer. What a full resync has replaced is not damaged any more.
type passes struct {
	*syncer.Syncer
	damages warehouse.Damages
}

// RunOnce makes a pass.
func (p passes) RunOnce(ctx context.Context, sel syncer.Selection, onProgress func(status.Status)) (syncer.Report, error) {
	report, err := p.Syncer.RunOnce(ctx, sel, onProgress)
	if err == nil {
		err = p.damages.Repaired(p.Status())
	}
	return report, err
}

// Passes returns the daemon's syncer, for passes that commands ask for; it waits until the warehouse
// has been reached.
func (d *Daemon) Passes(ctx context.Context) (control.Passer, error) {
	select {
	case <-d.ready:
		return passes{d.syncer, d.app.Damages(d.route)}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
