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

// Verify compares the mirror with the API. Beside a daemon on the same embedded
// warehouse, the daemon does. A remote warehouse that is down is waited for as long
// as wait. The report is filled as far as it came; a difference, what could not be
// compared, and rows in quarantine, are a *VerifyError.
func (a *App) Verify(ctx context.Context, sel syncer.Selection, wait time.Duration, v control.Verifying) (report syncer.VerifyReport, err error) {
	err = a.run(ctx, task{
		sel: sel, existing: true,
		there: func(d control.Client) (err error) { report, err = d.Verify(ctx, sel, v); return err },
		here: func(l *lifecycle.Cleanups, w *warehouse.Route, sources []syncer.Source) (err error) {
			report, err = a.verifyHere(ctx, l, w, sel, pass{sources: sources, wait: wait, reads: true}, v)
			return err
		},
	})
	outcomes := outcomesOf(report.Sources)
	unserved := a.judgeScopes(outcomes, sel)
	switch {
	case err != nil:
	case report.Differences() > 0 || report.Err() != nil || quarantines(outcomes):
		err = &VerifyError{report}
	default:
		err = unserved
	}
	return report, err
}

// verifyHere verifies in this process.
func (a *App) verifyHere(ctx context.Context, l *lifecycle.Cleanups, w *warehouse.Route, sel syncer.Selection, p pass, v control.Verifying) (syncer.VerifyReport, error) {
	y, ctx, stop, err := a.syncerHere(ctx, l, w, p)
	if err != nil {
		return syncer.VerifyReport{}, err
	}
	defer stop()
	return y.Verify(ctx, sel, v.FoundOne, v.Progressed)
}

// VerifyError says what a verification found, or could not compare.
type VerifyError struct{ Report syncer.VerifyReport }

func (e *VerifyError) Error() string {
	var parts []string
	if n := e.Report.Differences(); n > 0 {
		parts = append(parts, phrase.Plural(n, "row")+phrase.Verb(n, " differs", " differ")+" from the API")
	}
	return strings.Join(append(parts, errorLines(outcomesOf(e.Report.Sources))...), linesBelow)
}

// ExitCode is exit.Problem when anything differs; else it is exit.Warehouse when the
// warehouse could not be reached, and exit.API when refusals are all that went wrong.
func (e *VerifyError) ExitCode() int {
	if e.Report.Differences() > 0 {
		return exit.Problem
	}
	return worstOf(outcomesOf(e.Report.Sources))
}
