package control

import (
	"context"

	"github.com/larder-sync/larder/syncer"
)

// reconcileNews are the report so far now and then, at the end the whole one.
type reconcileNews struct {
	Report   *reconcileWire `json:"report"`
	Finished bool           `json:"finished,omitempty"` // Report is the last
}

// reconcileWire is a report with the errors of its sources as text and exit code.
type reconcileWire struct {
	syncer.ReconcileReport
	Errors map[int]wireError `json:"errors,omitempty"` // by index of the source
}

type wireError struct {
	Error string `json:"error"`
	Code  int    `json:"code"`
}

func toReconcileWire(r syncer.ReconcileReport) *reconcileWire {
	w := &reconcileWire{ReconcileReport: r, Errors: map[int]wireError{}}
	for i, s := range r.Sources {
		if s.Err != nil {
			text, code := textOf(s.Err)
			w.Errors[i] = wireError{text, code}
		}
	}
	return w
}

func (w *reconcileWire) report() syncer.ReconcileReport {
	for i, e := range w.Errors {
		if i >= 0 && i < len(w.Sources) {
			w.Sources[i].Err = errorOf(e.Error, e.Code)
		}
	}
	return w.ReconcileReport
}

func serveReconcile(ctx context.Context, p passer, r syncer.ReconcileRequest, tell func(reconcileNews)) error {
	report, err := p.Reconcile(ctx, r, func(so syncer.ReconcileReport) { tell(reconcileNews{Report: toReconcileWire(so)}) })
	if err == nil {
		tell(reconcileNews{Report: toReconcileWire(report), Finished: true})
	}
	return err
}

// Reconcile lets the daemon reconcile. When ctx ends, the
// report is the last one that was received.
func (c Client) Reconcile(ctx context.Context, r syncer.ReconcileRequest, progress func(syncer.ReconcileReport)) (last syncer.ReconcileReport, err error) {
	err = askFor(ctx, c, routeReconcile, r, func(n reconcileNews) bool {
		if n.Report != nil {
			last = n.Report.report()
		}
		if !n.Finished && progress != nil {
			progress(last)
		}
		return n.Finished
	})
	return last, err
}
