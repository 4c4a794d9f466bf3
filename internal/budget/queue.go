package budget

import (
	"slices"
	"time"
)

// waiter is one caller of Enter. Its channel holds the pass from the moment it
// is granted.
type waiter struct {
	key   *Key
	lane  Lane
	heavy bool
	pass  chan *Pass
}

// queue puts a caller into its lane and serves whom it can.
func (k *Key) queue(lane Lane, heavy bool) *waiter {
	l := k.ledger
	w := &waiter{key: k, lane: min(lane, Backfill), heavy: heavy, pass: make(chan *Pass, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	q := k.line(w)
	*q = append(*q, w)
	k.business.serve(l)
	return w
}

// line is the queue that a waiter stands in. Heavy requests have one of their
// own: waiting for the heavy limit must not hold up what it does not cover.
func (k *Key) line(w *waiter) *[]*waiter {
	if w.heavy {
		return &k.queues[w.lane][1]
	}
	return &k.queues[w.lane][0]
}

// withdraw takes back a place in the queue, or a pass that came too late.
func (k *Key) withdraw(w *waiter) {
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case pass := <-w.pass:
		pass.unsent()
	default:
		q := k.line(w)
		*q = slices.DeleteFunc(*q, func(other *waiter) bool { return other == w })
	}
	k.business.serve(l)
}

// unsent gives a pass back as if it had never been.
func (p *Pass) unsent() {
	p.left = true
	delete(p.key.out, p)
	for _, w := range p.windows {
		w.back()
	}
}

// serve grants all that may go now, and sets the timer to when to look again.
func (b *business) serve(l *Ledger) {
	now := l.now()
	b.limit.expire(now)
	for _, k := range b.keys {
		k.all.expire(now)
		k.heavy.expire(now)
	}
	for {
		again, granted := b.grant(now)
		if !granted {
			b.wake(l, now, again)
			return
		}
	}
}

// grant serves the first waiter that may go: by lane, then the key served
// longest ago, then who came first. A window that holds up a waiter is closed to
// all that come after him, so that a lower lane never takes the place that a
// higher one waits for.
func (b *business) grant(now instant) (again instant, granted bool) {
	again = never
	var closed [8]*window
	claims := closed[:0]
	for lane := range lanes {
		for i, k := range b.keys {
			for heavy := range k.queues[lane] {
				if len(k.queues[lane][heavy]) == 0 {
					continue
				}
				windows := k.windows(heavy == 1)
				if overlap(windows, claims) {
					continue
				}
				ok, at, blocking := decide(now, lane.paced(), windows)
				if ok {
					k.admit(now, lane, heavy)
					b.keys = append(slices.Delete(b.keys, i, i+1), k)
					return 0, true
				}
				again = min(again, at)
				claims = append(claims, blocking)
			}
		}
	}
	return again, false
}

func overlap(windows, claims []*window) bool {
	return slices.ContainsFunc(windows, func(w *window) bool { return slices.Contains(claims, w) })
}

// windows are those that a request counts in, the business's first.
func (k *Key) windows(heavy bool) []*window {
	if heavy {
		return []*window{k.business.limit, k.all, k.heavy}
	}
	return []*window{k.business.limit, k.all}
}

// admit gives the first of a queue his pass.
func (k *Key) admit(now instant, lane Lane, heavy int) {
	q := &k.queues[lane][heavy]
	w := (*q)[0]
	(*q)[0] = nil
	*q = (*q)[1:]
	p := &Pass{key: k, windows: k.windows(heavy == 1), sent: now}
	for _, win := range p.windows {
		win.take(now, lane.paced())
	}
	k.out[p] = struct{}{}
	k.granted[lane]++
	k.recent[lane] = append(expired(k.recent[lane], now), now+minute)
	w.pass <- p
}

// wake sets the timer.
func (b *business) wake(l *Ledger, now, again instant) {
	if again == b.at {
		return
	}
	b.at = again
	switch {
	case again == never:
		if b.timer != nil {
			b.timer.Stop()
		}
	case b.timer == nil:
		b.timer = time.AfterFunc(again-now, func() { b.look(l) })
	default:
		b.timer.Reset(again - now)
	}
}

func (b *business) look(l *Ledger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.at = never
	b.serve(l)
}
