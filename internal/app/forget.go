package app

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/syncer"
)

// Forget erases what the warehouse holds of a person who ordered online. Beside a daemon on
// the same embedded warehouse, the daemon does. A remote warehouse that is down is waited for
// as long as wait.
func (a *App) Forget(ctx context.Context, r syncer.ForgetRequest, wait time.Duration) (report syncer.ForgetReport, err error) {
	if r.CustomerKey, err = a.pseudonymOf(r.Phone); err != nil {
		return syncer.ForgetReport{}, err
	}
	err = a.run(ctx, task{
		sel: syncer.Selection{Sources: []string{r.Source}}, existing: true,
		there: func(w *route) error {
			return askFor(ctx, w, routeForget, r, func(done syncer.ForgetReport) bool { report = done; return true })
		},
		here: func(l *lifecycle, w *route, sources []syncer.Source) error {
			y, ctx, stop, err := a.syncerHere(ctx, l, w, pass{command: "larder forget", sources: sources, wait: wait})
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

// pseudonymOf is that of a phone; empty where pseudonyms were never made.
func (a *App) pseudonymOf(phone string) (string, error) {
	if phone == "" || a.cfg.Warehouse.PersonalKeyFile() == "" {
		return "", nil
	}
	key, err := a.cfg.Warehouse.ReadPersonalKey()
	if errors.Is(err, os.ErrNotExist) && a.cfg.Warehouse.PersonalDataKeyFile == "" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	policy, err := personal.New(personal.Pseudonymise, []byte(key.Reveal()))
	return policy.CustomerKey(phone), err
}

func serveForget(ctx context.Context, p passer, r syncer.ForgetRequest, tell func(syncer.ForgetReport)) error {
	report, err := p.Forget(ctx, r)
	if err == nil {
		tell(report)
	}
	return err
}

// Forget forgets for a command beside the daemon.
func (d *daemon) Forget(ctx context.Context, r syncer.ForgetRequest) (syncer.ForgetReport, error) {
	select {
	case <-d.ready:
	case <-ctx.Done():
		return syncer.ForgetReport{}, context.Cause(ctx)
	}
	return d.syncer.Forget(ctx, r)
}
