package app

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

// The passes that commands ask for. Beside a daemon on the same embedded warehouse the daemon
// makes them, else this process does: then a remote warehouse that is down is waited for as
// long as wait, at the start and in the middle. A report is filled as far as the pass came.

// Sync makes one pass. onProgress, which may be nil, is called about every second. A failure of
// a source or stream, and rows in quarantine, are an error.
func (a *App) Sync(ctx context.Context, sel syncer.Selection, wait time.Duration, onProgress func(status.Status)) (syncer.Report, error) {
	report, err := run(ctx, a, passSync, sel, sel, wait, func(m message[syncer.Report]) {
		if m.Status != nil && onProgress != nil {
			onProgress(*m.Status)
		}
	})
	return report, judged(a.Config, report.Sources, sel, err)
}

// Verify compares the mirror with the API; found and progress may be nil. A difference, what
// could not be compared, and rows in quarantine, are an error.
func (a *App) Verify(ctx context.Context, sel syncer.Selection, wait time.Duration, found func(verify.Finding), progress func(verify.Progress)) (verify.Report, error) {
	report, err := run(ctx, a, passVerify, sel, sel, wait, func(m message[verify.Report]) {
		switch {
		case m.Finding != nil && found != nil:
			found(*m.Finding)
		case m.Status != nil && progress != nil:
			progress(verify.Progress{Status: *m.Status, Report: *m.Report})
		}
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
func (a *App) Reconcile(ctx context.Context, r syncer.ReconcileRequest, wait time.Duration, progress func(syncer.ReconcileReport)) (syncer.ReconcileReport, error) {
	report, err := run(ctx, a, passReconcile, r, syncer.Selection{Sources: r.Sources}, wait, func(m message[syncer.ReconcileReport]) {
		if progress != nil {
			progress(*m.Report)
		}
	})
	if err != nil {
		return report, err
	}
	failed := &failures{}
	if n := report.Drift(); n > 0 {
		failed.add(lifecycle.ExitProblem, text.Counted(n, "verdict", "is", "are")+" drift: the mirror adds up to other figures than the service reports")
	}
	if n := report.Unproven(); n > 0 {
		failed.add(lifecycle.ExitProblem, text.Counted(n, "verdict", "is", "are")+" unproven: what the service answered could not be compared")
	}
	for i := range report.Sources {
		failed.source(report.Sources[i].Source, "", report.Sources[i].Err)
	}
	return report, failed.err()
}

// Forget erases what the warehouse holds of a person who ordered online.
func (a *App) Forget(ctx context.Context, r syncer.ForgetRequest, wait time.Duration) (_ syncer.ForgetReport, err error) {
	if r.CustomerKey, err = a.reader().Pseudonym(r.Phone); err != nil {
		return syncer.ForgetReport{}, err
	}
	return run(ctx, a, passForget, r, syncer.Selection{Sources: []string{r.Source}}, wait, func(message[syncer.ForgetReport]) {})
}

// run has the daemon beside this process make a pass, or else a syncer of its own, and calls news with
// what comes of it meanwhile.
func run[Q, R any](ctx context.Context, a *App, k pass[Q, R], asked Q, sel syncer.Selection, wait time.Duration, news func(message[R])) (report R, err error) {
	if err := checkSelection(a.Config, sel); err != nil {
		return report, err
	}
	sources, err := a.sources(nil)
	if err != nil {
		return report, err
	}
	if !k.begins {
		if err := a.existing(ctx); err != nil {
			return report, err
		}
	}
	if a.served(ctx) {
		report, err = k.ask(ctx, a.Config.Warehouse.DSN.Dir(), asked, news)
		if k.begins && errors.Is(err, context.Canceled) {
			err = &lifecycle.InterruptedError{Next: goesOn}
		}
		return report, err
	}
	err = a.withWarehouse(ctx, func(o opened) error {
		return a.alone(ctx, o, k.reads, wait, sources, func(ctx context.Context, y *syncer.Syncer) (err error) {
			report, err = k.run(ctx, y, asked, news)
			return err
		})
	})
	return report, err
}

// goesOn says what becomes of a sync whose command was interrupted. A confirmation of a sweep ends
// with its command.
const goesOn = "the daemon goes on by itself, and with the full resyncs that have begun; larder status shows how far it is, and a full resync that has not begun, or a confirmed sweep, has to be asked for again"

// alone calls f with a syncer of this process, to make a pass. The context ends when the warehouse has
// gone.
func (a *App) alone(ctx context.Context, o opened, reads bool, wait time.Duration, sources []syncer.Source, f func(context.Context, *syncer.Syncer) error) error {
	begin := o.sink.Migrate
	if reads {
		begin = o.sink.CheckSchema
	}
	if err := a.Retry(ctx, begin, wait, a.LogDown); err != nil {
		return err
	}
	damages := a.Damages(o.route)
	if !reads {
		if err := damages.Settle(ctx, o.sink); err != nil {
			return lifecycle.WarehouseError(err)
		}
	}
	for _, problem := range damages.Problems() {
		a.Log.Warn(problem)
	}
	down := &atomic.Bool{}
	y, err := a.newSyncer(o.life, sources, o.sink, nil, func() status.Warehouse {
		return status.Warehouse{Unavailable: down.Load(), Damaged: damages.Streams()}
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { a.GiveUp(ctx, o.route, o.sink, wait, down, cancel) })
	defer func() { cancel(nil); watching.Wait() }()
	if err := f(ctx, y); err != nil || reads {
		return err
	}
	return damages.Repaired(y.Status) // what a full resync has replaced is not damaged any more
}
