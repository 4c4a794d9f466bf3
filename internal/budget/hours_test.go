package budget

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// source is one key at work in a simulated day.
type source struct {
	key     *Key
	service *service
	name    string
	mu      sync.Mutex
	waits   map[Lane][]time.Duration
	refused int
}

func (s *source) refusals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// sent is how many of its requests were answered.
func (s *source) sent() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, waits := range s.waits {
		n += len(waits)
	}
	return n
}

func newSource(l *Ledger, s *service, name string) *source {
	return &source{key: l.Key(name, 1), service: s, name: name, waits: map[Lane][]time.Duration{}}
}

// ask sends one request in a lane; false when the context ended.
func (s *source) ask(ctx context.Context, lane Lane, heavy bool) bool {
	asked := time.Now()
	permit, err := s.key.Acquire(ctx, lane, heavy)
	if err != nil {
		return false
	}
	waited := time.Since(asked)
	answer := s.service.ask(s.name, heavy)
	permit.Done(answer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer.Status == 429 {
		s.refused++
	}
	s.waits[lane] = append(s.waits[lane], waited)
	return true
}

// work keeps n workers of a lane busy until the context ends.
func (s *source) work(ctx context.Context, group *sync.WaitGroup, n int, lane Lane, heavy bool) {
	for range n {
		group.Go(func() {
			for s.ask(ctx, lane, heavy) {
			}
		})
	}
}

// every sends n requests at once, again and again, a random time apart.
func (s *source) every(ctx context.Context, group *sync.WaitGroup, r *dice, about time.Duration, n func() int, lane Lane) {
	group.Go(func() {
		for ctx.Err() == nil {
			for range n() {
				group.Go(func() { s.ask(ctx, lane, false) })
			}
			select {
			case <-time.After(about/2 + time.Duration(r.Int64N(int64(about)))):
			case <-ctx.Done():
			}
		}
	})
}

func percentile(waits []time.Duration, p float64) time.Duration {
	if len(waits) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(waits))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// TestHoursOfBackfill is docs/rules.md B2 and R7: whatever the service counts by, a
// backfill uses at least 98 % of the limit without one 429, and most single fresh requests
// do not wait.
func TestHoursOfBackfill(t *testing.T) { backfilled(t, time.Hour) }

func backfilled(t *testing.T, d time.Duration) {
	if testing.Short() {
		t.Skip("TestHoursOfEverything has more keys and lanes meet")
	}
	cases := []struct {
		name        string
		least, most time.Duration // one way
		burst       func(r *dice) func() int
		p50, p99    time.Duration
	}{
		{"at once", 0, 0, single, 50 * time.Millisecond, 600 * time.Millisecond},
		{"nearby", 5 * time.Millisecond, 60 * time.Millisecond, single, 50 * time.Millisecond, 700 * time.Millisecond},
		{"far away", 50 * time.Millisecond, 300 * time.Millisecond, single, 50 * time.Millisecond, time.Second},
		{"bursts", 5 * time.Millisecond, 60 * time.Millisecond, upTo(12), 2 * time.Second, 8 * time.Second},
		{"large bursts", 5 * time.Millisecond, 60 * time.Millisecond, upTo(60), 12 * time.Second, 40 * time.Second},
	}
	for _, c := range cases {
		for name := range algorithms {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newDice(1)
					service := newService(name, DefaultLimits, c.least, c.most, 3)
					src := newSource(NewLedger(Options{Jitter: r.Float64}), service, "bistro")
					ctx, cancel := context.WithCancel(t.Context())
					var group sync.WaitGroup
					src.work(ctx, &group, 8, Backfill, false)
					src.every(ctx, &group, r, 30*time.Second, c.burst(r), Fresh)
					time.Sleep(2 * time.Minute)
					from := time.Now()
					time.Sleep(d)
					usage := service.rate(from, time.Now()) / float64(DefaultLimits.PerMinute)
					cancel()
					group.Wait()
					fresh := src.waits[Fresh]
					t.Logf("usage %.2f %%, %d × 429, fresh waits p50 %s p95 %s p99 %s (%d)", 100*usage, service.refusals,
						percentile(fresh, 0.5).Round(time.Millisecond), percentile(fresh, 0.95).Round(time.Millisecond), percentile(fresh, 0.99).Round(time.Millisecond), len(fresh))
					if service.refusals > 0 || most60(service.counted) > DefaultLimits.PerMinute {
						t.Errorf("%d × 429, %d requests within 60 s", service.refusals, most60(service.counted))
					}
					if usage < 0.98 {
						t.Errorf("usage %.2f %%, want at least 98 %%", 100*usage)
					}
					if p50, p99 := percentile(fresh, 0.5), percentile(fresh, 0.99); p50 > c.p50 || p99 > c.p99 {
						t.Errorf("fresh requests wait %s (p50) to %s (p99), want at most %s to %s", p50, p99, c.p50, c.p99)
					}
				})
			})
		}
	}
}

func single(*dice) func() int { return func() int { return 1 } }

func upTo(n int) func(r *dice) func() int {
	return func(r *dice) func() int { return func() int { return 1 + r.IntN(n) } }
}

// TestHoursOfEverything has three keys of a restaurant do everything at once,
// with limits that change, requests that get no answer, answers that say nothing
// about limits, and answers that take long: no 429, ever.
func TestHoursOfEverything(t *testing.T) {
	d := time.Hour
	if testing.Short() { // the same goroutines meet in less
		d = 10 * time.Minute
	}
	everythingAtOnce(t, d)
}

func everythingAtOnce(t *testing.T, d time.Duration) {
	for name := range algorithms {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/silent=%v", name, silent), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newDice(21)
					limits := Limits{PerMinute: 120, BusinessPerMinute: 250, HeavyPerMinute: 30}
					service := newService(name, limits, 0, 4*time.Second, 23)
					service.silent = silent
					service.lost = 0.02
					l := NewLedger(Options{Jitter: r.Float64})
					ctx, cancel := context.WithCancel(t.Context())
					var group sync.WaitGroup
					for i := range 3 {
						src := newSource(l, service, fmt.Sprintf("key%d", i))
						src.key.SetLimits(limits, "bistro")
						src.work(ctx, &group, 4*i, Backfill, false)
						src.work(ctx, &group, 2, Backfill, true)
						src.work(ctx, &group, 1, Reconcile, true)
						src.every(ctx, &group, r, 30*time.Second, func() int { return r.IntN(20) }, Fresh)
						src.every(ctx, &group, r, 5*time.Minute, func() int { return 1 }, Probe)
						group.Go(func() {
							for ctx.Err() == nil { // /me, now and then
								time.Sleep(5 * time.Minute)
								src.key.SetLimits(limits, "bistro")
							}
						})
					}
					time.Sleep(d)
					cancel()
					group.Wait()
					if service.refusals > 0 || most60(service.counted) > limits.BusinessPerMinute {
						t.Errorf("%d × 429, %d requests within 60 s", service.refusals, most60(service.counted))
					}
				})
			})
		}
	}
}

func underWay(k *Key) bool {
	k.ledger.mu.Lock()
	defer k.ledger.mu.Unlock()
	return k.all.inFlight > 0
}

// TestLimitsChangeWhileRunning halves and doubles the limits at the service; the
// key learns of it from the next /me.
func TestLimitsChangeWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := newService("sliding", DefaultLimits, 0, 50*time.Millisecond, 31)
		src := newSource(NewLedger(Options{}), service, "bistro")
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		src.work(ctx, &group, 8, Backfill, false)
		time.Sleep(10 * time.Minute)
		for _, perMinute := range []int{300, 60, 240} {
			for underWay(src.key) {
				time.Sleep(time.Millisecond) // what was sent before would be refused
			}
			service.mu.Lock()
			service.limits.PerMinute = perMinute
			service.keys["bistro"][0].(*sliding).limit = perMinute
			service.mu.Unlock()
			src.key.SetLimits(service.limits, "bistro")
			time.Sleep(2 * time.Minute)
			from, refused := time.Now(), service.refusals
			time.Sleep(10 * time.Minute)
			if usage := service.rate(from, time.Now()) / float64(perMinute); usage < 0.98 || usage > 1 || service.refusals > refused {
				t.Errorf("at %d a minute: usage %.2f %%, %d × 429", perMinute, 100*usage, service.refusals-refused)
			}
		}
		cancel()
		group.Wait()
		if service.refusals > 0 {
			t.Errorf("%d × 429", service.refusals)
		}
	})
}

// TestAShareIsKept leaves the rest of the limit to other programs.
func TestAShareIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := newService("fixed", DefaultLimits, 0, 50*time.Millisecond, 33)
		src := newSource(NewLedger(Options{}), service, "bistro")
		src.key = src.key.ledger.Key("half", 0.5)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		src.work(ctx, &group, 8, Backfill, false)
		src.work(ctx, &group, 4, Fresh, true)
		time.Sleep(30 * time.Minute)
		cancel()
		group.Wait()
		if most := most60(service.counted); most != 60 {
			t.Errorf("%d requests within 60 s, want half of the limit", most)
		}
		if heavy := len(src.waits[Fresh]); heavy < 14*30 || heavy > 16*30 {
			t.Errorf("%d heavy requests in 30 minutes, want 15 a minute", heavy)
		}
	})
}
