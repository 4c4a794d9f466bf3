package budget

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestForecastIsExact is docs/rules.md B5: what is said while a backfill runs comes
// true.
func TestForecastIsExact(t *testing.T) {
	cases := []struct {
		name   string
		share  float64
		lane   Lane
		heavy  bool
		others time.Duration // between fresh requests, 0 for none
		sends  int
	}{
		{"alone", 1, Backfill, false, 0, 6000},
		{"beside fresh requests", 1, Backfill, false, 4 * time.Second, 6000},
		{"half of the key", 0.5, Backfill, false, 0, 3000},
		{"heavy", 1, Backfill, true, 0, 1500},
		{"deep", 1, Deep, true, 0, 1500},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := newService("sliding", DefaultLimits, 50*time.Millisecond, 150*time.Millisecond, 13)
				src := newSource(NewLedger(Options{}), service, "bistro")
				src.key = src.key.ledger.Key("shared", c.share)
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				if c.others > 0 {
					src.every(ctx, &group, newDice(1), c.others, func() int { return 1 }, Fresh)
				}
				time.Sleep(2 * time.Minute)
				var mu sync.Mutex
				left, began := c.sends, time.Now()
				var said time.Duration
				var saidAt time.Time
				var backfill sync.WaitGroup
				for range 6 {
					backfill.Go(func() {
						for {
							mu.Lock()
							if left == c.sends*9/10 {
								said, saidAt = src.key.Forecast(left, c.lane, c.heavy), time.Now()
							}
							left--
							stop := left < 0
							mu.Unlock()
							if stop {
								return
							}
							src.ask(ctx, c.lane, c.heavy)
						}
					})
				}
				backfill.Wait()
				took := time.Since(saidAt)
				cancel()
				group.Wait()
				t.Logf("said %s, took %s (%s in all)", said, took, time.Since(began))
				if off := float64(said-took) / float64(took); off < -0.02 || off > 0.02 {
					t.Errorf("said %s, took %s", said, took)
				}
			})
		})
	}
}

func TestForecastKnowsPausesAndOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Options{Jitter: func() float64 { return 0 }})
		k, other := l.Key("a", 1), l.Key("b", 1)
		limits := Limits{PerMinute: 60, BusinessPerMinute: 60, HeavyPerMinute: 30}
		k.SetLimits(limits, "bistro")
		other.SetLimits(limits, "bistro")
		if k.Forecast(0, Backfill, false) != 0 || k.Forecast(-4, Backfill, true) != 0 {
			t.Error("nothing takes time")
		}
		cycle := minute + 250*time.Millisecond
		if got := k.Forecast(60, Backfill, false); got != cycle {
			t.Errorf("60 plain take %s", got)
		}
		if got := k.Forecast(60, Backfill, true); got != 2*cycle {
			t.Errorf("60 heavy take %s", got)
		}
		for range 30 {
			acquire(t, other, Fresh, false).Done(silentOK)
		}
		if got := k.Forecast(60, Backfill, false); got != 2*cycle {
			t.Errorf("60 plain beside another key take %s", got)
		}
		acquire(t, k, Fresh, true).Done(Answer{Status: 429, Limit: 30, RetryAfter: time.Hour})
		if got := k.Forecast(30, Backfill, true); got < time.Hour {
			t.Errorf("30 heavy take %s, paused for an hour", got)
		}
	})
}
