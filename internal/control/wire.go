package control

import (
	"errors"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/syncer"
)

// message is one line of what the daemon answers while it makes a pass. The last one says how
// the pass ended.
type message[R any] struct {
	Finding *syncer.Finding `json:"finding,omitempty"`
	Status  *syncer.Status  `json:"status,omitempty"`
	Report  *R              `json:"report,omitempty"` // so far
	Errors  []*failure      `json:"errors,omitempty"` // of the report, in the order of errorsOf
	Done    bool            `json:"done,omitempty"`   // Report is the last
	Failed  *failure        `json:"failed,omitempty"`
}

// reporting is the message of a report.
func reporting[R any](r R) message[R] {
	m := message[R]{Report: &r}
	for _, err := range errorsOf(&r) {
		m.Errors = append(m.Errors, failureOf(*err))
	}
	return m
}

// report is the report of a message, its errors in their places.
func (m message[R]) report() R {
	for i, err := range errorsOf(m.Report) {
		if i < len(m.Errors) {
			*err = m.Errors[i].error()
		}
	}
	return *m.Report
}

// errorsOf are the places of a report that hold errors.
func errorsOf(report any) (all []*error) {
	switch r := report.(type) {
	case *syncer.Report:
		for i := range r.Sources {
			s := &r.Sources[i]
			all = append(all, &s.Err)
			for j := range s.Streams {
				all = append(all, &s.Streams[j].Err)
			}
		}
	case *syncer.VerifyReport:
		for i := range r.Sources {
			s := &r.Sources[i]
			all = append(all, &s.Err)
			for j := range s.Streams {
				all = append(all, &s.Streams[j].Err)
			}
		}
	case *syncer.ReconcileReport:
		for i := range r.Sources {
			all = append(all, &r.Sources[i].Err)
		}
	}
	return all
}

// failure is an error as text and exit code.
type failure struct {
	Text string            `json:"text"`
	Code int               `json:"code"`
	Held *syncer.SweepHeld `json:"held,omitempty"` // of a sweep that waits for a person
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	held, _ := errors.AsType[*syncer.SweepHeld](err)
	return &failure{Text: err.Error(), Code: exit.Code(err), Held: held}
}

func (f *failure) error() error {
	switch {
	case f == nil:
		return nil
	case f.Held != nil:
		return f.Held
	}
	return &exit.RemoteError{Text: f.Text, Code: f.Code}
}
