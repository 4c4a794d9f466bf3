package syncer

import (
	"sync"
	"time"
)

// doorman keeps the process away from the limit on wrong keys: an address that
// sends 30 requests with one within a minute is refused for the rest of that
// minute (api.md, "Errors"). Keys that have not been accepted yet, and keys that
// were refused, ask it before they are tried.
type doorman struct {
	mu      sync.Mutex
	refused map[string][]time.Time // by base URL, the last minute's
}

// wrongKeyLimit is half of what the service allows: other programs may run at
// the same address.
const wrongKeyLimit = 15

func newDoorman() *doorman { return &doorman{refused: map[string][]time.Time{}} }

// turnedAway notes an answer 401.
func (d *doorman) turnedAway(baseURL string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused[baseURL] = append(d.recent(baseURL, now), now)
}

// wait is how long an unproven key has to wait at now.
func (d *doorman) wait(baseURL string, now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	recent := d.recent(baseURL, now)
	d.refused[baseURL] = recent
	if len(recent) < wrongKeyLimit {
		return 0
	}
	return recent[len(recent)-wrongKeyLimit].Add(time.Minute).Sub(now)
}

func (d *doorman) recent(baseURL string, now time.Time) []time.Time {
	all := d.refused[baseURL]
	for len(all) > 0 && now.Sub(all[0]) >= time.Minute {
		all = all[1:]
	}
	return all
}
