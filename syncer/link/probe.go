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
// an address out (api.md, "Limits"). A key that was put in another's place is not waited
// for. A disabled key is often enabled again soon, which shows in nothing but
// an answer; a service that does not answer usually comes back soon, too.
const (
	longestProbe     = 5 * time.Minute
	disabledFirst    = 30 * time.Second
	unreachableFirst = 15 * time.Second
)

// Jitter is in [0,1), spread over sources and attempts and the same on every run.
func Jitter(source string, attempt int) float64 {
	return float64(schedule.Hash(source, strconv.Itoa(attempt))>>11) / (1 << 53)
}

// probeDelay is how long to wait before the next probe of a source whose last
// failures probes in a row ended in t; jitter in [0,1) spreads it.
func probeDelay(t stream.Trouble, failures int, jitter float64) time.Duration {
	first := longestProbe
	if t.MayPass() {
		first = unreachableFirst
	} else if t.State == status.StateKeyDisabled {
		first = disabledFirst
	}
	base := lifecycle.Backoff(first, longestProbe, max(failures-1, 0))
	return max(lifecycle.Between(base*3/4, base*5/4, jitter), t.RetryAfter)
}
