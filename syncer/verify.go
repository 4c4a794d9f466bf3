package syncer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/replace"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/verify"
)

// Verify compares what is selected with the API in the lowest lane of the budget. It writes
// nothing, and may run beside [Syncer.Run] of this process or another.
// found is called with every finding as soon as there is one, progress about every
// second and at the end. Both may be nil, and neither is called twice at a time. The error is
// the caller's or the sink's; what went wrong with a source stands in the report, which is
// filled as far as it came.
func (y *Syncer) Verify(ctx context.Context, sel Selection, found func(verify.Finding), progress func(verify.Progress)) (verify.Report, error) {
	sources, err := y.selected(sel)
	if err != nil {
		return verify.Report{}, err
	}
	p := verify.New(namesOf(sources), y.verifyLimits, found)
	var tell func()
	if progress != nil {
		tell = func() { progress(p.Snapshot(y.Status())) }
	}
	err = y.pass(ctx, sources, pass{
		atOnce: len(sources), tell: tell,
		visit: func(ctx context.Context, i int, s *source) error {
			p.Reached(i, s.condition.View().State)
			return s.verify(ctx, p, i, sel.Streams)
		},
		ended: p.Ended,
	})
	return p.Report(), err
}

// errReadOnly refuses what a verification would write.
var errReadOnly = errors.New("a verification writes nothing")

// verify verifies the source's streams through a source of its own, which has the same budget,
// reads what is stored, and can write nothing.
func (s *source) verify(ctx context.Context, p *verify.Pass, i int, names []string) error {
	var r *source
	open := func(ctx context.Context) (streams []verify.Stream, err error) {
		r = newSource(s.syncer, s.cfg, 1, s.counters)
		r.Fenced = func() error { return errReadOnly }
		err = r.Protected(ctx, "probe", r.look)
		p.Reached(i, r.condition.View().State)
		if err != nil {
			return nil, err
		}
		for _, st := range r.streams {
			if st.Common().Chosen(names) {
				streams = append(streams, st)
			}
		}
		return streams, nil
	}
	err := p.Source(ctx, i, verify.Source{
		Open:   open,
		AskKey: func(ctx context.Context) bool { return r.Protected(ctx, "probe", r.look) == nil },
		Served: func(ctx context.Context) (bool, error) { // by a daemon of this process, or of another that claims the source
			if s.syncer.running.Load() {
				return true, nil
			}
			claims, err := s.syncer.claims(ctx)
			return slices.ContainsFunc(claims, func(c sinks.Claim) bool { return c.Source == s.cfg.Name }), err
		},
		Turns: s.twoTurns,
		Elsewhere: func(ctx context.Context, stream string) (map[string]bool, error) {
			return r.listedElsewhere(ctx, stream)
		},
	})
	if err != nil {
		return err
	}
	return r.configurationError()
}

// look reads what is stored of the source, and asks /me.
func (s *source) look(ctx context.Context) error {
	if err := s.restore(ctx); err != nil {
		return err
	}
	me, err := s.me(ctx)
	if err == nil {
		err = s.sameBusiness(s.stored.Load().Business, me.Value.Business.ID)
	}
	if err == nil {
		err = s.readForgotten(ctx, me.Value.Business.ID)
	}
	if err != nil {
		if ctx.Err() == nil { // an interrupt says nothing about the source
			s.condition.Enter(stream.Diagnose(err).State, err.Error())
		}
		return err
	}
	s.NoteServiceTime(me.Date)
	s.link.Accept(me.Value)
	key := s.identify(me.Value)
	s.IdentifyAs(key)
	for _, st := range s.streams {
		st.Restore(*s.stored.Load())
		if reason := s.offReason(st, key); reason != "" {
			st.Common().SwitchOff(reason)
			continue
		}
		st.Common().AskFor(st.WantedLocations(key))
	}
	s.condition.Enter(status.StateRunning, "")
	return nil
}

// A turn of a job may be skipped for a walk under way, hence two are waited for, and the walk
// of the last one: it takes no longer than the time to the next turn, as a rule, and than
// shortWalk. Beyond longestTurns nobody waits.
const (
	shortWalk    = 30 * time.Second
	longestTurns = time.Hour
)

// twoTurns returns how long to wait for two turns of a job; enough is false for a job that is off,
// and when they are too far away.
func (s *source) twoTurns(j schedule.Job) (wait time.Duration, enough bool) {
	times, now := s.syncer.timetable(), time.Now()
	first := times.Next(j, s.cfg.Name, now)
	second := times.Next(j, s.cfg.Name, first)
	if first.IsZero() || second.IsZero() {
		return 0, false
	}
	wait = second.Sub(now) + min(second.Sub(first), shortWalk)
	return min(wait, longestTurns), wait <= longestTurns
}

// claims returns those of the processes that are alive, none of a warehouse that this process has
// for itself.
func (y *Syncer) claims(ctx context.Context) ([]sinks.Claim, error) {
	if y.opts.Exclusive {
		return nil, nil
	}
	// A process without an id of its own that wants nothing reads the claims, and stores nothing.
	claims, err := y.opts.Sink.Beat(ctx, sinks.Process{ID: rand.Text()}, nil)
	if err != nil {
		return nil, fmt.Errorf("read which sources other processes serve: %w", err)
	}
	return claims, nil
}

// listedElsewhere are the ids that other sources of the restaurant list in a stream without a
// cursor, as it is stored. Sources that neither the configuration of this process nor a process
// that is alive has any more list nothing.
func (s *source) listedElsewhere(ctx context.Context, stream string) (map[string]bool, error) {
	businesses, err := s.Sink.Businesses(ctx)
	if err != nil {
		return nil, err
	}
	claims, err := s.syncer.claims(ctx)
	if err != nil {
		return nil, err
	}
	names := namesOf(s.syncer.supervisors())
	for _, c := range claims {
		names = append(names, c.Source)
	}
	found := map[string]bool{}
	for name, business := range businesses {
		if name == s.cfg.Name || business != s.Business() || !slices.Contains(names, name) {
			continue
		}
		state, err := s.Sink.State(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, cp := range state.Checkpoints {
			if cp.Stream != stream || cp.Walk != sinks.WalkSnapshot && cp.Walk != sinks.WalkMenus {
				continue
			}
			ids, err := replace.IDs(cp)
			if err != nil {
				s.Log.Warn("what another source lists is not readable", "source", name, "stream", stream, "err", err)
			}
			for _, id := range ids {
				found[id] = true
			}
		}
	}
	return found, nil
}
