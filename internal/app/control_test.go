package app

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// A report arrives as it was sent; of its errors the text, the exit code and a held sweep do.
func TestReportsArriveWhole(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var done syncer.StreamReport
	fill(reflect.ValueOf(&done).Elem())
	held := &status.SweepHeld{Source: "a", Stream: "orders", Rows: 3, At: at}
	arrives(t, syncer.Report{StartedAt: at, FinishedAt: at, Sources: []syncer.SourceReport{
		{Source: "a", Streams: []syncer.StreamReport{done, withHeld(done, held)}},
		{Source: "b", State: "unauthorized", Err: &status.Failure{Text: "no key", Code: lifecycle.ExitAPI, Hint: "ask"}, Streams: []syncer.StreamReport{}},
	}})
	arrives(t, syncer.ReconcileReport{StartedAt: at, Sources: []syncer.SourceReconcile{{Source: "a", Steps: 2}, {Err: &status.Failure{Text: "no answer", Code: lifecycle.ExitProblem}}}})
}

func withHeld(r syncer.StreamReport, held *status.SweepHeld) syncer.StreamReport {
	r.Err = &status.Failure{Text: held.Error(), Code: lifecycle.ExitProblem, Held: held}
	return r
}

func arrives[R any](t *testing.T, sent R) {
	t.Helper()
	text, err := json.Marshal(message[R]{Report: &sent})
	var m message[R]
	if err := errors.Join(err, json.Unmarshal(text, &m)); err != nil {
		t.Fatal(err)
	}
	if got := *m.Report; !reflect.DeepEqual(got, sent) {
		t.Errorf("sent  %+v\ncame %+v\nby %s", sent, got, text)
	}
}

// fill gives each field another value.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Struct:
			fill(f)
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Uint64:
			f.SetUint(uint64(len(v.Type().Field(i).Name)*100 + i))
		}
	}
}
