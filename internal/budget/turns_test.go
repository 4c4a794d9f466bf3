package budget

import (
	"context"
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
