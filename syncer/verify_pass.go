package syncer

import (
	"context"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
)

// verifyLimits bound what one stream's verification holds in memory.
type verifyLimits struct {
	rows     int // of the API, compared together
	bytes    int // of their JSON
	ids      int // bytes of ids seen; more go to a temporary file
	suspects int // rows of a list looked at again
	lines    int // rows of totals looked at again together
	page     int // live rows read at a time
}

var standardVerify = verifyLimits{rows: 20_000, bytes: 24 << 20, ids: 4 << 20, suspects: 1000, lines: 20_000, page: livePage}

// verifyPass is one verification of some sources.
type verifyPass struct {
	limits verifyLimits
	// servedElsewhere is true while another process serves a source.
	servedElsewhere func(source string) bool

	mu     sync.Mutex
	report VerifyReport
	under  map[*stream]*verification // under way

	finding sync.Mutex
	found   func(Finding)
}

func newVerifyPass(sources []string, limits verifyLimits, found func(Finding), servedElsewhere func(source string) bool) *verifyPass {
	p := &verifyPass{limits: limits, found: found, servedElsewhere: servedElsewhere, under: map[*stream]*verification{}}
	p.report.StartedAt = time.Now()
	for _, name := range sources {
		p.report.Sources = append(p.report.Sources, SourceVerify{Source: name})
	}
	return p
}

// reached notes the state of a source that can be asked.
func (p *verifyPass) reached(i int, state string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Sources[i].State = state
}

// ended notes what went wrong with a source, nil for nothing.
func (p *verifyPass) ended(i int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Sources[i].Err = err
}

// verified is a stream of any kind.
type verified interface{ common() *stream }

// stream verifies one stream of the source. When another process serves that, nothing is
// written.
func (p *verifyPass) stream(ctx context.Context, i int, f verified, visiting bool) {
	v, st := newVerification(p, f, visiting), f.common()
	p.mu.Lock()
	p.under[st] = v
	p.mu.Unlock()
	err := st.source.protected(ctx, "verify "+st.def.Name, v.run)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if api.IsAPIDisabled(err) { // normal life: there is nothing to compare with
		off := diagnose(err).detail
		v.count(func(r *StreamVerify) { r.Off = off })
		err = nil
	}
	v.count(func(r *StreamVerify) { r.Err, r.Done = err, err == nil })
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.under, st)
	p.report.Sources[i].Streams = append(p.report.Sources[i].Streams, v.snapshot())
}

func (p *verifyPass) tell(f Finding) {
	p.finding.Lock()
	defer p.finding.Unlock()
	if p.found != nil {
		p.found(f)
	}
}

// finish ends the report.
func (p *verifyPass) finish() VerifyReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.FinishedAt = time.Now()
	return p.report
}

// picture is the state of the pass at this moment, put into that of the syncer.
func (p *verifyPass) picture(status Status) VerifyProgress {
	p.mu.Lock()
	defer p.mu.Unlock()
	report := p.report
	report.Sources = append([]SourceVerify(nil), p.report.Sources...)
	report.FinishedAt = time.Now()
	for i := range status.Sources {
		for j := range status.Sources[i].Streams {
			status.Sources[i].Streams[j].Progress = nil
		}
	}
	for st, v := range p.under {
		for i := range report.Sources {
			if r := &report.Sources[i]; r.Source == st.source.name {
				r.Streams = append(append([]StreamVerify(nil), r.Streams...), v.snapshot())
			}
		}
		if s := status.stream(st.source.name, st.def.Name); s != nil {
			s.Progress = v.progress()
		}
	}
	return VerifyProgress{Status: status, Report: report}
}
