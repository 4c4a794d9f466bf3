package link

import (
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Probes of a source in trouble: a refusal is a person's to mend, so it is asked
// about every few minutes, far from the 30 wrong-key requests a minute that shut
// an address out (docs/openapi.yaml, Limits a minute). A key that was put in another's place is not waited
// for. A disabled key is often enabled again soon, which shows in nothing but
// an answer; a service that does not answer usually comes back soon, too.
const (
	longestProbe     = 5 * time.Minute
	disabledFirst    = 30 * time.Second
	unreachableFirst = 15 * time.Second
)

// Pause is how long to wait after so many failures in a row: the same on every run, and spread over
// sources.
func Pause(source string, first, longest time.Duration, failures int) time.Duration {
	chance := float64(schedule.Hash(source, strconv.Itoa(failures))>>11) / (1 << 53)
	pause := lifecycle.Backoff(first, longest, max(failures-1, 0))
	return lifecycle.Between(pause*3/4, pause*5/4, chance)
}

// probeDelay is how long to wait before the next probe of a source whose last
// failures probes in a row ended in t.
func probeDelay(source string, t stream.Trouble, failures int) time.Duration {
	first := longestProbe
	if t.MayPass() {
		first = unreachableFirst
	} else if t.State == status.StateKeyDisabled {
		first = disabledFirst
	}
	return max(Pause(source, first, longestProbe, failures), t.RetryAfter)
}
