package writer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks/engine/child"
)

// A program that ends again and again is started less and less often, and that is a problem
// until it has not happened for a while.
func TestAProgramThatKeepsEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Writer{life: context.Background()}
		var pauses []time.Duration
		for range 12 {
			begun := time.Now()
			time.Sleep(time.Second)
			w.ended(begun, errors.New("signal: aborted"))
			pauses = append(pauses, time.Until(w.next))
			if pause, err := w.due(); pauses[len(pauses)-1] > shortPause {
				if err == nil || !strings.Contains(err.Error(), "keeps ending") || !strings.Contains(err.Error(), "signal: aborted") {
					t.Errorf("in a long pause: %v", err)
				}
				time.Sleep(time.Second)
				if _, later := w.due(); err == nil || later == nil || later.Error() != err.Error() {
					t.Errorf("a second later it is another text: %v", later)
				}
			} else if err != nil || pause != pauses[len(pauses)-1] {
				t.Errorf("in a short pause: %s %v", pause, err)
			}
			if problem := w.Problem(); (problem != "") != (len(pauses) >= child.TooOften) {
				t.Errorf("after %d ends: %q", len(pauses), problem)
			}
			time.Sleep(time.Until(w.next))
		}
		if pauses[0] != 0 || pauses[1] != 200*time.Millisecond || pauses[2] != 2*pauses[1] || pauses[11] != time.Minute {
			t.Errorf("pauses: %v", pauses)
		}
		begun := time.Now()
		time.Sleep(10 * time.Minute)
		if problem := w.Problem(); problem != "" {
			t.Errorf("after %s without an end: %s", 10*time.Minute, problem)
		}
		w.ended(begun, errors.New("signal: aborted"))
		if pause, err := w.due(); pause != 0 || err != nil {
			t.Errorf("after a program that was sound: %s %v", pause, err)
		}
		if w.Ends() != 13 {
			t.Errorf("%d ends", w.Ends())
		}
	})
}
