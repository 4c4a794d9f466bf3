package syncer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/schedule"
)

// reach makes a source ready to be verified. One that another process serves
// (DESIGN R12) is visited: it is asked, nothing of it is written, and the walks
// that bring what has changed are that process's.
func (p *verifyPass) reach(ctx context.Context, s *source) (*source, error) {
	err := p.syncer.leases.Await(ctx, s.name)
	if err == nil {
		s.held()
		return s, s.protected(ctx, "probe", s.connect)
	}
	if !lease.IsWaiting(err) {
		return s, err
	}
	visitor, err := newSource(p.syncer, s.cfg)
	if err != nil {
		return s, err
	}
	visitor.visiting = true
	return visitor, visitor.protected(ctx, "probe", visitor.look)
}

// look is connect for a source that another process serves: what is stored is read,
// /me is asked, and nothing is written.
func (s *source) look(ctx context.Context) error {
	if err := s.restore(ctx); err != nil {
		return err
	}
	me, err := s.me(ctx)
	if err == nil {
		err = s.open(ctx, me.Value)
	}
	if err != nil {
		s.enter(diagnose(err).state, err.Error())
		return err
	}
	s.clock(me.Date)
	s.link.use()
	s.link.limits(me.Value)
	key := s.identify(me.Value)
	s.identifyAs(key)
	for _, st := range s.streams {
		if reason := s.offReason(st, key); reason != "" {
			st.common().switchOff(reason)
			continue
		}
		st.follow(key)
	}
	s.enter(StateRunning, "")
	return nil
}

// walkTime is what a walk that brings little takes at most, until it is durable.
const walkTime = 30 * time.Second

// errServedNoMore ends a visit whose host has gone.
var errServedNoMore = errors.New("the process that served the source has ended while it was verified: verify again")

// othersWalk waits until the process that serves the source has begun a walk of its
// schedule and ended it. A turn may be skipped for a walk under way, hence two.
func (v *verification) othersWalk(ctx context.Context, j schedule.Job) error {
	y, name := v.pass.syncer, v.stream.source.name
	wait := 2*y.timetable().Interval(j, time.Now()) + walkTime
	v.stream.source.log.Info("waiting for the process that serves the source to walk", "stream", v.stream.def.Name, "wait", wait)
	if !sleep(ctx, wait) {
		return context.Cause(ctx)
	}
	if y.leases.Check(name) == nil {
		return fmt.Errorf("%s: %w", name, errServedNoMore)
	}
	return nil
}
