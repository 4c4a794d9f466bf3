package syncer

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

// differing verifies the totals, and counts the lines that differed at first sight.
func (w *world) differing() (n uint64) {
	w.t.Helper()
	report, err := w.syncer.Verify(w.t.Context(), Selection{Streams: []string{"sales_daily", "sales_products"}}, nil, nil)
	if err != nil || report.Err() != nil {
		w.t.Fatalf("verify: %v %v", err, report.Err())
	}
	for _, s := range report.Sources[0].Streams {
		n += s.Settled + s.Differences + s.Unjudged
	}
	return n
}

// What changes about days long past comes with the next full resync, by schedule and by
// a person's word.
func TestAFullResyncAsksForAllDays(t *testing.T) {
	for name, scheduled := range map[string]bool{"by schedule": true, "by word": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 51, Orders: 400, Days: 300, ProductsPer: 10}, func(t *testing.T, w *world) {
				w.schedule = Schedule{FullResync: "0 4 1 1 *", ReconcileDeep: "0 4 1 1 *"}
				if scheduled {
					w.schedule.FullResync = "@every 6h"
				}
				w.run()
				w.until("filled", time.Hour, w.filled)
				w.purge(8) // their sold lines lose product_id, on every day they were sold
				r := w.box.Restaurant(0)
				for _, id := range r.IDs(sandbox.StreamSalesOrders)[:20] {
					must(t, r.CancelOrder(id))
				}
				time.Sleep(30 * time.Minute)
				if scheduled {
					time.Sleep(12 * time.Hour)
				} else if _, err := w.full(Selection{}); err != nil {
					t.Fatal(err)
				}
				if n := w.differing(); n > 0 {
					t.Errorf("%d lines differ", n)
				}
				if !scheduled {
					return
				}
				w.halt()
				before := w.store.Commits()
				w.run()
				time.Sleep(10 * time.Minute)
				if n := w.store.Commits() - before; n > 20 {
					t.Errorf("%d commits after a restart: all days were asked for once more", n)
				}
			})
		})
	}
}
