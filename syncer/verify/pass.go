package verify

import (
	"context"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// Limits bound what one stream's verification holds in memory.
type Limits struct {
	Rows     int // of the API, compared together
	Bytes    int // of their JSON
	IDs      int // bytes of ids seen; more go to a temporary file
	Suspects int // rows of a list looked at again
	lines    int // rows of totals looked at again together
	Page     int // live rows read at a time
}

// Standard are the limits of the daemon and the commands.
var Standard = Limits{Rows: 20_000, Bytes: 24 << 20, IDs: 4 << 20, Suspects: 1000, lines: 20_000, Page: totals.LivePage}

// Pass is one verification of some sources.
type Pass struct {
	limits Limits
	// servedElsewhere is true while another process serves a source.
	servedElsewhere func(source string) bool

	mu     sync.Mutex
	report Report
	under  map[*stream.Stream]*verification // under way

	finding sync.Mutex
	found   func(Finding)
}

// New begins a pass of the named sources. found hears of every finding and may be nil;
// servedElsewhere is true while another process serves a source.
func New(sources []string, limits Limits, found func(Finding), servedElsewhere func(source string) bool) *Pass {
	p := &Pass{limits: limits, found: found, servedElsewhere: servedElsewhere, under: map[*stream.Stream]*verification{}}
	p.report.StartedAt = time.Now()
	for _, name := range sources {
		p.report.Sources = append(p.report.Sources, SourceReport{Source: name})
	}
	return p
}

// Reached notes the state of a source that can be asked.
func (p *Pass) Reached(i int, state string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Sources[i].State = state
}

// Ended notes what went wrong with a source, nil for nothing.
func (p *Pass) Ended(i int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Sources[i].Err = err
}

// verified is a stream of any kind.
type verified interface{ Common() *stream.Stream }

// Stream verifies one stream of the source. When another process serves that, nothing is
// written.
func (p *Pass) Stream(ctx context.Context, i int, f verified, visiting bool) {
	v, st := newVerification(p, f, visiting), f.Common()
	p.mu.Lock()
	p.under[st] = v
	p.mu.Unlock()
	err := st.Source.Protected(ctx, "verify "+st.Def.Name, v.run)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if api.IsAPIDisabled(err) { // normal life: there is nothing to compare with
		off := stream.Diagnose(err).Detail
		v.count(func(r *StreamReport) { r.Off, r.OrderingOff = off, true })
		err = nil
	}
	v.count(func(r *StreamReport) { r.Err, r.Done = err, err == nil })
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.under, st)
	p.report.Sources[i].Streams = append(p.report.Sources[i].Streams, v.snapshot())
}

func (p *Pass) tell(f Finding) {
	p.finding.Lock()
	defer p.finding.Unlock()
	if p.found != nil {
		p.found(f)
	}
}

// Finish ends the report.
func (p *Pass) Finish() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.FinishedAt = time.Now()
	return p.report
}

// Snapshot is the state of the pass at this moment, put into that of the syncer.
func (p *Pass) Snapshot(all status.Status) Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	report := p.report
	report.Sources = append([]SourceReport(nil), p.report.Sources...)
	report.FinishedAt = time.Now()
	for i := range all.Sources {
		for j := range all.Sources[i].Streams {
			all.Sources[i].Streams[j].Progress = nil
		}
	}
	for st, v := range p.under {
		for i := range report.Sources {
			if r := &report.Sources[i]; r.Source == st.Source.Name {
				r.Streams = append(append([]StreamReport(nil), r.Streams...), v.snapshot())
			}
		}
		if s := all.Stream(st.Source.Name, st.Def.Name); s != nil {
			s.Progress = v.progress()
		}
	}
	return Progress{Status: all, Report: report}
}
