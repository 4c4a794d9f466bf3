package budget

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	paused  int
}

func newSource(l *Ledger, s *service, name string) *source {
	return &source{key: l.Key(name, 1), service: s, name: name, waits: map[Lane][]time.Duration{}}
}

// ask sends one request in a lane; false when the context ended.
func (s *source) ask(ctx context.Context, lane Lane, heavy bool) bool {
	asked := time.Now()
	pass, err := s.key.Enter(ctx, lane, heavy)
	if err != nil {
		return false
	}
	waited := time.Since(asked)
	pass.Leave(s.service.ask(s.name, heavy))
	s.mu.Lock()
	defer s.mu.Unlock()
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
func (s *source) every(ctx context.Context, group *sync.WaitGroup, r *rand.Rand, about time.Duration, n func() int, lane Lane) {
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

// TestHoursOfBackfill is DESIGN B2 and R7: whatever the service counts by, a
// backfill uses at least 98 % of the limit without one 429, and a fresh request
// waits for about one place.
func TestHoursOfBackfill(t *testing.T) {
	cases := []struct {
		name        string
		least, most time.Duration // one way
		burst       func(r *rand.Rand) func() int
		p99         time.Duration
	}{
		{"at once", 0, 0, single, 600 * time.Millisecond},
		{"nearby", 5 * time.Millisecond, 60 * time.Millisecond, single, 700 * time.Millisecond},
		{"far away", 50 * time.Millisecond, 300 * time.Millisecond, single, time.Second},
		{"bursts", 5 * time.Millisecond, 60 * time.Millisecond, upTo(12), 8 * time.Second},
		{"large bursts", 5 * time.Millisecond, 60 * time.Millisecond, upTo(60), 40 * time.Second},
	}
	for _, c := range cases {
		for name := range algorithms {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := rand.New(rand.NewPCG(1, 2))
					service := newService(name, DefaultLimits, c.least, c.most, 3)
					src := newSource(NewLedger(Options{Jitter: r.Float64}), service, "bistro")
					ctx, cancel := context.WithCancel(t.Context())
					var group sync.WaitGroup
					src.work(ctx, &group, 8, Backfill, false)
					src.every(ctx, &group, r, 30*time.Second, c.burst(r), Fresh)
					time.Sleep(2 * time.Minute)
					from := time.Now()
					time.Sleep(4 * time.Hour)
					usage := service.rate(from, time.Now()) / float64(DefaultLimits.PerMinute)
					cancel()
					group.Wait()
					fresh := src.waits[Fresh]
					t.Logf("usage %.2f %%, %d × 429, fresh waits p50 %s p99 %s (%d)", 100*usage, service.refusals,
						percentile(fresh, 0.5).Round(time.Millisecond), percentile(fresh, 0.99).Round(time.Millisecond), len(fresh))
					if service.refusals > 0 || most60(service.counted) > DefaultLimits.PerMinute {
						t.Errorf("%d × 429, %d requests within 60 s", service.refusals, most60(service.counted))
					}
					if usage < 0.98 {
						t.Errorf("usage %.2f %%, want at least 98 %%", 100*usage)
					}
					if p99 := percentile(fresh, 0.99); p99 > c.p99 {
						t.Errorf("fresh requests wait up to %s (p99), want at most %s", p99, c.p99)
					}
				})
			})
		}
	}
}

func single(*rand.Rand) func() int { return func() int { return 1 } }

func upTo(n int) func(r *rand.Rand) func() int {
	return func(r *rand.Rand) func() int { return func() int { return 1 + r.IntN(n) } }
}

var _ = fmt.Sprint
