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
		tell: tell,
		visit: func(ctx context.Context, i int, s *source) error {
			r := &verifier{served: s, names: sel.Streams}
			if err := p.Source(ctx, i, r); err != nil {
				return err
			}
			return configurationError(r.own.Identity())
		},
		ended: p.Ended,
	})
	return p.Report(), err
}

// errReadOnly refuses what a verification would write.
var errReadOnly = errors.New("a verification writes nothing")

// verifier verifies a source through one of its own, which has the same budget, reads what is
// stored, and can write nothing.
type verifier struct {
	served *source
	own    *source  // built when it is to be compared
	names  []string // of the streams that are selected
}

// Open implements verify.Source.
func (r *verifier) Open(ctx context.Context) (state string, streams []*stream.Stream, err error) {
	s := newSource(r.served.syncer, r.served.cfg, 1, r.served.counters)
	r.own, s.Fenced = s, func() error { return errReadOnly }
	if err := r.AskKey(ctx); err != nil {
		return s.link.View().State, nil, err
	}
	for _, st := range s.streams {
		if st.Chosen(r.names) {
			streams = append(streams, st)
		}
	}
	return s.link.View().State, streams, nil
}

// AskKey implements verify.Source. It does what askKey does, without storing anything.
func (r *verifier) AskKey(ctx context.Context) error {
	s := r.own
	return s.Protected(ctx, "probe", func(ctx context.Context) error {
		me, err := s.probe(ctx)
		if err == nil {
			err = s.readForgotten(ctx, me.Value.Business.ID)
		}
		if err != nil {
			if ctx.Err() == nil { // an interrupt says nothing about the source
				s.link.Enter(stream.Diagnose(err).State, err.Error())
			}
			return err
		}
		key := s.identify(me)
		for _, st := range s.streams {
			st.Kind.Restore(*s.stored.Load())
			if reason := offReason(st, key); reason != "" {
				st.SwitchOff(reason)
			}
		}
		s.link.Enter(status.StateRunning, "")
		return nil
	})
}

// Served implements verify.Source: by a daemon of this process, or of another that claims the source.
func (r *verifier) Served(ctx context.Context) (bool, error) {
	y := r.own.syncer
	y.mu.RLock()
	running := y.serve != nil
	y.mu.RUnlock()
	if running {
		return true, nil
	}
	claims, err := y.claims(ctx)
	return slices.ContainsFunc(claims, func(c sinks.Claim) bool { return c.Source == r.own.Name }), err
}

// A turn of a job may be skipped for a walk under way, hence two are waited for, and the walk
// of the last one: it takes no longer than the time to the next turn, as a rule, and than
// shortWalk. Beyond longestTurns nobody waits.
const (
	shortWalk    = 30 * time.Second
	longestTurns = time.Hour
)

// Turns implements verify.Source.
func (r *verifier) Turns(j schedule.Job) (wait time.Duration, enough bool) {
	times, now := r.own.Timetable(), time.Now()
	first := times.Next(j, r.own.Name, now)
	second := times.Next(j, r.own.Name, first)
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

// Elsewhere implements verify.Source. Sources that neither the configuration of this process nor a
// process that is alive has any more list nothing.
func (r *verifier) Elsewhere(ctx context.Context, stream string) (map[string]bool, error) {
	s := r.own
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
