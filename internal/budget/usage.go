package budget

import "time"

// Usage is how much of a key's budget is in use.
type Usage struct {
	Key, Heavy, Business Share
	Waiting              [lanes]int    // by lane
	Granted              [lanes]uint64 // by lane, since the start
	RateLimited          uint64        // answers 429
	PausedUntil          time.Time     // after a 429; zero when not paused
}

// Share is the use of one limit: of Limit places, Used are ours, counted or under
// way, and Others were seen to be taken by someone else.
type Share struct{ Used, Others, Limit int }

// Usage is what is in use now.
func (k *Key) Usage() Usage {
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	u := Usage{Granted: k.granted, RateLimited: k.rateLimited}
	u.Key, u.Heavy, u.Business = k.all.usage(now), k.heavy.usage(now), k.business.limit.usage(now)
	for lane := range k.queues {
		u.Waiting[lane] = len(k.queues[lane][plain]) + len(k.queues[lane][heavyweight])
	}
	if until := max(k.all.pausedUntil, k.heavy.pausedUntil, k.business.limit.pausedUntil); until > now {
		u.PausedUntil = l.start.Add(until)
	}
	return u
}

func (w *window) usage(now instant) Share {
	w.expire(now)
	return Share{Used: w.ours(), Others: len(w.others), Limit: w.limit}
}

// Forecast is how long so many requests more of a lane will take, all of them heavy
// or none, at what the lanes above, other keys and others leave of the limits now
// (DESIGN B5).
func (k *Key) Forecast(requests int, lane Lane, heavy bool) time.Duration {
	if requests <= 0 {
		return 0
	}
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	plainly, heavily := k.urgency(now, lane, plain), k.urgency(now, lane, heavyweight)
	b := k.business.limit
	b.expire(now)
	k.all.expire(now)
	longest := max(
		b.forecast(now, requests, plainly+heavily+float64(b.ours()-k.all.ours()), k.latency),
		k.all.forecast(now, requests, plainly+heavily, k.latency))
	if heavy {
		k.heavy.expire(now)
		longest = max(longest, k.heavy.forecast(now, requests, heavily, k.latency))
	}
	return longest
}

// remembered is how long back the forecast looks for what the other lanes use.
const remembered = 10 * minute

// urgency is how many requests of a weight the lanes above one send in a minute.
func (k *Key) urgency(now instant, lane Lane, weight int) float64 {
	sent := 0
	for above := range min(lane, Backfill) {
		urgent := &k.urgent[above][weight]
		*urgent = expired(*urgent, now)
		sent += len(*urgent)
	}
	over := min(max(now-k.began, minute), remembered)
	return float64(sent) / over.Minutes()
}

// forecast is how long one window needs when so many of its places serve others:
// each place serves once in a cycle.
func (w *window) forecast(now instant, requests int, taken float64, latency time.Duration) time.Duration {
	places := max(1, float64(min(w.share, w.limit-len(w.others)))-taken)
	wait := max(w.pausedUntil-now, 0)
	return wait + time.Duration(float64(requests)/places*float64(w.cycle+latency))
}
