package link

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/syncer/status"
)

// When walks fail, /me is asked once for all of them, and again for those that fail later.
func TestAFailureOfAWalkPutsTheSourceInDoubtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Link{
			opts:      Options{Source: "s", Log: slog.New(slog.DiscardHandler), Changed: func() {}},
			condition: condition{is: View{State: status.StateStarting}},
		}
		if l.IsInDoubt(time.Now()) {
			t.Error("before /me has answered")
		}
		failed := time.Now()
		time.Sleep(time.Second)
		l.Healthy(status.StateRunning, "")
		if l.IsInDoubt(failed) {
			t.Error("/me has answered since the walk failed")
		}
		time.Sleep(time.Second)
		if !l.IsInDoubt(time.Now()) {
			t.Error("a later walk fails")
		}
	})
}
