package sandbox

import (
	"maps"
	"slices"
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

// traffic is what the service was asked.
type traffic struct {
	record bool

	mu     sync.Mutex // guards what follows
	log    []Request
	pages  map[uint64]struct{}
	counts Stats
}

func newTraffic(record bool) *traffic {
	t := &traffic{record: record}
	t.ResetStats()
	return t
}

// ResetStats sets the counters to zero and forgets the requests recorded.
func (t *traffic) ResetStats() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts = Stats{ByStatus: map[int]int{}, ByRoute: map[string]int{}, Minutes: map[string]map[int64]int{}}
	t.pages = map[uint64]struct{}{}
	t.log = nil
}

// count enters an answered request.
func (t *traffic) count(rq *request, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Requests++
	t.counts.Rows += rq.rows
	t.counts.ByStatus[status]++
	t.counts.ByRoute[rq.route.name]++
	if status == 429 {
		t.counts.RateLimited++
	}
	t.countMinute(rq.key.AppID, rq.now/units.Minute)
	if status == 200 && rq.q != nil && rq.q.has("cursor") {
		page := seeded.Mix(seeded.Hash(rq.key.AppID+rq.route.name) ^ seeded.Hash(rq.r.URL.RawQuery))
		if _, again := t.pages[page]; again {
			t.counts.DuplicatePages++
		}
		t.pages[page] = struct{}{}
	}
	if t.record {
		t.log = append(t.log, Request{time.UnixMicro(rq.now).UTC(), rq.r.RemoteAddr, rq.key.AppID, rq.route.name, rq.r.URL.RequestURI(), status, rq.rows, rq.struck})
	}
}

func (t *traffic) countMinute(app string, minute int64) {
	minutes := t.counts.Minutes[app]
	if minutes == nil {
		minutes = map[int64]int{}
		t.counts.Minutes[app] = minutes
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
func (t *traffic) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.counts
	out.ByStatus, out.ByRoute, out.Minutes = maps.Clone(out.ByStatus), maps.Clone(out.ByRoute), maps.Clone(out.Minutes)
	for app, minutes := range out.Minutes {
		out.Minutes[app] = maps.Clone(minutes)
	}
	return out
}

// Requests are the requests recorded, oldest first. It panics without Options.Record: a
// test that looks for a request among none finds nothing wrong.
func (t *traffic) Requests() []Request {
	if !t.record {
		panic("sandbox: Requests without Options.Record")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.log)
}
