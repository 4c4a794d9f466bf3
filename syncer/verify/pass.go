package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Limits bound what one stream's verification holds in memory.
type Limits struct {
	Rows     int // of the API, compared together
	Bytes    int // of their JSON
	IDs      int // hashes of the ids of a list, of eight bytes each
	Suspects int // rows of a list compared again
	lines    int // rows of totals compared again
	Page     int // live rows read at a time
	Sources  int // compared at the same time
}

// Standard are the limits of the daemon and the commands.
var Standard = Limits{Rows: 20_000, Bytes: 24 << 20, IDs: 16_000_000, Suspects: 1000, lines: 20_000, Page: 10_000, Sources: 4}

// Pass is one verification of some sources.
type Pass struct {
	limits    Limits
	startedAt time.Time
	slots     stream.Slot // of the sources that are being compared

	mu      sync.Mutex // guards what follows
	reports []SourceReport
	streams [][]*verification // by source, in the order in which they are compared

	finding sync.Mutex
	found   func(Finding)
}

// New begins a pass of the named sources. found is called with every finding, and may be nil.
func New(sources []string, limits Limits, found func(Finding)) *Pass {
	p := &Pass{
		limits: limits, startedAt: time.Now(), slots: make(stream.Slot, limits.Sources),
		found: found, streams: make([][]*verification, len(sources)),
	}
	for _, name := range sources {
		p.reports = append(p.reports, SourceReport{Source: name})
	}
	return p
}

// Ended notes what went wrong with a source, nil for nothing. The state is the source's where it was
// not reached.
func (p *Pass) Ended(i int, state string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.reports[i]
	s.State = cmp.Or(s.State, state)
	s.Fail(s.State, err)
}

// Source is what a pass needs of a source.
type Source interface {
	// Open asks for the key, reads what is stored, and returns the source's state and the streams
	// to compare.
	Open(ctx context.Context) (state string, streams []*stream.Stream, err error)
	// AskKey asks for the key once more, which may have been rotated; an error: it is refused.
	AskKey(ctx context.Context) error
	// Served reports whether a daemon serves the source.
	Served(ctx context.Context) (bool, error)
	// Turns returns how long to wait for two turns of a job; enough is false for a job that is off,
	// and when they are too far away.
	Turns(job schedule.Job) (wait time.Duration, enough bool)
	// Elsewhere returns the ids that other sources of the restaurant list in a stream without a
	// cursor, as it is stored.
	Elsewhere(ctx context.Context, stream string) (map[string]bool, error)
}

// Source compares the streams of a source, and what differs again after the daemon's turns.
// While it waits for them, another source is compared. The error is that of the source; those
// of its streams are in the report.
func (p *Pass) Source(ctx context.Context, i int, s Source) error {
	var suspicious []*verification
	var err error
	p.inSlot(ctx, func() { suspicious, err = p.compare(ctx, i, s) })
	if len(suspicious) == 0 {
		return err
	}
	failed := err
	if failed == nil {
		failed = waitForTurns(ctx, s, suspicious)
	}
	p.inSlot(ctx, func() {
		for _, v := range suspicious {
			_ = v.do(ctx, func(ctx context.Context) error { // the error is in the report
				if failed != nil {
					return failed
				}
				return v.compareAgain(ctx)
			})
		}
	})
	return err
}

// inSlot calls f when fewer sources are being compared than [Limits] allow, or ctx has ended.
func (p *Pass) inSlot(ctx context.Context, f func()) {
	if p.slots.Take(ctx) == nil {
		defer p.slots.Release()
	}
	f()
}

// compare compares the streams of a source and returns those with suspects. The streams are
// compared one after the other, since they share the limits of one key.
func (p *Pass) compare(ctx context.Context, i int, s Source) (suspicious []*verification, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	state, streams, err := s.Open(ctx)
	p.mu.Lock()
	p.reports[i].State = state
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, f := range streams {
		if ctx.Err() != nil {
			return suspicious, context.Cause(ctx)
		}
		v := newVerification(p, s, f)
		p.mu.Lock()
		p.streams[i] = append(p.streams[i], v)
		p.mu.Unlock()
		err := v.do(ctx, v.compareAll)
		if len(v.suspects) > 0 {
			suspicious = append(suspicious, v)
		}
		if api.IsUnauthorized(err) {
			return suspicious, fmt.Errorf("the streams after %s are not compared: %w", v.stream.Def.Name, err)
		}
	}
	return suspicious, nil
}

// waitForTurns waits until the daemon that serves the source, if one does, has had its turns.
func waitForTurns(ctx context.Context, s Source, suspicious []*verification) error {
	served, err := s.Served(ctx)
	if err != nil {
		return err
	}
	var longest time.Duration
	for _, v := range suspicious {
		wait, enough := s.Turns(v.stream.Def.Job)
		v.unserved, v.far = !served, !enough
		longest = max(longest, wait)
	}
	if !served {
		return nil
	}
	for _, v := range suspicious {
		v.locked(func() { v.turns, v.waiting = time.Now().Add(longest), len(v.suspects) })
	}
	suspicious[0].stream.Source.Log.Info("rows differ at first sight; they are compared again after two turns of the schedule", "wait", longest)
	if !lifecycle.Pause(ctx, longest) {
		return context.Cause(ctx)
	}
	if served, err := s.Served(ctx); err == nil { // it may have ended meanwhile
		for _, v := range suspicious {
			v.unserved = !served
		}
	}
	return nil
}

func (p *Pass) tell(f Finding) {
	p.finding.Lock()
	defer p.finding.Unlock()
	if p.found != nil {
		p.found(f)
	}
}

// Report is the report so far.
func (p *Pass) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Report{StartedAt: p.startedAt, FinishedAt: time.Now(), Sources: slices.Clone(p.reports)}
	for i := range r.Sources {
		for _, v := range p.streams[i] {
			r.Sources[i].Streams = append(r.Sources[i].Streams, v.snapshot())
		}
	}
	return r
}

// Snapshot is the state of the pass at this moment, put into that of the syncer.
func (p *Pass) Snapshot(all status.Status) Progress {
	for i := range all.Sources {
		for j := range all.Sources[i].Streams {
			all.Sources[i].Streams[j].Progress = nil
		}
	}
	p.mu.Lock()
	for _, v := range slices.Concat(p.streams...) {
		if s := all.Stream(v.stream.Source.Name, v.stream.Def.Name); s != nil {
			s.Progress = v.progress()
		}
	}
	p.mu.Unlock()
	return Progress{Status: all, Report: p.Report()}
}
