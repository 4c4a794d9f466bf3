package budget

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A backfill walk has its next request ready at every moment. The totals of the
// same lane, which the forecast waits for, must get their turn all the same.
func TestBusyWalkDoesNotStarveHeavyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewLedger(Options{}).Key("bistro", 1)
		k.SetLimits(Limits{PerMinute: 120, BusinessPerMinute: 600, HeavyPerMinute: 30}, "b")
		ctx, stop := context.WithCancel(t.Context())
		for range 2 { // two walkers: one is always waiting
			go func() {
				for {
					p, err := k.Acquire(ctx, Backfill, false)
					if err != nil {
						return
					}
					p.Done(silentOK)
				}
			}()
		}
		time.Sleep(10 * time.Second)
		for i := range 5 {
			asked := time.Now()
			acquire(t, k, Backfill, true).Done(silentOK)
			if waited := time.Since(asked); waited > 5*time.Second {
				t.Errorf("heavy request %d waited %s", i, waited)
			}
		}
		stop()
		synctest.Wait()
	})
}

// The fresh walks of a small key may need more than it allows, for hours: many rows of one
// instant are read again by each walk until one is newer. What stands in the lower lanes
// must come to an end all the same, and takes about a twentieth of the places.
func TestFreshWalksDoNotStarveTheLanesBelow(t *testing.T) {
	type asks struct {
		key   string
		lane  Lane
		heavy bool
		n     int           // walks, each of which always has its next request ready
		every time.Duration // or one at a time, at this interval
	}
	cases := []struct {
		name        string
		limits      Limits
		asks        []asks
		least, most float64 // the share of the places of its keys that each of the lower lanes has
	}{
		{
			"one walk below many", Limits{PerMinute: 15, BusinessPerMinute: 600, HeavyPerMinute: 15},
			[]asks{{key: "a", lane: Fresh, n: 125}, {key: "a", lane: Backfill, n: 1}}, 1 / 22., 1 / 20.,
		},
		{
			"all lanes", Limits{PerMinute: 15, BusinessPerMinute: 600, HeavyPerMinute: 15},
			[]asks{{key: "a", lane: Fresh, n: 20}, {key: "a", lane: Reconcile, n: 1}, {key: "a", lane: Backfill, n: 2}}, 1 / 66., 1 / 30.,
		},
		{
			"heavy ones among plain ones", Limits{PerMinute: 15, BusinessPerMinute: 600, HeavyPerMinute: 5},
			[]asks{{key: "a", lane: Fresh, n: 20}, {key: "a", lane: Fresh, heavy: true, n: 3}, {key: "a", lane: Deep, heavy: true, n: 1}, {key: "a", lane: Backfill, n: 1}}, 1 / 80., 1 / 20.,
		},
		{
			"beside a key that is hardly used", Limits{PerMinute: 15, BusinessPerMinute: 600, HeavyPerMinute: 15},
			[]asks{{key: "a", lane: Fresh, n: 20}, {key: "a", lane: Backfill, n: 1}, {key: "b", lane: Fresh, every: 10 * time.Second}}, 1 / 45., 1 / 20.,
		},
		{
			"two keys, and a limit of both", Limits{PerMinute: 15, BusinessPerMinute: 20, HeavyPerMinute: 15},
			[]asks{{key: "a", lane: Fresh, n: 20}, {key: "b", lane: Fresh, n: 20}, {key: "a", lane: Backfill, n: 1}, {key: "b", lane: Backfill, n: 1}}, 1 / 65., 1 / 35.,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := NewLedger(Options{})
				served := make([]atomic.Int64, len(c.asks))
				ctx, stop := context.WithCancel(t.Context())
				var group sync.WaitGroup
				for i, a := range c.asks {
					key := l.Key(a.key, 1)
					key.SetLimits(c.limits, "shared")
					for range max(a.n, 1) {
						group.Go(func() {
							for {
								p, err := key.Acquire(ctx, a.lane, a.heavy)
								if err != nil {
									return
								}
								served[i].Add(1)
								p.Done(silentOK)
								time.Sleep(a.every)
							}
						})
					}
				}
				time.Sleep(10 * time.Hour)
				stop()
				group.Wait()
				var all int64
				for i, a := range c.asks {
					if a.every == 0 {
						all += served[i].Load()
					}
				}
				for i, a := range c.asks {
					if share := float64(served[i].Load()) / float64(all); a.lane > Fresh && (share < c.least || share > c.most) {
						t.Errorf("%s of %s: %d of %d places", a.lane, a.key, served[i].Load(), all)
					}
				}
			})
		})
	}
}
