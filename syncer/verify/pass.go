package verify

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/proof"
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
}

// Standard are the limits of the daemon and the commands.
var Standard = Limits{Rows: 20_000, Bytes: 24 << 20, IDs: 16_000_000, Suspects: 1000, lines: 20_000, Page: proof.LivePage}

// Pass is one verification of some sources.
type Pass struct {
	limits    Limits
	startedAt time.Time

	mu      sync.Mutex // guards what follows
	reports []SourceReport
	streams [][]*verification // by source, in the order in which they are compared

	finding sync.Mutex
	found   func(Finding)
}

// New begins a pass of the named sources. found is called with every finding, and may be nil.
func New(sources []string, limits Limits, found func(Finding)) *Pass {
	p := &Pass{limits: limits, startedAt: time.Now(), found: found, streams: make([][]*verification, len(sources))}
	for _, name := range sources {
		p.reports = append(p.reports, SourceReport{Source: name})
	}
	return p
}

// Reached notes the state of a source that can be asked.
func (p *Pass) Reached(i int, state string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reports[i].State = state
}

// Ended notes what went wrong with a source, nil for nothing.
func (p *Pass) Ended(i int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.reports[i]
	s.Fail(s.State, err)
}

// Source is what a pass needs of a source.
type Source struct {
	Streams []Stream
	// Turns returns how long the daemon that serves the source takes for two turns of each of
	// the jobs; served is false when none serves it.
	Turns func(ctx context.Context, jobs []schedule.Job) (wait time.Duration, served bool, err error)
	// Elsewhere returns the ids that other sources of the restaurant list in a stream without a
	// cursor.
	Elsewhere func(ctx context.Context, stream string) (map[string]bool, error)
}

// Stream is a stream of any kind.
type Stream interface{ Common() *stream.Stream }

// Source compares the streams of a source, and what differs again after the daemon's turns. The
// streams are compared one after the other, since they share the limits of one key.
func (p *Pass) Source(ctx context.Context, i int, s Source) {
	var suspicious []*verification
	var jobs []schedule.Job
	for _, f := range s.Streams {
		if ctx.Err() != nil {
			return
		}
		v := newVerification(p, s, f)
		p.mu.Lock()
		p.streams[i] = append(p.streams[i], v)
		p.mu.Unlock()
		if v.do(ctx, v.compareAll); len(v.suspects) > 0 {
			suspicious = append(suspicious, v)
			jobs = append(jobs, v.stream.Def.Job)
		}
	}
	if len(suspicious) == 0 {
		return
	}
	served, err := waitForTurns(ctx, s, suspicious, jobs)
	for _, v := range suspicious {
		v.unserved = !served
		v.do(ctx, func(ctx context.Context) error {
			if err != nil {
				return err
			}
			return v.judge(ctx)
		})
	}
}

// waitForTurns waits until the daemon that serves the source has had its turns, if there is one.
func waitForTurns(ctx context.Context, s Source, suspicious []*verification, jobs []schedule.Job) (served bool, err error) {
	wait, served, err := s.Turns(ctx, jobs)
	if err != nil || !served {
		return false, err
	}
	for _, v := range suspicious {
		v.expectTurns(time.Now().Add(wait))
	}
	if !lifecycle.Pause(ctx, wait) {
		return false, context.Cause(ctx)
	}
	_, served, err = s.Turns(ctx, jobs) // it may have ended meanwhile
	return served, err
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
