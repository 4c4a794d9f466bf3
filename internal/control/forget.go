package control

import (
	"context"

	"github.com/larder-sync/larder/syncer"
)

func serveForget(ctx context.Context, p passer, r syncer.ForgetRequest, tell func(syncer.ForgetReport)) error {
	report, err := p.Forget(ctx, r)
	if err == nil {
		tell(report)
	}
	return err
}

// Forget lets the daemon forget.
func (c Client) Forget(ctx context.Context, r syncer.ForgetRequest) (report syncer.ForgetReport, err error) {
	err = askFor(ctx, c, routeForget, r, func(done syncer.ForgetReport) bool { report = done; return true })
	return report, err
}
