package syncer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
)

// Verification compares every row of every stream with the API, while both sides
// move (DESIGN §7). What differs at first sight is only suspected: a difference
// counts when the API gave one and the same answer before and after an incremental
// walk, and what is stored then is another.

// The kinds of a [Finding].
const (
	FoundDifference  = "difference"
	FoundMoving      = "moving"      // never stood still while it was looked at
	FoundQuarantined = "quarantined" // an open entry of the quarantine: no difference
	FoundStale       = "stale"       // behind the service until its turn of the schedule comes: no difference
)

// Finding is what a verification found about a row: one field that differs, or why
// the row was not judged.
type Finding struct {
	Kind   string `json:"kind"`
	Source string `json:"source"`
	Stream string `json:"stream"`
	ID     string `json:"id"`
	// Field is the path in the API's JSON, or the name of a column when Column is
	// set; empty for the row as a whole.
	Field  string `json:"field"`
	Column bool   `json:"column,omitempty"`
	// API and Mirror are the values as JSON, left out where there is none. For a row
	// as a whole they are a text: live, absent, or removed with its reason.
	API    json.RawMessage `json:"api,omitempty"`
	Mirror json.RawMessage `json:"mirror,omitempty"`
	Reason string          `json:"reason,omitempty"` // of a quarantined row
	Hint   string          `json:"hint,omitempty"`   // what heals it
}

// VerifyReport is what a verification did, or has done so far.
type VerifyReport struct {
	StartedAt  time.Time      `json:"started_at"`
	FinishedAt time.Time      `json:"finished_at"`
	Sources    []SourceVerify `json:"sources"`
}

// SourceVerify is the verification of one source. Err is set when nothing could be
// asked: the source is in trouble.
type SourceVerify struct {
	Source  string         `json:"source"`
	State   string         `json:"state"`
	Err     error          `json:"-"`
	Streams []StreamVerify `json:"streams"`
}

// StreamVerify is the verification of one stream, in rows.
type StreamVerify struct {
	Stream      string `json:"stream"`
	Off         string `json:"off,omitempty"`      // why the stream is off; empty when it is on
	NoScope     bool   `json:"no_scope,omitempty"` // it is off since the key lacks the scope
	Rows        uint64 `json:"rows"`               // of the API, tombstones included
	Differences uint64 `json:"differences"`
	Moving      uint64 `json:"moving"`
	Quarantined uint64 `json:"quarantined"`
	Settled     uint64 `json:"settled"`  // differed at first sight, and not after the next walk
	Unjudged    uint64 `json:"unjudged"` // differed at first sight, too many to look at again
	// Stale rows are of days that the schedule has not asked for again: it does until
	// StaleUntil, and StaleNow does it at once.
	Stale      uint64    `json:"stale"`
	StaleUntil time.Time `json:"stale_until,omitzero"`
	StaleNow   string    `json:"stale_now,omitempty"`
	Took       Seconds   `json:"took_seconds"`
	Done       bool      `json:"done"`
	Err        error     `json:"-"`
}

// VerifyProgress is a picture of a verification under way. In Status, the progress
// of a stream is that of its verification.
type VerifyProgress struct {
	Status Status
	Report VerifyReport
}

// Err joins the errors of a verification, nil when all could be compared.
func (r VerifyReport) Err() error {
	var errs []error
	for _, s := range r.Sources {
		if s.Err != nil {
			errs = append(errs, fmt.Errorf("source %s: %w", s.Source, s.Err))
		}
		for _, st := range s.Streams {
			if st.Err != nil {
				errs = append(errs, fmt.Errorf("source %s: stream %s: %w", s.Source, st.Stream, st.Err))
			}
		}
	}
	return errors.Join(errs...)
}

// Differences is how many rows differ, those included that were not judged.
func (r VerifyReport) Differences() uint64 {
	var n uint64
	for _, s := range r.Sources {
		for _, st := range s.Streams {
			n += st.Differences + st.Unjudged
		}
	}
	return n
}

// Stale is how many rows are behind by schedule alone.
func (r VerifyReport) Stale() (n uint64) {
	for _, s := range r.Sources {
		for _, st := range s.Streams {
			n += st.Stale
		}
	}
	return n
}

// verifyAtOnce bounds the sources that are verified at the same time, and with
// them the memory.
const verifyAtOnce = 4

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

// Verify compares what is selected with the API in the lowest lane of the budget.
// found is called with every finding as soon as it is one, progress about every
// second and at the end; both may be nil, neither is called twice at a time. It may
// run beside [Syncer.Run]. The error is the caller's or the sink's; what went wrong
// with a source stands in the report, which is filled as far as it came.
func (y *Syncer) Verify(ctx context.Context, sel Selection, found func(Finding), progress func(VerifyProgress)) (VerifyReport, error) {
	sources, err := y.selected(sel)
	if err != nil {
		return VerifyReport{}, err
	}
	if err := y.start(ctx); err != nil {
		return VerifyReport{}, err
	}
	defer y.leases.Enter(func() []string { return namesOf(sources) })()
	p := newVerifyPass(y, sources, found)
	stop := every(time.Second, p.teller(progress))
	places := make(chan struct{}, verifyAtOnce)
	var passes sync.WaitGroup
	for i, s := range sources {
		passes.Go(func() {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				p.source(ctx, i, s, sel.Streams)
			case <-ctx.Done():
			}
		})
	}
	passes.Wait()
	stop()
	report := p.finish()
	if ctx.Err() != nil {
		return report, context.Cause(ctx)
	}
	return report, nil
}

// verifyPass is one verification of some sources.
type verifyPass struct {
	syncer *Syncer
	limits verifyLimits

	mu     sync.Mutex
	report VerifyReport
	under  map[*stream]*verification // under way

	finding sync.Mutex
	found   func(Finding)
}

func newVerifyPass(y *Syncer, sources []*source, found func(Finding)) *verifyPass {
	p := &verifyPass{syncer: y, limits: y.verifyLimits, found: found, under: map[*stream]*verification{}}
	p.report.StartedAt = time.Now()
	for _, s := range sources {
		p.report.Sources = append(p.report.Sources, SourceVerify{Source: s.name})
	}
	return p
}

// source verifies the streams of one source, one after the other: they share the
// limits of one key. It ends when the source is over.
func (p *verifyPass) source(ctx context.Context, i int, s *source, names []string) {
	ctx, leave, err := s.life.enter(ctx)
	if err == nil {
		defer leave()
		s, err = p.reach(ctx, s)
	}
	p.mu.Lock()
	r := &p.report.Sources[i]
	r.State, r.Err = s.stateNow(), err
	if err == nil {
		r.Err = s.configurationError()
	}
	p.mu.Unlock()
	if err != nil {
		return
	}
	for _, st := range s.streams {
		if st.common().chosen(names) && ctx.Err() == nil {
			p.stream(ctx, i, st, s.visiting)
		}
	}
}

func (p *verifyPass) stream(ctx context.Context, i int, f follower, visiting bool) {
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

func (p *verifyPass) finish() VerifyReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.FinishedAt = time.Now()
	return p.report
}

// teller is what tells the progress.
func (p *verifyPass) teller(progress func(VerifyProgress)) func() {
	if progress == nil {
		return nil
	}
	return func() { progress(p.picture()) }
}

// picture is the state of the pass at this moment.
func (p *verifyPass) picture() VerifyProgress {
	status := p.syncer.Status()
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

// stream finds a stream of the picture, nil when it is not there.
func (s *Status) stream(source, name string) *StreamStatus {
	for i := range s.Sources {
		if s.Sources[i].Name != source {
			continue
		}
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; st.Name == name {
				return st
			}
		}
	}
	return nil
}
