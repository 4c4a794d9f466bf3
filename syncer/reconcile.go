package syncer

import (
	"context"

	"github.com/larder-sync/larder/syncer/proof"
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
	for _, s := range sources {
		p.Add(s.days)
	}
	var tell func()
	if progress != nil {
		tell = func() { progress(p.Snapshot()) }
	}
	err = y.visit(ctx, sources, reconcileAtOnce, tell, func(ctx context.Context, i int, s *source) {
		err := s.entered(ctx, func(ctx context.Context) error {
			if err := s.syncer.leases.Await(ctx, s.cfg.Name); err != nil {
				return err
			}
			s.holding.held()
			if err := s.Protected(ctx, "probe", s.key.connect); err != nil {
				return err
			}
			return s.Protected(ctx, "reconcile", func(ctx context.Context) error { return p.Source(ctx, i) })
		})
		p.Ended(i, s.condition.View().State, err)
	})
	return p.Snapshot(), err
}
