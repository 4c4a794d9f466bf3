package control

import (
	"context"

	"github.com/larder-sync/larder/syncer"
)

// Verifying is who hears of a verification under way; both may be nil.
type Verifying struct {
	Found    func(syncer.Finding)
	Progress func(syncer.VerifyProgress)
}

// FoundOne passes on a finding.
func (v Verifying) FoundOne(f syncer.Finding) {
	if v.Found != nil {
		v.Found(f)
	}
}

// Progressed passes on how far the verification is.
func (v Verifying) Progressed(p syncer.VerifyProgress) {
	if v.Progress != nil {
		v.Progress(p)
	}
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

// Verify lets the daemon verify. When ctx ends, the
// report is the last one that was received.
func (c Client) Verify(ctx context.Context, sel syncer.Selection, v Verifying) (last syncer.VerifyReport, err error) {
	err = askFor(ctx, c, routeVerify, sel, func(n verifyNews) bool {
		if n.Report != nil {
			last = n.Report.report()
		}
		switch {
		case n.Finding != nil:
			v.FoundOne(*n.Finding)
		case n.Status != nil:
			v.Progressed(syncer.VerifyProgress{Status: *n.Status, Report: last})
		}
		return n.Finished
	})
	return last, err
}
