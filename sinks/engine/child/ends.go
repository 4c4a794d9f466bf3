package child

import (
	"cmp"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
)

const (
	firstPause = 200 * time.Millisecond // doubled each time
	longPause  = time.Minute
	soundTime  = time.Minute // after which a program that ends was sound
	recently   = 10 * time.Minute
)

// TooOften is how many ends within ten minutes are a problem.
const TooOften = 3

// Ends are the times that a program has ended by itself, or could not be started. It is started
// again without a pause at first, then after ever longer ones, and without one after a program
// that was sound. The caller locks it.
type Ends struct {
	Longest time.Duration // of the pauses; 0: a minute
	Count   int
	Last    error // why it ended
	inRow   int   // without a program that was sound
	recent  []time.Time
}

// Add notes the end of a program that has run for so long. It returns the pause before the next.
func (e *Ends) Add(ran time.Duration, why error) (pause time.Duration) {
	e.Count++
	e.Last = why
	e.recent = append(e.recent, time.Now())
	if ran > soundTime {
		e.inRow = 0
	}
	if e.inRow > 0 {
		pause = lifecycle.Backoff(firstPause, cmp.Or(e.Longest, longPause), e.inRow-1)
	}
	e.inRow++
	return pause
}

// Recent is how many ends there were within ten minutes.
func (e *Ends) Recent() int {
	e.recent = slices.DeleteFunc(e.recent, func(at time.Time) bool { return time.Since(at) > recently })
	return len(e.recent)
}
