package app

import (
	"context"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/control"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/phrase"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer"
)

// Reconcile compares days of the mirror with the service's totals. Beside a daemon on
// the same embedded warehouse, the daemon does. A remote warehouse that is down is
// waited for as long as wait. progress may be nil. The report is filled as far as it
// came; a drift, and what could not be compared, is a *ReconcileError.
func (a *App) Reconcile(ctx context.Context, r syncer.ReconcileRequest, wait time.Duration, progress func(syncer.ReconcileReport)) (report syncer.ReconcileReport, err error) {
	err = a.run(ctx, task{
		sel: syncer.Selection{Sources: r.Sources}, existing: true,
		there: func(d control.Client) (err error) { report, err = d.Reconcile(ctx, r, progress); return err },
		here: func(l *lifecycle.Cleanups, w *warehouse.Route, sources []syncer.Source) (err error) {
			report, err = a.reconcileHere(ctx, l, w, r, pass{sources: sources, wait: wait}, progress)
			return err
		},
	})
	if err == nil && (report.Drift() > 0 || report.Unproven() > 0 || report.Err() != nil) {
		err = &ReconcileError{report}
	}
	return report, err
}

// reconcileHere reconciles in this process.
func (a *App) reconcileHere(ctx context.Context, l *lifecycle.Cleanups, w *warehouse.Route, r syncer.ReconcileRequest, p pass, progress func(syncer.ReconcileReport)) (syncer.ReconcileReport, error) {
	y, ctx, stop, err := a.syncerHere(ctx, l, w, p)
	if err != nil {
		return syncer.ReconcileReport{}, err
	}
	defer stop()
	return y.Reconcile(ctx, r, progress)
}

// ReconcileError says what a reconciliation found, or could not compare.
type ReconcileError struct{ Report syncer.ReconcileReport }

func (e *ReconcileError) Error() string {
	var parts []string
	if n := e.Report.Drift(); n > 0 {
		parts = append(parts, phrase.Plural(n, "verdict")+phrase.Verb(n, " is", " are")+" drift: the mirror adds up to other figures than the service reports")
	}
	if n := e.Report.Unproven(); n > 0 {
		parts = append(parts, phrase.Plural(n, "verdict")+phrase.Verb(n, " is", " are")+" unproven: what the service answered could not be compared")
	}
	for _, s := range e.Report.Sources {
		if s.Err != nil {
			parts = append(parts, sourceLine(s.Source, s.State, s.Err))
		}
	}
	return strings.Join(parts, linesBelow)
}

// ExitCode is exit.Problem when anything differs or was not comparable; else it is
// exit.Warehouse when the warehouse could not be reached, and exit.API when refusals are
// all that went wrong.
func (e *ReconcileError) ExitCode() int {
	if e.Report.Err() == nil || e.Report.Drift() > 0 {
		return exit.Problem
	}
	var w worst
	for _, s := range e.Report.Sources {
		w.source(s.State, s.Err)
	}
	return w.code()
}
