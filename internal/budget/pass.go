package budget

import (
	"context"
	"time"
)

// Pass is the right to send one request, now.
type Pass struct {
	key     *Key
	windows []*window // the business's first, then the key's, then the heavy routes'
	sent    instant
	left    bool
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
	w := k.queue(lane, heavy)
	select {
	case pass := <-w.pass:
		return pass, nil
	case <-ctx.Done():
		k.withdraw(w)
		return nil, context.Cause(ctx)
	}
}

// Leave tells the answer, as soon as its headers are here or none will come.
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
	for _, w := range p.windows {
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
	for _, w := range p.windows {
		w.alone = false
	}
	if w := p.meant(a.Limit); w != nil && a.Remaining >= 0 {
		w.observe(now, p.sent, a.Remaining)
	}
}

// meant is the window that an answer's figures are about: the one with that
// limit. A lower limit than any is news that /me has not told yet, and about the
// key, or about the heavy routes on one of those. Nil when it cannot be told.
func (p *Pass) meant(limit int) *window {
	var found *window
	for _, w := range p.windows {
		if w.limit != limit {
			continue
		}
		if found != nil {
			return nil // two limits of one figure
		}
		found = w
	}
	if found != nil || limit <= 0 {
		return found
	}
	if w := p.windows[len(p.windows)-1]; limit < w.limit {
		w.setLimit(limit, p.key.share)
		return w
	}
	return nil
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
	if w := p.meant(a.Limit); w != nil {
		w.refuse(now, until)
		return
	}
	p.key.all.refuse(now, until)
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
