package budget

import (
	"context"
	"time"
)

// Pass is the right to send one request, now.
type Pass struct {
	key       *Key
	limits    int        // how many of windows apply
	windows   [3]*window // the business's, the key's, the heavy routes'
	gone      [3]uint64  // of each, when the request was sent
	confirmed [3]int     // of each, likewise
	sent      instant
	left      bool
}

// Answer is what the service said about its limits.
type Answer struct {
	Status     int           // 0: no answer came
	Limit      int           // X-RateLimit-Limit; -1: not said
	Remaining  int           // X-RateLimit-Remaining; -1: not said
	RetryAfter time.Duration // 0: not said
	Date       time.Time     // the service's clock; unused
}

const (
	// silence is how much later than our giving up the service may still count a
	// request that it has not answered.
	silence = 15 * time.Second
	// blindPause is the pause after a 429 that does not say how long.
	blindPause = minute
	// maxJitter is the most that is added to a pause, so that a thousand keys
	// stopped together do not resume together.
	maxJitter = 5 * time.Second
)

// Enter waits until a request of this lane and weight may be sent. It returns
// the context's cause when that ends first. The pass must be left.
func (k *Key) Enter(ctx context.Context, lane Lane, heavy bool) (*Pass, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return k.wait(ctx, &waiter{key: k, lane: lane, heavy: heavy})
}

// Await waits like [Key.Enter] and takes no place: who has a lock to take before a
// request need not hold it while the limits are full.
func (k *Key) Await(ctx context.Context, lane Lane, heavy bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := k.wait(ctx, &waiter{key: k, lane: lane, heavy: heavy, looks: true})
	return err
}

func (k *Key) wait(ctx context.Context, w *waiter) (*Pass, error) {
	k.queue(w)
	select {
	case pass := <-w.pass:
		return pass, nil
	case <-ctx.Done():
		k.withdraw(w)
		return nil, context.Cause(ctx)
	}
}

// Leave takes the answer, as soon as its headers are here or none will come.
// Only the first call counts.
func (p *Pass) Leave(a Answer) {
	l := p.key.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.left {
		return
	}
	p.left = true
	delete(p.key.out, p)
	now := l.now()
	p.count(now, a)
	p.learn(now, a)
	p.key.business.serve(l)
}

// count moves the request from under way to counted.
func (p *Pass) count(now instant, a Answer) {
	var late instant
	if a.Status == 0 {
		late = silence
	} else {
		p.key.took(now - p.sent)
	}
	for _, w := range p.counted() {
		w.expire(now)
		w.answered(now, late)
	}
}

// learn draws what an answer says about the limits.
func (p *Pass) learn(now instant, a Answer) {
	if a.Status == 429 {
		p.refused(now, a)
		return
	}
	if a.Status == 0 {
		return
	}
	for _, w := range p.counted() {
		w.accepted(p.sent)
	}
	p.confirm(a)
	if i := p.meant(a.Limit); i >= 0 && a.Remaining >= 0 {
		p.windows[i].observe(now, p.sent, p.gone[i], p.confirmed[i], a.Remaining)
	}
}

// confirm notes that the service has counted the request, which every answer with
// figures shows, or that it has accepted it and shows none.
func (p *Pass) confirm(a Answer) {
	for _, w := range p.counted() {
		switch {
		case a.Remaining >= 0:
			w.previous.confirmed++
		case a.Status < 300:
			w.noAnswer()
		}
	}
}

// counted are the windows that the request counts in.
func (p *Pass) counted() []*window { return p.windows[:p.limits] }

// meant is the index of the window that an answer's figures are about: the one
// with that limit. A limit lower than any is news that /me has not reported yet,
// about the key, or about the heavy routes on one of those. It is -1 when it
// cannot be told.
func (p *Pass) meant(limit int) int {
	found := -1
	for i, w := range p.counted() {
		if w.limit != limit {
			continue
		}
		if found >= 0 {
			return -1 // two limits of one figure
		}
		found = i
	}
	last := p.limits - 1
	if found < 0 && limit > 0 && limit < p.windows[last].limit {
		p.windows[last].setLimit(limit, p.key.share)
		return last
	}
	return found
}

// refused stops what a 429 covers until it may be tried again, as far as its
// figures tell; else the key as a whole.
func (p *Pass) refused(now instant, a Answer) {
	l := p.key.ledger
	p.key.rateLimited++
	pause := a.RetryAfter
	if pause <= 0 {
		pause = blindPause
	}
	until := now + pause + jitter(l.opts.Jitter())
	w := p.key.all
	if i := p.meant(a.Limit); i >= 0 {
		w = p.windows[i]
	}
	w.refuse(now, until)
}

// jitter is at least a little: a Retry-After is in whole seconds.
func jitter(fraction float64) time.Duration {
	return 50*time.Millisecond + time.Duration(fraction*float64(maxJitter))
}

// took smooths the time an answer takes, for the forecast.
func (k *Key) took(latency time.Duration) {
	if k.latency == 0 {
		k.latency = latency
	}
	k.latency += (latency - k.latency) / 16
}
