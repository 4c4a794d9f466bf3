package app

import (
	"context"

	"github.com/larder-sync/larder/syncer"
)

// What the daemon does for the commands beside it (see internal/control).

// mirroring waits until the warehouse has been reached.
func (d *Daemon) mirroring(ctx context.Context) (*syncer.Syncer, error) {
	select {
	case <-d.ready:
		return d.syncer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// RunOnce makes a pass.
func (d *Daemon) RunOnce(ctx context.Context, sel syncer.Selection, onProgress func(syncer.Status)) (syncer.Report, error) {
	y, err := d.mirroring(ctx)
	if err != nil {
		return syncer.Report{}, err
	}
	report, err := y.RunOnce(ctx, sel, onProgress)
	if err == nil {
		err = d.app.Damages(d.route).Repaired(y.Status())
	}
	return report, err
}

// Verify compares the mirror with the API.
func (d *Daemon) Verify(ctx context.Context, sel syncer.Selection, found func(syncer.Finding), progress func(syncer.VerifyProgress)) (syncer.VerifyReport, error) {
	y, err := d.mirroring(ctx)
	if err != nil {
		return syncer.VerifyReport{}, err
	}
	return y.Verify(ctx, sel, found, progress)
}

// Reconcile compares days with the service's totals.
func (d *Daemon) Reconcile(ctx context.Context, r syncer.ReconcileRequest, progress func(syncer.ReconcileReport)) (syncer.ReconcileReport, error) {
	y, err := d.mirroring(ctx)
	if err != nil {
		return syncer.ReconcileReport{}, err
	}
	return y.Reconcile(ctx, r, progress)
}

// Forget erases what is held of a person.
func (d *Daemon) Forget(ctx context.Context, r syncer.ForgetRequest) (syncer.ForgetReport, error) {
	y, err := d.mirroring(ctx)
	if err != nil {
		return syncer.ForgetReport{}, err
	}
	return y.Forget(ctx, r)
}
