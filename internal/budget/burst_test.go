package budget

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A backfill after a silence need not spread its first requests: nobody uses the key, and fresh requests still find
// one in every three seconds. It comes once: the minutes that follow are spread. In the first minute of a process
// half of what seems to be left is for the process that may come after it.
func TestASilentMinuteIsFollowedByABurst(t *testing.T) {
	for _, c := range []struct {
		silent time.Duration
		least  int // requests in 10 s
	}{{5 * time.Minute, 95}, {0, 50}} {
		for name := range algorithms {
			t.Run(fmt.Sprint(name, " after ", c.silent), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newDice(1)
					service := newService(name, DefaultLimits, 5*time.Millisecond, 60*time.Millisecond, 3)
					src := newSource(NewLedger(Options{Jitter: r.Float64}), service, "bistro")
					time.Sleep(c.silent)
					ctx, cancel := context.WithCancel(t.Context())
					var group sync.WaitGroup
					src.work(ctx, &group, 1, Backfill, false)
					src.every(ctx, &group, r, 10*time.Second, single(r), Fresh)
					time.Sleep(10 * time.Second)
					if n := src.sent(); n < c.least {
						t.Errorf("%d requests in the first 10 s, want %d", n, c.least)
					}
					time.Sleep(50 * time.Second)
					if longest := percentile(src.waits[Fresh], 1); longest > 4*time.Second {
						t.Errorf("a fresh request waited %s", longest)
					}
					time.Sleep(time.Minute) // what the burst has sent expires at once, too
					before := src.sent()
					time.Sleep(20 * time.Second)
					if n := src.sent() - before; n > 60 {
						t.Errorf("%d requests in 20 s of the third minute", n)
					}
					time.Sleep(10 * time.Minute)
					cancel()
					group.Wait()
					if service.refusals > 0 || most60(service.counted) > DefaultLimits.PerMinute {
						t.Errorf("%d × 429, %d requests within 60 s", service.refusals, most60(service.counted))
					}
				})
			})
		}
	}
}

func TestNoBurstWhereOthersUseTheKey(t *testing.T) {
	for name := range algorithms {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newDice(1)
				service := newService(name, DefaultLimits, 5*time.Millisecond, 60*time.Millisecond, 3)
				src := newSource(NewLedger(Options{Jitter: r.Float64}), service, "bistro")
				time.Sleep(5 * time.Minute)
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				theirs := 0
				group.Go(func() {
					for ctx.Err() == nil {
						if service.count("bistro", false).Status == 429 {
							theirs++
						}
						time.Sleep(4 * time.Second)
					}
				})
				time.Sleep(61 * time.Second)
				src.work(ctx, &group, 1, Backfill, false)
				time.Sleep(10 * time.Second)
				if n := src.sent(); n > 30 && name != "bucket" { // which is full again before it shows
					t.Errorf("%d requests in the first 10 s beside another program", n)
				}
				time.Sleep(3 * time.Minute)
				cancel()
				group.Wait()
				if theirs > 0 || service.refusals > 0 {
					t.Errorf("%d × 429, %d of them the other program's", service.refusals, theirs)
				}
			})
		})
	}
}
