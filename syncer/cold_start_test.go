package syncer

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
)

// A program that is started again and again spends no more than one that stays up,
// whatever its clock says: what is stored bears the service's stamps.
func TestProcessesInARowKeepToTheLimits(t *testing.T) {
	inShort(t)
	for name, off := range map[string]time.Duration{"right": 0, "two hours ahead": 2 * time.Hour, "a day behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			limits := types.RateLimits{PerMinute: 60, BusinessPerMinute: 600, HeavyPerMinute: 8, OrdersPerMinute: 30}
			inWorld(t, sandbox.Options{Seed: 35, Orders: 20, Limits: limits}, func(t *testing.T, w *world) {
				w.tune = func(o *Options) { o.Now = func() time.Time { return time.Now().Add(off) } }
				w.once(Selection{})
				for range 12 {
					w.sink.Crash(0)
					w.syncer = nil
					w.once(Selection{Streams: []string{"sales_daily"}})
				}
				if n := w.box.Stats().RateLimited; n > 0 {
					t.Errorf("%d answers 429", n)
				}
			})
		})
	}
}
