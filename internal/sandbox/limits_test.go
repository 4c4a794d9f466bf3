package sandbox

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// docs/openapi.yaml, Limits a minute: 120 a minute per key under each way to count a minute.
func TestRequestsPerKey(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		offset    time.Duration // of the first request within a clock minute
		retry     string        // after 120 at once
		later     int           // how many fit 30 s later
		after     int           // and how many more at 60 s
	}{
		{AlgorithmFixed, 20 * time.Second, "40", 0, 120},
		{AlgorithmFixedFirst, 20 * time.Second, "60", 0, 120},
		{AlgorithmSliding, 20 * time.Second, "60", 0, 120},
		{AlgorithmBucket, 20 * time.Second, "1", 60, 60},
	} {
		t.Run(c.algorithm, func(t *testing.T) {
			h := newHarness(t, Options{Algorithm: c.algorithm, Orders: -1})
			h.clock = testEpoch.Add(c.offset)
			for i := range 120 {
				a := h.get("/me")
				if a.status != 200 || a.header.Get("X-RateLimit-Limit") != "120" || a.header.Get("X-RateLimit-Remaining") != strconv.Itoa(119-i) {
					t.Fatalf("request %d: %d %v", i+1, a.status, a.header)
				}
			}
			a := h.get("/me")
			h.refused(a, 429, "rate_limited")
			if a.header.Get("Retry-After") != c.retry || a.header.Get("X-RateLimit-Remaining") != "0" {
				t.Fatalf("Retry-After %q, want %q", a.header.Get("Retry-After"), c.retry)
			}
			h.clock = h.clock.Add(30 * time.Second)
			if got := h.fits(); got != c.later {
				t.Errorf("%d requests 30 s later, want %d", got, c.later)
			}
			h.clock = h.clock.Add(30 * time.Second)
			if got := h.fits(); got != c.after {
				t.Errorf("%d requests 60 s later, want %d", got, c.after)
			}
		})
	}
}

// fits counts how many requests are answered before a 429.
func (h *harness) fits() int {
	for i := 0; ; i++ {
		if h.get("/me").status == 429 {
			return i
		}
	}
}

// After Retry-After there is room, whatever the algorithm.
func TestRetryAfterIsEnough(t *testing.T) {
	for _, algorithm := range []string{AlgorithmFixed, AlgorithmFixedFirst, AlgorithmSliding, AlgorithmBucket} {
		h := newHarness(t, Options{Algorithm: algorithm, Orders: -1})
		g := seeded.New(seeded.Hash(algorithm))
		for range 2000 {
			h.clock = h.clock.Add(time.Duration(g.N(900)) * time.Millisecond)
			a := h.get("/me")
			if a.status == 200 {
				continue
			}
			seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
			if err != nil {
				t.Fatal(err)
			}
			h.clock = h.clock.Add(time.Duration(seconds) * time.Second)
			if a := h.get("/me"); a.status != 200 {
				t.Fatalf("%s: %d after Retry-After %d", algorithm, a.status, seconds)
			}
		}
	}
}

// "/sales/daily plus /sales/products per key: 30 per minute together"; they also
// count in the 120; the headers tell the tightest limit.
func TestHeavyLimit(t *testing.T) {
	h := newHarness(t, Options{Orders: -1})
	for i := range 30 {
		uri := []string{"/sales/daily", "/sales/products"}[i%2]
		a := h.get(uri)
		if a.status != 200 || a.header.Get("X-RateLimit-Limit") != "30" || a.header.Get("X-RateLimit-Remaining") != strconv.Itoa(29-i) {
			t.Fatalf("request %d: %d %v", i+1, a.status, a.header)
		}
	}
	a := h.get("/sales/daily")
	h.refused(a, 429, "rate_limited")
	if a.header.Get("X-RateLimit-Limit") != "30" {
		t.Errorf("limit %s", a.header.Get("X-RateLimit-Limit"))
	}
	if a := h.get("/me"); a.header.Get("X-RateLimit-Remaining") != "89" {
		t.Errorf("the 30 are not in the 120: %v", a.header)
	}
}

// When the key's own limit has less left than the heavy one, it is the tightest.
func TestTightestLimit(t *testing.T) {
	for byLimit, want := range map[bool]string{false: "120 9", true: "30 29"} {
		h := newHarness(t, Options{Orders: -1, Readings: Readings{TightestByLimit: byLimit}})
		for range 110 {
			h.get("/me")
		}
		a := h.get("/sales/daily")
		if got := a.header.Get("X-RateLimit-Limit") + " " + a.header.Get("X-RateLimit-Remaining"); got != want {
			t.Errorf("by limit %v: %s, want %s", byLimit, got, want)
		}
	}
}

// "Requests per restaurant, all keys together: 600 per minute."
func TestRequestsPerRestaurant(t *testing.T) {
	h := newHarness(t, Options{Orders: -1, Businesses: 2})
	answered := 0
	for i := range 8 {
		k := h.AddKey(Key{Name: fmt.Sprint(i), AllLocations: true})
		for range 120 {
			if h.do("GET", k.Value, "/me").status == 200 {
				answered++
			}
		}
	}
	if answered != 600 {
		t.Errorf("%d answered", answered)
	}
	if a := h.do("GET", h.Key(1, RoleMain).Value, "/me"); a.status != 200 {
		t.Errorf("the other restaurant: %d", a.status)
	}
	if a := h.get("/me"); a.header.Get("X-RateLimit-Limit") != "600" {
		t.Errorf("limit %s", a.header.Get("X-RateLimit-Limit"))
	}
}

// Every answer to a valid key carries the headers and counts, errors included.
func TestErrorsCount(t *testing.T) {
	h := newHarness(t, Options{Orders: -1})
	for i, uri := range []string{"/products?limit=0", "/products/none", "/ingredients?location_id=x"} {
		if a := h.get(uri); a.header.Get("X-RateLimit-Remaining") != strconv.Itoa(119-i) {
			t.Errorf("%s: %v", uri, a.header)
		}
	}
	if a := h.do("GET", h.Key(0, RoleSales).Value, "/products"); a.status != 403 || a.header.Get("X-RateLimit-Remaining") != "119" {
		t.Errorf("403: %v", a.header)
	}
}

// After 30 requests without a valid key, an address receives 429 for such requests until the
// minute ends. Its requests with a valid key are answered.
func TestWrongKeysPerAddress(t *testing.T) {
	h := newHarness(t, Options{Orders: -1})
	for range 30 {
		h.refused(h.do("GET", "wrong", "/me"), 401, "unauthorized")
	}
	h.clock = h.clock.Add(20 * time.Second)
	a := h.do("GET", "", "/products")
	h.refused(a, 429, "rate_limited")
	if a.header.Get("Retry-After") != "40" || a.header.Get("X-RateLimit-Limit") != "" {
		t.Errorf("headers %v", a.header)
	}
	if a := h.get("/me"); a.status != 200 {
		t.Errorf("a valid key: %d", a.status)
	}
	h.clock = h.clock.Add(40 * time.Second)
	h.refused(h.do("GET", "wrong", "/me"), 401, "unauthorized")
}

func TestNoLimits(t *testing.T) {
	h := newHarness(t, Options{Orders: -1, NoLimits: true})
	for range 500 {
		if a := h.get("/me"); a.status != 200 {
			t.Fatalf("%d", a.status)
		}
	}
}
