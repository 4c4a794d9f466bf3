package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// deadlines is a ResponseWriter that fails what is sent after its deadline, which passes at once.
type deadlines struct {
	http.ResponseWriter
	t        *testing.T
	extended bool
}

func (d *deadlines) SetWriteDeadline(time.Time) error {
	d.extended = true
	return nil
}

func (d *deadlines) FlushError() error {
	if !d.extended {
		d.t.Error("flushed behind the deadline")
	}
	d.extended = false
	return nil
}

// The head of an answer is flushed when a statement has run, which may take longer than a
// client may read nothing.
func TestAFlushExtendsTheDeadline(t *testing.T) {
	w := &deadlines{ResponseWriter: httptest.NewRecorder(), t: t}
	limited := (&Readers{stall: time.Second}).limitStalls(w)
	w.extended = false // it passed while the statement ran
	if err := http.NewResponseController(limited).Flush(); err != nil {
		t.Error(err)
	}
}
