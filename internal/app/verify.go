package app

import (
	"context"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/phrase"
	"github.com/larder-sync/larder/syncer"
)

// Verifying is who hears of a verification under way; both may be nil.
type Verifying struct {
	Found    func(syncer.Finding)
	Progress func(syncer.VerifyProgress)
}

func (v Verifying) found(f syncer.Finding) {
	if v.Found != nil {
		v.Found(f)
	}
}

func (v Verifying) progress(p syncer.VerifyProgress) {
	if v.Progress != nil {
		v.Progress(p)
	}
}

// Verify compares the mirror with the API. Beside a daemon on the same embedded
// warehouse, the daemon does. A remote warehouse that is down is waited for as long
// as wait. The report is filled as far as it came; a difference, and what could not
// be compared, is a *VerifyError.
func (a *App) Verify(ctx context.Context, sel syncer.Selection, wait time.Duration, v Verifying) (report syncer.VerifyReport, err error) {
	err = a.run(ctx, task{
		sel: sel, existing: true,
		there: func(w *route) (err error) { report, err = w.askVerify(ctx, sel, v); return err },
		here: func(l *lifecycle, w *route, sources []syncer.Source) (err error) {
			report, err = a.verifyHere(ctx, l, w, sel, pass{command: "larder verify", sources: sources, wait: wait}, v)
			return err
		},
	})
	unserved := a.judgeVerified(&report, sel)
	switch {
	case err != nil:
	case report.Differences() > 0 || report.Err() != nil:
		err = &VerifyError{report}
	default:
		err = unserved
	}
	return report, err
}

// verifyHere verifies in this process.
func (a *App) verifyHere(ctx context.Context, l *lifecycle, w *route, sel syncer.Selection, p pass, v Verifying) (syncer.VerifyReport, error) {
	y, ctx, stop, err := a.syncerHere(ctx, l, w, p)
	if err != nil {
		return syncer.VerifyReport{}, err
	}
	defer stop()
	return y.Verify(ctx, sel, v.found, v.progress)
}

// VerifyError tells what a verification found, or could not compare.
type VerifyError struct{ Report syncer.VerifyReport }

func (e *VerifyError) Error() string {
	var parts []string
	if n := e.Report.Differences(); n > 0 {
		parts = append(parts, phrase.Plural(n, "row")+phrase.Verb(n, " differs", " differ")+" from the API")
	}
	for _, s := range e.Report.Sources {
		if s.Err != nil {
			parts = append(parts, sourceLine(s.Source, s.State, s.Err))
		}
		for _, st := range s.Streams {
			if st.Err != nil {
				parts = append(parts, streamLine(s.Source, st.Stream, st.Err))
			}
		}
	}
	return strings.Join(parts, "\n        ")
}

// code is ExitProblem when anything differs; else it is ExitWarehouse when the
// warehouse could not be reached, and ExitAPI when refusals are all that went wrong.
func (e *VerifyError) code() int {
	if e.Report.Differences() > 0 {
		return ExitProblem
	}
	var w worst
	for _, s := range e.Report.Sources {
		w.source(s.State, s.Err)
		for _, st := range s.Streams {
			w.stream(s.State, st.Err)
		}
	}
	return w.code()
}

// verifyNews are findings and progress as they come, at the end the report.
type verifyNews struct {
	Finding  *syncer.Finding `json:"finding,omitempty"`
	Status   *syncer.Status  `json:"status,omitempty"` // of the progress
	Report   *verifyWire     `json:"report,omitempty"`
	Finished bool            `json:"finished,omitempty"` // Report is the last
}

// verifyWire is a report with its errors as text and exit code.
type verifyWire struct {
	syncer.VerifyReport
	Errors []verifyErrorWire `json:"errors,omitempty"`
}

type verifyErrorWire struct {
	Source int    `json:"source"`
	Stream int    `json:"stream"` // -1: the source's own
	Error  string `json:"error"`
	Code   int    `json:"code"`
}

func toVerifyWire(r syncer.VerifyReport) *verifyWire {
	w := &verifyWire{VerifyReport: r}
	note := func(source, stream int, err error) {
		if err != nil {
			text, code := textOf(err)
			w.Errors = append(w.Errors, verifyErrorWire{source, stream, text, code})
		}
	}
	for i, s := range r.Sources {
		note(i, -1, s.Err)
		for j, st := range s.Streams {
			note(i, j, st.Err)
		}
	}
	return w
}

func (w *verifyWire) report() syncer.VerifyReport {
	for _, e := range w.Errors {
		if e.Source < 0 || e.Source >= len(w.Sources) {
			continue
		}
		s := &w.Sources[e.Source]
		switch err := errorOf(e.Error, e.Code); {
		case e.Stream < 0:
			s.Err = err
		case e.Stream < len(s.Streams):
			s.Streams[e.Stream].Err = err
		}
	}
	return w.VerifyReport
}

func serveVerify(ctx context.Context, p passer, sel syncer.Selection, tell func(verifyNews)) error {
	report, err := p.Verify(ctx, sel,
		func(f syncer.Finding) { tell(verifyNews{Finding: &f}) },
		func(v syncer.VerifyProgress) { tell(verifyNews{Status: &v.Status, Report: toVerifyWire(v.Report)}) })
	if err == nil {
		tell(verifyNews{Report: toVerifyWire(report), Finished: true})
	}
	return err
}

// askVerify lets the process that holds the engine verify. When ctx ends, the
// report is the last that was heard.
func (w *route) askVerify(ctx context.Context, sel syncer.Selection, v Verifying) (last syncer.VerifyReport, err error) {
	err = askFor(ctx, w, routeVerify, sel, func(n verifyNews) bool {
		if n.Report != nil {
			last = n.Report.report()
		}
		switch {
		case n.Finding != nil:
			v.found(*n.Finding)
		case n.Status != nil:
			v.progress(syncer.VerifyProgress{Status: *n.Status, Report: last})
		}
		return n.Finished
	})
	return last, err
}

// Verify verifies for a command beside the daemon.
func (d *daemon) Verify(ctx context.Context, sel syncer.Selection, found func(syncer.Finding), progress func(syncer.VerifyProgress)) (syncer.VerifyReport, error) {
	select {
	case <-d.ready:
	case <-ctx.Done():
		return syncer.VerifyReport{}, context.Cause(ctx)
	}
	return d.syncer.Verify(ctx, sel, found, progress)
}
