package syncer

import "context"

// reconcileAtOnce bounds the sources that are compared at the same time: each keeps the
// warehouse busy adding up days.
const reconcileAtOnce = 64

// Reconcile compares the days of the request with the service, overall and for each
// location, and heals what differs when it is asked to. Days that differ are looked at
// twice, minutes apart. progress, which may be nil, is called about every second and at
// the end. It may run beside [Syncer.Run]. The error is the caller's or the sink's; what
// went wrong with a source stands in the report.
func (y *Syncer) Reconcile(ctx context.Context, r ReconcileRequest, progress func(ReconcileReport)) (ReconcileReport, error) {
	sources, err := y.selected(Selection{Sources: r.Sources})
	if err != nil {
		return ReconcileReport{}, err
	}
	if err := r.Check(); err != nil {
		return ReconcileReport{}, err
	}
	p := newReconcilePass(r)
	for _, s := range sources {
		p.add(s.days)
	}
	var tell func()
	if progress != nil {
		tell = func() { progress(p.picture()) }
	}
	err = y.visit(ctx, sources, reconcileAtOnce, tell, func(ctx context.Context, i int, s *source) {
		err := s.entered(ctx, func(ctx context.Context) error {
			if err := s.syncer.leases.Await(ctx, s.cfg.Name); err != nil {
				return err
			}
			s.held()
			if err := s.protected(ctx, "probe", s.connect); err != nil {
				return err
			}
			return s.protected(ctx, "reconcile", func(ctx context.Context) error { return p.source(ctx, i) })
		})
		p.ended(i, s.stateNow(), err)
	})
	return p.picture(), err
}
