package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
)

// routeVerify is mounted beside routeSync: POST syncer.Selection, answered by a
// stream of verifyMessage, one a line.
const routeVerify = "/larder/verify"

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
	if err := a.checkSelection(sel); err != nil {
		return report, err
	}
	sources, err := a.sources()
	if err != nil {
		return report, err
	}
	if err := a.existing(); err != nil {
		return report, err
	}
	l := &lifecycle{log: a.log}
	defer func() { err = errors.Join(err, l.close()) }()
	w, err := a.ownOrDaemon(ctx, l)
	if err != nil {
		return report, err
	}
	if w.held {
		report, err = w.askVerify(ctx, sel, v)
	} else {
		report, err = a.verifyHere(ctx, l, w, sel, pass{sources: sources, wait: wait}, v)
	}
	if err == nil && (report.Differences() > 0 || report.Err() != nil) {
		err = &VerifyError{report}
	}
	return report, err
}

// verifyHere verifies in this process.
func (a *App) verifyHere(ctx context.Context, l *lifecycle, w *way, sel syncer.Selection, p pass, v Verifying) (syncer.VerifyReport, error) {
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
	switch n := e.Report.Differences(); n {
	case 0:
	case 1:
		parts = append(parts, "1 row differs from the API")
	default:
		parts = append(parts, fmt.Sprintf("%d rows differ from the API", n))
	}
	if err := e.Report.Err(); err != nil {
		parts = append(parts, strings.ReplaceAll(err.Error(), "\n", "\n        "))
	}
	return strings.Join(parts, "\n        ")
}

// code is ExitProblem when anything differs; else it is ExitWarehouse when the
// warehouse could not be reached, and ExitAPI when refusals are all that went wrong.
func (e *VerifyError) code() int {
	if e.Report.Differences() > 0 {
		return ExitProblem
	}
	if errors.Is(e.Report.Err(), clickhouse.ErrUnreachable) {
		return ExitWarehouse
	}
	for _, s := range e.Report.Sources {
		if s.Err != nil && !refused(s.State) {
			return ExitProblem
		}
		for _, st := range s.Streams {
			if st.Err != nil && !refused(s.State) && ExitCode(st.Err) != ExitAPI {
				return ExitProblem
			}
		}
	}
	return ExitAPI
}

// verifyMessage is one line of the answer of routeVerify: findings and progress as
// they come, at the end the report, or an error.
type verifyMessage struct {
	Finding  *syncer.Finding `json:"finding,omitempty"`
	Status   *syncer.Status  `json:"status,omitempty"` // of the progress
	Report   *verifyWire     `json:"report,omitempty"`
	Finished bool            `json:"finished,omitempty"` // Report is the last
	Error    string          `json:"error,omitempty"`
	Code     int             `json:"code,omitempty"`
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

func (c *control) serveVerify(w http.ResponseWriter, r *http.Request) {
	var sel syncer.Selection
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&sel); err != nil {
		http.Error(w, "not a selection: "+err.Error(), http.StatusBadRequest)
		return
	}
	if c.passer == nil {
		http.Error(w, "busy with a pass of its own", http.StatusConflict)
		return
	}
	c.log.Info("a verification was asked for", "sources", sel.Sources, "streams", sel.Streams)
	w.Header().Set("Content-Type", "application/x-ndjson")
	send := sender[verifyMessage](w, c.log)
	report, err := c.passer.Verify(r.Context(), sel,
		func(f syncer.Finding) { send(verifyMessage{Finding: &f}) },
		func(p syncer.VerifyProgress) { send(verifyMessage{Status: &p.Status, Report: toVerifyWire(p.Report)}) })
	if err != nil {
		send(verifyMessage{Error: err.Error(), Code: ExitCode(err)})
		return
	}
	send(verifyMessage{Report: toVerifyWire(report), Finished: true})
}

// askVerify lets the process that holds the engine verify. When ctx ends, the
// report is the last that was heard.
func (w *way) askVerify(ctx context.Context, sel syncer.Selection, v Verifying) (last syncer.VerifyReport, err error) {
	asked, err := json.Marshal(sel)
	if err != nil {
		return last, err
	}
	body, err := w.ask(ctx, http.MethodPost, routeVerify, asked)
	if err != nil {
		return last, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	lines := json.NewDecoder(body)
	for {
		var m verifyMessage
		if err := lines.Decode(&m); err != nil {
			if ctx.Err() != nil {
				return last, context.Cause(ctx)
			}
			return last, fmt.Errorf("the daemon ended before the verification did: %w", err)
		}
		if m.Report != nil {
			last = m.Report.report()
		}
		switch {
		case m.Finding != nil:
			v.found(*m.Finding)
		case m.Finished:
			return last, nil
		case m.Error != "":
			return last, &remoteError{m.Error, m.Code}
		case m.Status != nil:
			v.progress(syncer.VerifyProgress{Status: *m.Status, Report: last})
		}
	}
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
