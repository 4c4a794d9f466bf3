package link

import (
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// When walks fail, /me is asked once for all of them, and again for those that fail later.
func TestAFailureOfAWalkPutsTheSourceInDoubtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, refused := error(&api.Error{Status: http.StatusServiceUnavailable}), error(&api.Error{Status: http.StatusUnauthorized})
		q := NewQueue(1)
		l := &Link{
			refused: map[string]error{},
			opts:    Options{Queue: q, Source: "s", Log: slog.New(slog.DiscardHandler), Changed: func() {}},
			is:      View{State: status.StateStarting},
		}
		if l.IsInDoubt(broken, time.Now()) {
			t.Error("before /me has answered")
		}
		failed := time.Now()
		time.Sleep(time.Second)
		l.Healthy(status.StateRunning, "")
		if l.IsInDoubt(broken, failed) {
			t.Error("/me has answered since the walk failed")
		}
		time.Sleep(time.Second)
		if !l.IsInDoubt(broken, time.Now()) || !l.IsInDoubt(refused, time.Now()) {
			t.Error("a later walk fails")
		}
		for !q.full() {
			q.refused()
		}
		if !l.IsInDoubt(broken, time.Now()) || l.IsInDoubt(refused, time.Now()) {
			t.Error("the queue of keys is full")
		}
		if is := l.View(); is.Ready || is.State != status.StateUnauthorized || is.NextProbe.After(time.Now()) {
			t.Errorf("the source is not in trouble until its key has a place: %+v", is)
		}
		l.PutOff()
		if in := time.Until(l.View().NextProbe); in != time.Minute {
			t.Errorf("put off by %s", in)
		}
		l.Troubled(stream.Trouble{State: status.StateUnreachable, RetryAfter: time.Hour})
		l.PutOff()
		if in := time.Until(l.View().NextProbe); in != time.Hour {
			t.Errorf("a probe that is not due is put off by %s", in)
		}
	})
}
