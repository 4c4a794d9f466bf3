package budget

import (
	"context"
	"slices"
	"time"
)

// Lane is the precedence of a request (docs/rules.md B4): a lower lane takes what the
// ones above leave, all of it, and a twenty-first where they leave nothing. Within a
// lane, first come, first served.
type Lane uint8

// The lanes, most urgent first.
const (
	Probe     Lane = iota // the key itself, and probes of sources in trouble
	Fresh                 // incremental walks and snapshots
	Reconcile             // reconcile and heal
	Deep                  // reconcile, of many days
	Backfill              // backfill and full resync
	lanes
)

// urgent reports whether requests of the lane may come in bursts.
func (l Lane) urgent() bool { return l <= Fresh }

// spread is how far apart the requests are that a lane leaves to more urgent ones, where 1 would be
// even. A little more lets the whole limit be used although answers take their time;
// six bounds the wait of the next process (see [window.step] for low limits).
func (l Lane) spread() float64 {
	if l.urgent() {
		return 6
	}
	return 1.1
}

// The weights of requests, those whose limit is scarcer first.
const (
	heavy = iota
	plain
	weights
)

func weight(isHeavy bool) int {
	if isHeavy {
		return heavy
	}
	return plain
}

// mostPassed is how many requests of urgent lanes in a row are sent for each key of a
// restaurant before one of a lower lane.
const mostPassed = 20

// waiter is one caller of Acquire or Await.
type waiter struct {
	key     *Key
	lane    Lane
	weight  int
	looks   bool // Await: nil is its permit
	arrival uint64
	permit  chan *Permit // buffered: the one that is granted
}

// Acquire waits until a request of this lane and weight may be sent. It returns
// the context's cause when that ends first. [Permit.Done] must be called.
func (k *Key) Acquire(ctx context.Context, lane Lane, heavy bool) (*Permit, error) {
	return k.wait(ctx, &waiter{lane: lane, weight: weight(heavy)})
}

// Await waits like [Key.Acquire] and takes no permit: a caller that must take a lock before a
// request need not hold it while the limits are used up.
func (k *Key) Await(ctx context.Context, lane Lane, heavy bool) error {
	_, err := k.wait(ctx, &waiter{lane: lane, weight: weight(heavy), looks: true})
	return err
}

func (k *Key) wait(ctx context.Context, w *waiter) (*Permit, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w.key, w.lane, w.permit = k, min(w.lane, Backfill), make(chan *Permit, 1)
	l := k.ledger
	l.mu.Lock()
	l.arrivals++
	w.arrival = l.arrivals
	queue := &k.queues[w.lane][w.weight]
	*queue = append(*queue, w)
	k.business.serve()
	l.mu.Unlock()
	select {
	case permit := <-w.permit:
		return permit, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case permit := <-w.permit: // too late: as if it had never been granted
		if permit != nil {
			permit.done = true
			for _, window := range k.windows(permit.heavy) {
				window.inFlight--
			}
		}
	default:
		*queue = slices.DeleteFunc(*queue, func(other *waiter) bool { return other == w })
	}
	k.business.serve()
	return nil, context.Cause(ctx)
}

// waiting is how many requests of the key wait.
func (k *Key) waiting() (n int) {
	for _, lane := range k.queues {
		n += len(lane[heavy]) + len(lane[plain])
	}
	return n
}

// serve grants all that may be sent now, and sets the timer to when to look again. The caller
// holds the lock of the ledger.
func (b *business) serve() {
	now := b.ledger.now()
	for {
		w, again := b.next(now)
		if w == nil {
			if again == never {
				b.timer.Stop()
			} else {
				b.timer.Reset(again - now)
			}
			return
		}
		b.grant(now, w)
	}
}

// next returns the waiter whose request may be sent now, or when to look again. A starved
// one comes first; then it goes by lane, the key that was served longest ago,
// weight, and the order of arrival.
func (b *business) next(now instant) (next *waiter, again instant) {
	for _, k := range b.keys {
		for weight, passed := range k.passed {
			if passed < mostPassed*len(b.keys) || k.opens(now, Fresh, weight) > now {
				continue
			}
			for lane := Fresh + 1; lane < lanes; lane++ {
				if q := k.queues[lane][weight]; len(q) > 0 && (next == nil || q[0].arrival < next.arrival) {
					next = q[0]
				}
			}
			if next != nil {
				return next, now
			}
		}
	}
	again = never
	for lane := range lanes {
		for _, k := range b.keys {
			for weight, q := range k.queues[lane] {
				if len(q) == 0 {
					continue
				}
				at := k.opens(now, lane, weight)
				if at <= now {
					return q[0], now
				}
				again = min(again, at)
			}
		}
	}
	return nil, again
}

// opens is when all limits let a request through.
func (k *Key) opens(now instant, lane Lane, weight int) (at instant) {
	for _, w := range k.windows(weight == heavy) {
		at = max(at, w.opens(now, lane))
	}
	return at
}

// grant gives the first waiter of a queue its permit.
func (b *business) grant(now instant, w *waiter) {
	k := w.key
	queue := &k.queues[w.lane][w.weight]
	*queue = slices.Delete(*queue, 0, 1)
	if w.looks {
		w.permit <- nil
		return
	}
	p := &Permit{key: k, heavy: w.weight == heavy, sent: now}
	for _, window := range k.windows(p.heavy) {
		window.inFlight++
		window.proven--
	}
	k.granted[w.lane]++
	k.sent[w.lane][w.weight].add(now, 1)
	if w.lane.urgent() {
		for _, other := range b.keys {
			other.passed[heavy]++
			other.passed[plain]++
		}
	} else {
		k.passed[w.weight] = 0
	}
	i := slices.Index(b.keys, k)
	copy(b.keys[i:], b.keys[i+1:])
	b.keys[len(b.keys)-1] = k
	w.permit <- p
}

// Permit is the right to send one request, now.
type Permit struct {
	key   *Key
	heavy bool
	sent  instant
	done  bool
}

// Answer is what an answer shows of the limits.
type Answer struct {
	Status     int           // 0: no answer came
	Limit      int           // X-RateLimit-Limit; -1: none
	Remaining  int           // X-RateLimit-Remaining; -1: none
	RetryAfter time.Duration // 0: none
}

const (
	// blindPause is the pause after a 429 that does not say how long.
	blindPause = minute
	// Jitter is added to a pause, so that a thousand keys stopped together do not resume
	// together; at least a little, since a Retry-After is in whole seconds.
	leastJitter, maxJitter = 50 * time.Millisecond, 5 * time.Second
)

// Done takes the answer, as soon as its headers are here or none will come.
// Only the first call counts.
func (p *Permit) Done(a Answer) {
	k, l := p.key, p.key.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.done {
		return
	}
	p.done = true
	now, late := l.now(), instant(0)
	if a.Status == 0 {
		late = silence
	} else {
		k.took(now - p.sent)
	}
	windows := k.windows(p.heavy)
	for _, w := range windows {
		w.answered(now, late)
	}
	meant, known := p.meant(windows, a.Limit)
	switch {
	case a.Status == 429:
		if meant == nil { // the figures do not show which limit it is
			meant = k.all
		}
		pause := a.RetryAfter
		if pause <= 0 {
			pause = blindPause
		}
		meant.refuse(now, p.sent, now+pause+leastJitter+time.Duration(l.opts.Jitter()*float64(maxJitter)))
	case a.Status != 0:
		for _, w := range windows {
			switch {
			case w == meant && a.Remaining >= 0:
				w.observe(now, p.sent, a.Remaining)
				w.accepted(p.sent)
				continue
			case known && (!w.follows || w.limit <= a.Limit): // else the figures may be the smallest limit's
				w.prove(p.sent, a.Remaining)
			}
			// Only figures show what the process before has spent.
			if now >= w.began+cycle || a.Remaining < 0 && a.Status < 300 && !w.follows {
				w.accepted(p.sent)
			}
		}
	}
	k.business.serve()
}

// meant is the window that an answer's figures are about: the one with that limit. A limit
// lower than any is news that /me has not reported yet, about the key, or about the heavy
// routes on one of those. It is nil when it is one of several; known is false when it is none.
func (p *Permit) meant(windows []*window, limit int) (found *window, known bool) {
	for _, w := range windows {
		if w.limit == limit {
			if known {
				return nil, true
			}
			found, known = w, true
		}
	}
	if last := windows[len(windows)-1]; !known && limit > 0 && limit < last.limit {
		last.setLimit(limit, p.key.share)
		return last, true
	}
	return found, known
}

// took smooths the time an answer takes, for the forecast.
func (k *Key) took(latency time.Duration) {
	if k.latency == 0 {
		k.latency = latency
	}
	k.latency += (latency - k.latency) / 16
}
