package syncer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// Selection narrows a pass; empty fields select everything.
type Selection struct {
	Sources []string
	Streams []string
	// Full makes the pass a full resync with its sweep; one that is under way is
	// brought to its end. ConfirmSweep lets the sweep remove what its guard would
	// hold (docs/rules.md R6).
	Full, ConfirmSweep bool
	// RetryFor is how long what fails is tried again, from its checkpoint, without
	// coming further; not at all when zero.
	RetryFor time.Duration
}

// LogValue has the fields of the selection that are set.
func (s Selection) LogValue() slog.Value {
	var asked []slog.Attr
	if len(s.Sources) > 0 {
		asked = append(asked, slog.Any("sources", s.Sources))
	}
	if len(s.Streams) > 0 {
		asked = append(asked, slog.Any("streams", s.Streams))
	}
	if s.Full {
		asked = append(asked, slog.Bool("full", true))
	}
	if s.ConfirmSweep {
		asked = append(asked, slog.Bool("confirm_sweep", true))
	}
	return slog.GroupValue(asked...)
}

// Has is true when a source's stream is selected.
func (s Selection) Has(source, stream string) bool {
	return (len(s.Sources) == 0 || slices.Contains(s.Sources, source)) && (len(s.Streams) == 0 || slices.Contains(s.Streams, stream))
}

// Report is what a pass did.
type Report struct {
	StartedAt, FinishedAt time.Time
	Sources               []SourceReport
}

// SourceReport is the pass of one source.
type SourceReport = status.SourceOutcome[StreamReport]

// StreamReport is the pass of one stream.
type StreamReport struct {
	status.StreamOutcome
	write.Counts
}

// Err joins the errors of a pass, nil when all of it went well.
func (r Report) Err() error { return status.ErrorOf(r.Sources) }

// RunOnce makes one pass of everything selected: backfills to their end, an
// incremental walk of each list, the snapshots, and the totals. onProgress, when
// not nil, is called about every second and at the end, from one goroutine. It may
// run beside [Syncer.Run]: it then waits for walks that are under way and goes on
// from where they ended. The error is the caller's or the sink's; what went wrong
// with a source stands in the report.
func (y *Syncer) RunOnce(ctx context.Context, sel Selection, onProgress func(status.Status)) (Report, error) {
	sources, err := y.selected(sel)
	if err != nil {
		return Report{}, err
	}
	report := Report{StartedAt: time.Now(), Sources: make([]SourceReport, len(sources))}
	var tell func()
	if onProgress != nil {
		tell = func() { onProgress(y.Status()) }
	}
	err = y.pass(ctx, sources, pass{
		held: true, tell: tell,
		visit: func(ctx context.Context, i int, s *source) error {
			report.Sources[i] = s.once(ctx, sel)
			return nil
		},
		ended: func(i int, state string, err error) {
			if report.Sources[i].Source = sources[i].name; err != nil {
				report.Sources[i].Fail(state, err)
			}
		},
	})
	report.FinishedAt = time.Now()
	return report, err
}

// selected finds the sources of a selection and checks its names.
func (y *Syncer) selected(sel Selection) ([]*supervisor, error) {
	for _, name := range sel.Streams {
		if !slices.Contains(registry.Names(), name) {
			return nil, fmt.Errorf("unknown stream %q; known are %s", name, strings.Join(registry.Names(), ", "))
		}
	}
	sources := y.supervisors()
	if len(sel.Sources) == 0 {
		return sources, nil
	}
	var found []*supervisor
	for _, name := range sel.Sources {
		i := slices.IndexFunc(sources, func(v *supervisor) bool { return v.name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown source %q; this process has %s", name, strings.Join(namesOf(sources), ", "))
		}
		found = append(found, sources[i])
	}
	return found, nil
}

func namesOf(sources []*supervisor) []string {
	var names []string
	for _, v := range sources {
		names = append(names, v.name)
	}
	return names
}

// once makes one pass of a source.
func (s *source) once(ctx context.Context, sel Selection) SourceReport {
	r := SourceReport{Source: s.cfg.Name}
	before := make([]write.Counts, len(s.streams)) // connecting asks for the key's row
	for i, st := range s.streams {
		before[i] = st.Writer.Counts()
	}
	if sel.Full {
		for _, st := range s.wholes {
			if st.Chosen(sel.Streams) {
				st.RewriteNext()
			}
		}
	}
	if err := s.retryUntil(ctx, sel.RetryFor, nil, func() uint64 { return 0 }, func(ctx context.Context) error { return s.askKey(ctx, s.IsReady) }); err != nil {
		r.Fail(s.link.View().State, err)
		return r
	}
	r.State = s.link.View().State
	r.Err = status.FailureOf(configurationError(s.Identity()))
	reports := make([]*StreamReport, len(s.streams))
	var passes sync.WaitGroup
	for i, st := range s.streams {
		if st.Chosen(sel.Streams) {
			passes.Go(func() { reports[i] = s.onceOf(ctx, st, sel, before[i]) })
		}
	}
	passes.Wait()
	for _, done := range reports {
		if done != nil {
			r.Streams = append(r.Streams, *done)
		}
	}
	return r
}

// onceOf brings a stream up to date. Its counts were those of before when the pass of its source
// began.
func (s *source) onceOf(ctx context.Context, st *stream.Stream, sel Selection, before write.Counts) *StreamReport {
	r := &StreamReport{StreamOutcome: status.StreamOutcome{Stream: st.Def.Name}}
	err := s.isolated(st.Def.Name, func() error {
		if st.Off() {
			r.Off, r.NoScope = st.Why(), st.LacksScope()
			return nil
		}
		var errs []error
		for _, w := range st.Kind.Pass(sel.Full, sel.ConfirmSweep) { // each waits for a walk that is under way
			errs = append(errs, s.retryUntil(ctx, sel.RetryFor, st, w.Moved, func(ctx context.Context) error {
				return w.Guard.Run(ctx, w.Run)
			}))
		}
		return errors.Join(errs...)
	})
	r.Counts, r.InQuarantine = st.Writer.Counts().Minus(before), uint64(st.Writer.QuarantinedCount())
	if r.Off == "" && api.IsAPIDisabled(err) {
		r.Off, r.OrderingOff, err = stream.Diagnose(err).Detail, true, nil
	}
	r.Fail(err)
	return r
}
