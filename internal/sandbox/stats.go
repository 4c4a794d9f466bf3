package sandbox

import (
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Request is one request as the service saw it.
type Request struct {
	At     time.Time `json:"at"`
	From   string    `json:"from"` // source address
	App    string    `json:"app"`  // AppID, "" before the key was known
	Route  string    `json:"route"`
	URI    string    `json:"uri"`
	Status int       `json:"status"` // 0: the connection was cut
	Rows   int       `json:"rows"`
	Faults []string  `json:"faults,omitempty"` // kinds of those that struck it
}

// Stats counts what the service was asked.
type Stats struct {
	Requests       int            `json:"requests"`
	Rows           int            `json:"rows"`
	RateLimited    int            `json:"rate_limited"` // answers 429
	ByStatus       map[int]int    `json:"by_status"`
	ByRoute        map[string]int `json:"by_route"`
	DuplicatePages int            `json:"duplicate_pages"` // pages behind a cursor answered again
	// Minutes counts by AppID and minute of the clock (Unix time / 60); only
	// the last 24 hours are kept.
	Minutes map[string]map[int64]int `json:"minutes"`
}

// keptMinutes of counters per key.
const keptMinutes = 24 * 60

type statistics struct {
	mu     sync.Mutex
	record bool
	log    []Request
	pages  map[uint64]struct{}
	Stats
}

func (t *statistics) reset() {
	t.Stats = Stats{ByStatus: map[int]int{}, ByRoute: map[string]int{}, Minutes: map[string]map[int64]int{}}
	t.pages = map[uint64]struct{}{}
	t.log = nil
}

// count enters an answered request.
func (t *statistics) count(rq *request, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ByStatus == nil {
		t.reset()
	}
	t.Requests++
	t.Rows += rq.rows
	t.ByStatus[status]++
	t.ByRoute[rq.route.name]++
	if status == 429 {
		t.RateLimited++
	}
	t.countMinute(rq.key.AppID, rq.now/units.Minute)
	if status == 200 && rq.q != nil && rq.q.has("cursor") {
		page := seeded.Mix(seeded.Hash(rq.key.AppID+rq.route.name) ^ seeded.Hash(rq.r.URL.RawQuery))
		if _, again := t.pages[page]; again {
			t.DuplicatePages++
		}
		t.pages[page] = struct{}{}
	}
	if t.record {
		t.log = append(t.log, Request{time.UnixMicro(rq.now).UTC(), rq.r.RemoteAddr, rq.key.AppID, rq.route.name, rq.r.URL.RequestURI(), status, rq.rows, rq.struck})
	}
}

func (t *statistics) countMinute(app string, minute int64) {
	minutes := t.Minutes[app]
	if minutes == nil {
		minutes = map[int64]int{}
		t.Minutes[app] = minutes
	}
	minutes[minute]++
	if len(minutes) > 2*keptMinutes {
		for m := range minutes {
			if m < minute-keptMinutes {
				delete(minutes, m)
			}
		}
	}
}

// Stats are the counters since the start or the last ResetStats.
func (s *Sandbox) Stats() Stats {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	if s.stats.ByStatus == nil {
		s.stats.reset()
	}
	return s.stats.clone()
}

func (t *statistics) clone() Stats {
	out := t.Stats
	out.ByStatus, out.ByRoute, out.Minutes = map[int]int{}, map[string]int{}, map[string]map[int64]int{}
	for k, v := range t.ByStatus {
		out.ByStatus[k] = v
	}
	for k, v := range t.ByRoute {
		out.ByRoute[k] = v
	}
	for app, minutes := range t.Minutes {
		out.Minutes[app] = map[int64]int{}
		for m, n := range minutes {
			out.Minutes[app][m] = n
		}
	}
	return out
}

// ResetStats sets the counters to zero and forgets the requests recorded.
func (s *Sandbox) ResetStats() {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	s.stats.reset()
}

// Requests are the requests recorded (Options.Record), oldest first.
func (s *Sandbox) Requests() []Request {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	return append([]Request(nil), s.stats.log...)
}
