package link

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// When walks fail, /me is asked once for all of them, and again for one whose key was refused.
func TestAFailureOfAWalkPutsTheSourceInDoubtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Link{
			opts:      Options{Source: "s", Log: slog.New(slog.DiscardHandler), Changed: func() {}},
			condition: condition{is: View{State: status.StateStarting}},
		}
		broken, refused := stream.Trouble{State: status.StateUnreachable}, stream.Trouble{State: status.StateUnauthorized}
		doubts := func(what string, trouble stream.Trouble, want bool) {
			t.Helper()
			if got := l.IsInDoubt(trouble, time.Now()); got != want {
				t.Errorf("%s: in doubt %v", what, got)
			}
		}
		doubts("before /me has answered", broken, false)
		l.Healthy(status.StateRunning, "")
		failed := time.Now().Add(-time.Second)
		if l.IsInDoubt(broken, failed) {
			t.Error("/me has answered since the walk failed")
		}
		time.Sleep(time.Second)
		doubts("a first walk fails", broken, true)
		doubts("nobody has got an answer yet", broken, true)
		l.NoteConfirmed()
		time.Sleep(freshAnswer - time.Second)
		doubts("another one does", broken, false)
		doubts("a key is refused", refused, true)
		time.Sleep(freshAnswer)
		doubts("a later walk fails", broken, true)
	})
}
