package budget

import (
	"math/rand/v2"
	"sync"
	"time"
)

// counter is one limit as a service may count it: admit counts a request at now,
// or says how long to wait.
type counter interface {
	admit(now time.Time) (remaining int, retry time.Duration, ok bool)
}

// algorithms are the ways to count a minute, each begun at a random phase.
var algorithms = map[string]func(limit int, r *dice) counter{
	"fixed": func(limit int, r *dice) counter {
		return &fixed{limit: limit, phase: time.Duration(r.Int64N(int64(minute)))}
	},
	"sliding": func(limit int, _ *dice) counter { return &sliding{limit: limit} },
	"bucket":  func(limit int, _ *dice) counter { return &bucket{limit: limit, tokens: float64(limit)} },
}

// fixed counts by minutes that begin at a phase of the clock's.
type fixed struct {
	limit int
	phase time.Duration
	start time.Time
	n     int
}

func (f *fixed) admit(now time.Time) (int, time.Duration, bool) {
	start := now.Add(-f.phase).Truncate(minute).Add(f.phase)
	if !start.Equal(f.start) {
		f.start, f.n = start, 0
	}
	if f.n >= f.limit {
		return 0, start.Add(minute).Sub(now), false
	}
	f.n++
	return f.limit - f.n, 0, true
}

// sliding counts the last 60 seconds.
type sliding struct {
	limit int
	at    []time.Time
}

func (s *sliding) admit(now time.Time) (int, time.Duration, bool) {
	for len(s.at) > 0 && now.Sub(s.at[0]) >= minute {
		s.at = s.at[1:]
	}
	if len(s.at) >= s.limit {
		return 0, minute - now.Sub(s.at[0]), false
	}
	s.at = append(s.at, now)
	return s.limit - len(s.at), 0, true
}

// bucket refills evenly, once a second.
type bucket struct {
	limit  int
	tokens float64
	at     time.Time
}

func (b *bucket) admit(now time.Time) (int, time.Duration, bool) {
	if b.at.IsZero() {
		b.at = now
	}
	ticks := now.Sub(b.at) / time.Second
	b.at = b.at.Add(ticks * time.Second)
	b.tokens = min(float64(b.limit), b.tokens+float64(ticks)*float64(b.limit)/60)
	if b.tokens < 1 {
		return 0, b.at.Add(time.Second).Sub(now), false
	}
	b.tokens--
	return int(b.tokens), 0, true
}

// dice are a seeded source of chance for several goroutines.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{rand: rand.New(rand.NewPCG(seed, 7))} }

func (d *dice) Float64() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.Float64()
}

func (d *dice) Int64N(n int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.Int64N(n)
}

func (d *dice) IntN(n int) int { return int(d.Int64N(int64(n))) }

// service is a service with a restaurant's keys: it takes its time, counts each
// request at some instant of it, and answers.
type service struct {
	mu       sync.Mutex
	rand     *dice
	limits   Limits
	make     func(limit int) counter
	business counter
	keys     map[string][2]counter // all, heavy
	// latency of each way.
	least, most time.Duration
	silent      bool    // no X-RateLimit headers
	smallest    bool    // the headers are the smallest limit's, not those of the one with the least left
	lost        float64 // part of the requests that are counted and not answered

	counted  []time.Time
	refusals int
}

func newService(algorithm string, limits Limits, least, most time.Duration, seed uint64) *service {
	r := newDice(seed)
	s := &service{rand: r, limits: limits, least: least, most: most, keys: map[string][2]counter{}}
	s.make = func(limit int) counter { return algorithms[algorithm](limit, r) }
	s.business = s.make(limits.BusinessPerMinute)
	return s
}

func (s *service) between() time.Duration {
	if s.most <= s.least {
		return s.least
	}
	return s.least + time.Duration(s.rand.Int64N(int64(s.most-s.least)))
}

// ask sends one request; it takes simulated time.
func (s *service) ask(key string, heavy bool) Answer {
	s.mu.Lock()
	there, back, lost := s.between(), s.between(), s.rand.Float64() < s.lost
	s.mu.Unlock()
	time.Sleep(there)
	a := s.count(key, heavy)
	time.Sleep(back)
	if lost {
		return Answer{Limit: -1, Remaining: -1}
	}
	return a
}

// count admits a request by every limit that applies, and reports the one with
// the least remaining.
func (s *service) count(key string, heavy bool) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	k, ok := s.keys[key]
	if !ok {
		k = [2]counter{s.make(s.limits.PerMinute), s.make(s.limits.HeavyPerMinute)}
		s.keys[key] = k
	}
	apply := []counter{k[0], s.business}
	limits := []int{s.limits.PerMinute, s.limits.BusinessPerMinute}
	if heavy {
		apply, limits = append(apply, k[1]), append(limits, s.limits.HeavyPerMinute)
	}
	a := Answer{Status: 200, Limit: -1, Remaining: -1}
	for i, c := range apply {
		remaining, retry, ok := c.admit(now)
		if !ok {
			s.refusals++
			return s.said(Answer{Status: 429, Limit: limits[i], RetryAfter: retry.Truncate(time.Second) + time.Second})
		}
		if a.Limit < 0 || !s.smallest && remaining < a.Remaining || s.smallest && limits[i] < a.Limit {
			a.Limit, a.Remaining = limits[i], remaining
		}
	}
	s.counted = append(s.counted, now)
	return s.said(a)
}

func (s *service) said(a Answer) Answer {
	if s.silent {
		a.Limit, a.Remaining = -1, -1
	}
	return a
}

// rate is how many requests were counted in a minute, on average from from on.
func (s *service) rate(from, to time.Time) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, at := range s.counted {
		if !at.Before(from) && at.Before(to) {
			n++
		}
	}
	return float64(n) / to.Sub(from).Minutes()
}

// most60 is the largest number of requests counted in any 60 seconds.
func most60(at []time.Time) int {
	most, first := 0, 0
	for i := range at {
		for at[i].Sub(at[first]) >= minute {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
