package keys

import (
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
)

// wrongPerMinute is how many wrong keys an address may send in a minute.
const wrongPerMinute = 30

// Limits say how requests are counted.
type Limits struct {
	Algorithm string
	PerKey    types.RateLimits // of keys that name none of their own
	Off       bool
	// TightestByLimit is the reading of that name.
	TightestByLimit bool
}

// Kind is a limit of a key.
type Kind int

// The kinds of limit. Requests of every route count toward All, and toward the restaurant's.
const (
	All    Kind = iota
	Heavy       // 30 a minute of the sales aggregates together
	Orders      // 30 orders placed a minute
	kinds
)

func (l *Limits) limiters() (of [kinds]limiter) {
	for i := range of {
		of[i] = newLimiter(l.Algorithm)
	}
	return of
}

// counts are those of no single key.
type counts struct {
	perBusiness []limiter
	addresses   map[string]*fixedMinute // wrong keys, by source address
}

func newCounts(l Limits, businesses int) counts {
	c := counts{addresses: map[string]*fixedMinute{}}
	for range businesses {
		c.perBusiness = append(c.perBusiness, newLimiter(l.Algorithm))
	}
	return c
}

// Verdict is what becomes of a request.
type Verdict struct {
	Key     Key              // unless it is wrong
	Refused *refusal.Refusal // nil for one that is admitted
	// Counted is true when Limit and Left are those of the tightest limit.
	Counted     bool
	Limit, Left int
	Retry       time.Duration // when limits refuse it
}

// Admit finds the key of a request and counts it against every limit that applies: that of
// wrong keys by its address.
func (r *Ring) Admit(value, address string, kind Kind, now int64) Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.find(value, now)
	switch {
	case a == nil:
		return r.counts.wrong(address, now)
	case a.State == Disabled:
		return Verdict{Key: a.Key, Refused: refusal.Of(refusal.KeyDisabled)}
	}
	v := r.count(a, kind, now)
	v.Key = a.Key
	return v
}

// wrong follows the API's rule per address: after 30 within a minute, 429 until
// the minute ends. A valid key never comes here.
func (c *counts) wrong(address string, now int64) Verdict {
	m := c.addresses[address]
	if m == nil {
		if len(c.addresses) >= 10_000 {
			clear(c.addresses)
		}
		m = &fixedMinute{fromFirst: true}
		c.addresses[address] = m
	}
	left, retry := m.room(now, wrongPerMinute)
	if left <= 0 {
		return Verdict{Refused: refusal.Of(refusal.RateLimited), Retry: retry}
	}
	m.take(now, wrongPerMinute)
	return Verdict{Refused: refusal.Of(refusal.Unauthorized)}
}

// NoLimit is what is reported when limits are off.
const NoLimit = 60_000_000

// budget is one limit with what it still allows.
type budget struct {
	limiter
	limit, left int
}

// count takes from the limits of key, restaurant and kind, or
// from none when one has no room; both ways the verdict tells the tightest.
func (r *Ring) count(a *app, kind Kind, now int64) Verdict {
	if r.limits.Off {
		return Verdict{Counted: true, Limit: NoLimit, Left: NoLimit}
	}
	budgets := []budget{{limiter: a.limiters[All], limit: a.Limits.PerMinute}, {limiter: r.counts.perBusiness[a.Business], limit: a.Limits.BusinessPerMinute}}
	switch kind {
	case Heavy:
		budgets = append(budgets, budget{limiter: a.limiters[Heavy], limit: a.Limits.HeavyPerMinute})
	case Orders:
		budgets = append(budgets, budget{limiter: a.limiters[Orders], limit: a.Limits.OrdersPerMinute})
	}
	v := Verdict{Counted: true}
	for i := range budgets {
		b := &budgets[i]
		left, retry := b.room(now, b.limit)
		b.left = max(left, 0)
		if left <= 0 {
			v.Refused, v.Retry = refusal.Of(refusal.RateLimited), max(v.Retry, retry)
		}
	}
	if v.Refused != nil {
		v.Limit = tightest(budgets, false).limit
		return v
	}
	for i := range budgets {
		budgets[i].take(now, budgets[i].limit)
		budgets[i].left--
	}
	t := tightest(budgets, r.limits.TightestByLimit)
	v.Limit, v.Left = t.limit, t.left
	return v
}

// tightest is the limit that X-RateLimit-* report: the one with the least left,
// of equals the smaller; or, by the other reading, the smallest limit.
func tightest(budgets []budget, byLimit bool) budget {
	best := budgets[0]
	for _, b := range budgets[1:] {
		tighter := b.left < best.left || b.left == best.left && b.limit < best.limit
		if byLimit {
			tighter = b.limit < best.limit
		}
		if tighter {
			best = b
		}
	}
	return best
}
