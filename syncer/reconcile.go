package syncer

import (
	"context"

	"github.com/larder-sync/larder/syncer/proof"
)

// What a pass of [Syncer.Reconcile] asks for and returns.
type (
	// ReconcileRequest says which days are compared.
	ReconcileRequest = proof.Request
	// ReconcileReport is what a reconciliation did, or has done so far.
	ReconcileReport = proof.Report
	// VerdictCounts are verdicts, or days by the worst of their verdicts.
	VerdictCounts = proof.VerdictCounts
	// SourceReconcile is the reconciliation of one source.
	SourceReconcile = proof.SourceReport
)

// reconcileAtOnce bounds the sources that are compared at the same time: each keeps the
// warehouse busy adding up days.
const reconcileAtOnce = 64

// Reconcile compares the days of the request with the service, overall and for each
// location, and heals what differs when it is asked to. Days that differ are looked at
// twice, minutes apart. progress, which may be nil, is called about every second and at
// the end. It may run beside [Syncer.Run]. The error is the caller's or the sink's; what
// went wrong with a source stands in the report.
func (y *Syncer) Reconcile(ctx context.Context, r proof.Request, progress func(proof.Report)) (proof.Report, error) {
	sources, err := y.selected(Selection{Sources: r.Sources})
	if err != nil {
		return proof.Report{}, err
	}
	if err := r.Check(); err != nil {
		return proof.Report{}, err
	}
	p := proof.NewPass(r)
	for _, v := range sources {
		p.Add(v.current().days)
	}
	var tell func()
	if progress != nil {
		tell = func() { progress(p.Snapshot()) }
	}
	err = y.pass(ctx, sources, pass{
		atOnce: reconcileAtOnce, held: true, tell: tell, ended: p.Ended,
		visit: func(ctx context.Context, i int, s *source) error {
			if err := s.askKey(ctx, s.IsReady); err != nil {
				return err
			}
			return p.Source(ctx, i, s.days)
		},
	})
	return p.Snapshot(), err
}
