package budget

import (
	"math"
	"time"
)

// Usage is how much of a key's budget is in use.
type Usage struct {
	Key, Heavy, Business Share
	Granted              [lanes]uint64 // by lane, since the start
	PausedUntil          time.Time     // after a 429; zero when not paused
}

// Share is the use of one limit: of Limit requests a minute, Used are Larder's, counted or
// under way, and Others those of other programs that were seen to use it.
type Share struct{ Used, Others, Limit int }

// Usage is what is in use now.
func (k *Key) Usage() Usage {
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	share := func(w *window) Share { return Share{Used: w.ours(now), Others: w.theirs(now), Limit: w.limit} }
	u := Usage{Key: share(k.all), Heavy: share(k.heavy), Business: share(k.business.limit), Granted: k.granted}
	if until := max(k.all.pausedUntil, k.heavy.pausedUntil, k.business.limit.pausedUntil); until > now {
		u.PausedUntil = l.start.Add(until)
	}
	return u
}

// memory is how long back the forecast looks for what the lanes above send.
const memory = 10 * minute

// rate is the number of requests of late: each counts less the longer ago it was.
type rate struct {
	count float64
	at    instant
}

func (r *rate) add(now instant, n float64) {
	r.count = r.count*math.Exp(-float64(now-r.at)/float64(memory)) + n
	r.at = now
}

// Forecast is how long so many requests more of a lane will take, all of them heavy
// or none, at what the lanes above, other keys and others leave of the limits now
// (docs/rules.md B5).
func (k *Key) Forecast(requests int, lane Lane, isHeavy bool) time.Duration {
	if requests <= 0 {
		return 0
	}
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var above [weights]float64 // requests a minute
	full := memory.Minutes() * (1 - math.Exp(-float64(max(now-k.began, minute))/float64(memory)))
	for higher := range min(lane, Backfill) {
		for weight := range above {
			sent := &k.sent[higher][weight]
			sent.add(now, 0)
			above[weight] += sent.count / full
		}
	}
	all := above[heavy] + above[plain]
	b := k.business.limit
	longest := max(k.all.forecast(now, requests, all, k.latency), b.forecast(now, requests, all+float64(b.ours(now)-k.all.ours(now)), k.latency))
	if isHeavy {
		longest = max(longest, k.heavy.forecast(now, requests, above[heavy], k.latency))
	}
	return longest
}

// forecast is how long one window needs when so many of its requests are others'.
func (w *window) forecast(now instant, requests int, taken float64, latency time.Duration) time.Duration {
	left := max(1, float64(w.most(now))-taken)
	return max(w.pausedUntil-now, 0) + time.Duration(float64(requests)/left*float64(cycle+latency))
}
