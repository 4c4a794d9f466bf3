package sandbox

import (
	"net"
	"strconv"
	"strings"
	"time"
)

// wrongKeysPerMinute is how many wrong keys an address may send in a minute.
const wrongKeysPerMinute = 30

// admit finds the key and counts the request against every limit that applies.
func (rq *request) admit() *apiError {
	s := rq.s
	s.mu.Lock()
	defer s.mu.Unlock()
	rq.cursors = s.cursors
	a := s.keys.find(bearer(rq.r.Header.Get("Authorization")), rq.now)
	if a == nil {
		return rq.wrongKey()
	}
	rq.key = a.Key
	rq.b = s.Business(a.Business)
	if a.State == KeyDisabled {
		return fail(codeKeyDisabled)
	}
	return rq.countRequest(a)
}

func bearer(header string) string {
	scheme, value, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(value)
}

// wrongKey is api.md's rule per address: after 30 within a minute, 429 until
// the minute ends. A valid key never comes here.
func (rq *request) wrongKey() *apiError {
	host, _, err := net.SplitHostPort(rq.r.RemoteAddr)
	if err != nil {
		host = rq.r.RemoteAddr
	}
	addresses := rq.s.addresses
	m := addresses[host]
	if m == nil {
		if len(addresses) >= 10_000 {
			clear(addresses)
		}
		m = &fixedMinute{fromFirst: true}
		addresses[host] = m
	}
	left, retry := m.room(rq.now, wrongKeysPerMinute)
	if left <= 0 {
		rq.retryAfter(retry)
		return fail(codeRateLimited)
	}
	m.take(rq.now, wrongKeysPerMinute)
	return fail(codeUnauthorized)
}

func (rq *request) retryAfter(d time.Duration) {
	seconds := max(1, int((d+time.Second-1)/time.Second))
	rq.w.Header().Set("Retry-After", strconv.Itoa(seconds))
}

// budget is one limit with what it still allows.
type budget struct {
	limit, left int
	retry       time.Duration
}

// countRequest takes from the limits of key, restaurant and heavy routes, or
// from none when one has no room; both ways the headers tell the tightest.
func (rq *request) countRequest(a *app) *apiError {
	s := rq.s
	if s.opts.NoLimits {
		rq.rateHeaders(noLimit, noLimit)
		return nil
	}
	limits := []limiter{a.perKey, s.perBiz[a.Business]}
	sizes := []int{a.Limits.PerMinute, a.Limits.BusinessPerMinute}
	switch rq.route.limit {
	case heavyLimit:
		limits = append(limits, a.heavy)
		sizes = append(sizes, a.Limits.HeavyPerMinute)
	case orderLimit:
		limits = append(limits, a.orders)
		sizes = append(sizes, a.Limits.OrdersPerMinute)
	}
	refused := false
	var wait time.Duration
	budgets := make([]budget, len(limits))
	for i, l := range limits {
		left, retry := l.room(rq.now, sizes[i])
		budgets[i] = budget{sizes[i], max(left, 0), retry}
		if left <= 0 {
			refused = true
			wait = max(wait, retry)
		}
	}
	if refused {
		t := tightest(budgets, false)
		rq.rateHeaders(t.limit, 0)
		rq.retryAfter(wait)
		return fail(codeRateLimited)
	}
	for i, l := range limits {
		l.take(rq.now, sizes[i])
		budgets[i].left--
	}
	t := tightest(budgets, s.opts.Readings.TightestByLimit)
	rq.rateHeaders(t.limit, t.left)
	return nil
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

func (rq *request) rateHeaders(limit, remaining int) {
	h := rq.w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
}
