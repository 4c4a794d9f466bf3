package syncer

import (
	"context"

	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/verify"
)

// verifyAtOnce bounds the sources that are verified at the same time, and with
// them the memory.
const verifyAtOnce = 4

// Verify compares what is selected with the API in the lowest lane of the budget.
// found is called with every finding as soon as there is one, progress about every
// second and at the end. Both may be nil, and neither is called twice at a time. It may
// run beside [Syncer.Run]. The error is the caller's or the sink's; what went wrong
// with a source stands in the report, which is filled as far as it came.
func (y *Syncer) Verify(ctx context.Context, sel Selection, found func(verify.Finding), progress func(verify.Progress)) (verify.Report, error) {
	sources, err := y.selected(sel)
	if err != nil {
		return verify.Report{}, err
	}
	p := verify.New(namesOf(sources), y.verifyLimits, found, func(source string) bool { return y.leases.Check(source) != nil })
	var tell func()
	if progress != nil {
		tell = func() { progress(p.Snapshot(y.Status())) }
	}
	err = y.visit(ctx, sources, verifyAtOnce, tell, func(ctx context.Context, i int, s *source) {
		p.Reached(i, s.condition.View().State) // also when it is over
		p.Ended(i, s.entered(ctx, func(ctx context.Context) error { return s.verify(ctx, p, i, sel.Streams) }))
	})
	return p.Finish(), err
}

// verify verifies the source's streams, one after the other: they share the limits of one
// key.
func (s *source) verify(ctx context.Context, p *verify.Pass, i int, names []string) error {
	reached, err := s.reach(ctx)
	p.Reached(i, reached.condition.View().State)
	if err != nil {
		return err
	}
	for _, st := range reached.streams {
		if st.Common().Chosen(names) && ctx.Err() == nil {
			p.Stream(ctx, i, st, reached.visiting)
		}
	}
	return reached.passes.configurationError()
}

// reach makes a source ready to be verified. One that another process serves
// (DESIGN R12) is visited: it is asked, nothing of it is written, and the walks
// that bring what has changed are that process's.
func (s *source) reach(ctx context.Context) (*source, error) {
	err := s.syncer.leases.Await(ctx, s.cfg.Name)
	if err == nil {
		s.holding.held()
		return s, s.Protected(ctx, "probe", s.key.connect)
	}
	if !lease.IsWaiting(err) {
		return s, err
	}
	visitor, err := newSource(s.syncer, s.cfg)
	if err != nil {
		return s, err
	}
	visitor.visiting = true
	return visitor, visitor.Protected(ctx, "probe", visitor.look)
}

// look is connect for a source that another process serves: what is stored is read,
// /me is asked, and nothing is written.
func (s *source) look(ctx context.Context) error {
	if err := s.restore(ctx); err != nil {
		return err
	}
	me, err := s.key.me(ctx)
	if err == nil {
		err = s.open(ctx, me.Value)
	}
	if err != nil {
		if ctx.Err() == nil { // an interrupt says nothing about the source
			s.condition.Enter(stream.Diagnose(err).State, err.Error())
		}
		return err
	}
	s.NoteServiceTime(me.Date)
	s.link.UseTried()
	s.link.TakeLimits(me.Value)
	key := s.admission.identify(me.Value)
	s.IdentifyAs(key)
	for _, st := range s.streams {
		if reason := s.admission.offReason(st, key); reason != "" {
			st.Common().SwitchOff(reason)
			continue
		}
		st.Follow(key)
	}
	s.condition.Enter(status.StateRunning, "")
	return nil
}
