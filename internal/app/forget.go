package app

import (
	"context"
	"time"

	"github.com/larder-sync/larder/internal/control"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer"
)

// Forget erases what the warehouse holds of a person who ordered online. Beside a daemon on
// the same embedded warehouse, the daemon does. A remote warehouse that is down is waited for
// as long as wait.
func (a *App) Forget(ctx context.Context, r syncer.ForgetRequest, wait time.Duration) (report syncer.ForgetReport, err error) {
	if r.CustomerKey, err = a.reader().Pseudonym(r.Phone); err != nil {
		return syncer.ForgetReport{}, err
	}
	err = a.run(ctx, task{
		sel: syncer.Selection{Sources: []string{r.Source}}, existing: true,
		there: func(d control.Client) (err error) { report, err = d.Forget(ctx, r); return err },
		here: func(l *lifecycle.Cleanups, w *warehouse.Route, sources []syncer.Source) error {
			y, ctx, stop, err := a.syncerHere(ctx, l, w, pass{sources: sources, wait: wait})
			if err != nil {
				return err
			}
			defer stop()
			report, err = y.Forget(ctx, r)
			return err
		},
	})
	return report, err
}
