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
	looks bool   // takes no place: nil is its pass
	turn  uint64 // counts the callers of the ledger
	pass  chan *Pass
}

// queue puts a caller into its lane and serves whom it can.
func (k *Key) queue(w *waiter) {
	l := k.ledger
	w.lane, w.pass = min(w.lane, Backfill), make(chan *Pass, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turns++
	w.turn = l.turns
	q := k.line(w)
	*q = append(*q, w)
	k.business.serve(l)
}

// line is the queue that a waiter stands in. Heavy requests have one of their
// own: waiting for the heavy limit must not hold up what it does not cover.
func (k *Key) line(w *waiter) *[]*waiter { return &k.queues[w.lane][weight(w.heavy)] }

// withdraw takes back a place in the queue, or a pass that came too late.
func (k *Key) withdraw(w *waiter) {
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case pass := <-w.pass:
		if pass != nil {
			pass.unsent()
		}
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
	for _, w := range p.counted() {
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

// weights of a request: plain and heavy.
const (
	plain = iota
	heavyweight
)

func weight(heavy bool) int {
	if heavy {
		return heavyweight
	}
	return plain
}

// mostOvertakings is how many places in a row go to higher lanes of a restaurant's keys, for
// each key, while a request of a lower lane could have them. The next one is its.
const mostOvertakings = 20

// grant serves the first waiter that may go: by lane, then the key served
// longest ago, then weight ([Key.turns]), then who came first. Since a place that
// comes back is always offered in this order, a lower lane takes none that a
// higher one can use, but one behind [mostOvertakings] others.
func (b *business) grant(now instant) (again instant, granted bool) {
	if b.grantOvertaken(now) {
		return 0, true
	}
	again = never
	for lane := range lanes {
		for i, k := range b.keys {
			for _, weight := range k.turns(lane) {
				if len(k.queues[lane][weight]) == 0 {
					continue
				}
				ok, at := decide(now, lane.paced(), k.limits[weight])
				if ok {
					b.overtake(now, k.queues[lane][weight][0])
					k.admit(now, lane, weight)
					copy(b.keys[i:], b.keys[i+1:])
					b.keys[len(b.keys)-1] = k
					return 0, true
				}
				again = min(again, at)
			}
		}
	}
	return again, false
}

// grantOvertaken serves a waiter of the lower lanes that was overtaken often enough,
// whatever the pace of its lane.
func (b *business) grantOvertaken(now instant) (granted bool) {
	for _, k := range b.keys {
		for weight, n := range k.overtakings {
			if n < mostOvertakings*len(b.keys) {
				continue
			}
			if w := k.longest(now, weight); w != nil {
				k.admit(now, w.lane, weight)
				return true
			}
		}
	}
	return false
}

// overtake counts the place that a request takes, for all below it that could have it.
func (b *business) overtake(now instant, served *waiter) {
	if served.looks {
		return
	}
	for _, k := range b.keys {
		for weight := range k.overtakings {
			if w := k.longest(now, weight); w != nil && served.lane < w.lane {
				k.overtakings[weight]++
			}
		}
	}
}

// longest is who waits longest in the lanes below fresh data, when every limit that it
// counts in has room; nil for nobody.
func (k *Key) longest(now instant, weight int) *waiter {
	var longest *waiter
	for lane := Fresh + 1; lane < lanes; lane++ {
		if q := k.queues[lane][weight]; len(q) > 0 && (longest == nil || q[0].turn < longest.turn) {
			longest = q[0]
		}
	}
	if longest == nil {
		return nil
	}
	if room, _ := decide(now, false, k.limits[weight]); !room {
		return nil
	}
	return longest
}

// turns are the queues of a lane in their order. Heavy requests have the scarcer
// places and go first: a walk that always has its next request ready would else
// make them miss theirs. Where the heavy limit is none of its own, who came first
// goes first.
func (k *Key) turns(lane Lane) [2]int {
	q := &k.queues[lane]
	if k.heavy.limit < k.all.limit || len(q[plain]) == 0 || len(q[heavyweight]) == 0 || q[heavyweight][0].turn < q[plain][0].turn {
		return [2]int{heavyweight, plain}
	}
	return [2]int{plain, heavyweight}
}

// admit gives the first of a queue his pass.
func (k *Key) admit(now instant, lane Lane, weight int) {
	q := &k.queues[lane][weight]
	w := (*q)[0]
	(*q)[0] = nil
	*q = (*q)[1:]
	if w.looks {
		w.pass <- nil
		return
	}
	p := &Pass{key: k, sent: now, limits: len(k.limits[weight])}
	for i, win := range k.limits[weight] {
		win.take(now, lane.paced())
		p.windows[i], p.gone[i], p.confirmed[i] = win, win.gone, win.previous.confirmed
	}
	k.out[p] = struct{}{}
	k.granted[lane]++
	if lane > Fresh {
		k.overtakings[weight] = 0
	}
	if lane < Backfill {
		urgent := &k.urgent[lane][weight]
		*urgent = append(expired(*urgent, now), now+remembered)
	}
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
	l.recovered(func() {
		b.at = never
		b.serve(l)
	})
}
