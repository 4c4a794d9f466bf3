package control

import (
	"errors"
	"time"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/syncer"
)

// reportWire is a report with errors as text and exit code, for the way between
// two processes.
type reportWire struct {
	StartedAt  time.Time    `json:"started_at"`
	FinishedAt time.Time    `json:"finished_at"`
	Sources    []sourceWire `json:"sources"`
}

type sourceWire struct {
	Source  string       `json:"source"`
	State   string       `json:"state"`
	Error   string       `json:"error,omitempty"`
	Code    int          `json:"code,omitempty"`
	Streams []streamWire `json:"streams"`
}

type streamWire struct {
	syncer.StreamOutcome
	Counts syncer.Counts `json:"counts"`
	Error  string        `json:"error,omitempty"`
	Code   int           `json:"code,omitempty"`
	// Held is the error of a sweep that waits for a person.
	Held *syncer.SweepHeld `json:"held,omitempty"`
}

func toWire(r syncer.Report) *reportWire {
	w := &reportWire{StartedAt: r.StartedAt, FinishedAt: r.FinishedAt}
	for _, s := range r.Sources {
		sw := sourceWire{Source: s.Source, State: s.State}
		sw.Error, sw.Code = textOf(s.Err)
		for _, st := range s.Streams {
			stw := streamWire{StreamOutcome: st.StreamOutcome, Counts: st.Counts}
			if held, ok := errors.AsType[*syncer.SweepHeld](st.Err); ok {
				stw.Held = held
			} else {
				stw.Error, stw.Code = textOf(st.Err)
			}
			sw.Streams = append(sw.Streams, stw)
		}
		w.Sources = append(w.Sources, sw)
	}
	return w
}

func (w *reportWire) report() syncer.Report {
	r := syncer.Report{StartedAt: w.StartedAt, FinishedAt: w.FinishedAt}
	for _, sw := range w.Sources {
		s := syncer.SourceReport{Source: sw.Source, State: sw.State, Err: errorOf(sw.Error, sw.Code)}
		for _, stw := range sw.Streams {
			st := syncer.StreamReport{StreamOutcome: stw.StreamOutcome, Counts: stw.Counts}
			if st.Err = errorOf(stw.Error, stw.Code); stw.Held != nil {
				st.Err = stw.Held
			}
			s.Streams = append(s.Streams, st)
		}
		r.Sources = append(r.Sources, s)
	}
	return r
}

func textOf(err error) (string, int) {
	if err == nil {
		return "", 0
	}
	return err.Error(), exit.Code(err)
}

func errorOf(text string, code int) error {
	if text == "" && code == 0 {
		return nil
	}
	if text == "" {
		return errors.New("an error without words")
	}
	return &exit.RemoteError{Text: text, Code: code}
}
