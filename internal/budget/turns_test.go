package budget

import (
	"context"
	"slices"
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
					p, err := k.Enter(ctx, Backfill, false)
					if err != nil {
						return
					}
					p.Leave(silentOK)
				}
			}()
		}
		time.Sleep(10 * time.Second)
		for i := range 5 {
			asked := time.Now()
			enter(t, k, Backfill, true).Leave(silentOK)
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
// must come to an end all the same, and takes a twentieth of the places.
func TestFreshWalksDoNotStarveTheLanesBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Options{})
		var served [2][lanes]atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		for i, key := range []*Key{l.Key("a", 1), l.Key("b", 1)} {
			key.SetLimits(Limits{PerMinute: 15, BusinessPerMinute: 20, HeavyPerMinute: 15}, "shared")
			for _, lane := range append([]Lane{Reconcile, Deep, Backfill, Backfill}, slices.Repeat([]Lane{Fresh}, 20)...) {
				go func() {
					for {
						p, err := key.Enter(ctx, lane, lane == Deep)
						if err != nil {
							return
						}
						served[i][lane].Add(1)
						p.Leave(silentOK)
					}
				}()
			}
		}
		time.Sleep(10 * time.Hour)
		stop()
		synctest.Wait()
		var all, below int64
		for i := range served {
			for lane := range lanes {
				n := served[i][lane].Load()
				all += n
				if lane > Fresh {
					below += n
				}
				if lane > Fresh && n < 50 {
					t.Errorf("key %d: %s was served %d times", i, lane, n)
				}
			}
		}
		if all < 10*60*19 || below < all/22 || below > all/20 {
			t.Errorf("%d requests in ten hours, %d of them of the lanes below", all, below)
		}
	})
}
