package syncer

import (
	"slices"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// written counts what is written of some streams from now on: rows and tombstones, and runs.
func (w *world) written(streams ...string) (rows func() map[string]int) {
	counts := map[string]int{}
	w.store.Watch(func(c *sinks.Commit, _ bool) {
		if !slices.Contains(streams, c.Stream) {
			return
		}
		n := len(c.Tombstones)
		if c.Batch != nil {
			n += len(c.Batch.Rows)
		}
		if c.Run != nil {
			n++
		}
		if n > 0 {
			counts[c.Stream] += n
		}
	})
	return func() map[string]int { return counts }
}

// A restart writes nothing that is stored: neither days of the totals, nor rows of the lookback, nor
// runs that brought nothing else. What has changed meanwhile is written.
func TestARestartWritesNothingThatIsStored(t *testing.T) {
	streams := []string{"categories", "products", "ingredients", "sales_orders", "online_orders", "sales_daily", "sales_products"}
	inWorld(t, sandbox.Options{Seed: 9, Orders: 300, Days: 60, ProductsPer: 10}, func(t *testing.T, w *world) {
		r := w.box.Restaurant(0)
		w.schedule.FullResync = "0 4 1 6 *"
		w.run()
		w.until("filled", time.Hour, w.filled)
		must(t, r.CancelOrder(r.IDs(sandbox.StreamSalesOrders)[0])) // a tombstone in the lookback
		time.Sleep(2 * time.Hour)
		for range 2 {
			w.halt()
			written := w.written(streams...)
			w.run()
			time.Sleep(2 * time.Hour)
			if got := written(); len(got) > 0 {
				t.Errorf("written after a restart: %v", got)
			}
		}
		w.halt()
		must(t, r.CancelOrder(r.IDs(sandbox.StreamSalesOrders)[1]))
		written := w.written(streams...)
		w.run()
		time.Sleep(26 * time.Hour) // past the deep run
		if got := written(); got["sales_orders"] == 0 || got["sales_daily"] == 0 || got["sales_products"] == 0 || len(got) != 3 {
			t.Errorf("written after an order was cancelled: %v", got)
		}
		if n := w.differing(); n > 0 {
			t.Errorf("%d lines differ", n)
		}
	})
}

// TestARestartAsksForTotalsAtTheirTurn, and shows until then what was proven before.
func TestARestartAsksForTotalsAtTheirTurn(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 57, Orders: 200, Days: 10, Record: true}, func(t *testing.T, w *world) {
		w.run()
		w.until("filled", time.Hour, w.filled)
		w.compared()
		proven := *w.source().Proof
		w.halt()
		turn := w.syncer.times.Load().Next(schedule.Reconcile, "r0", time.Now())
		time.Sleep(time.Until(turn) + time.Minute)
		turn = w.syncer.times.Load().Next(schedule.Reconcile, "r0", time.Now())
		before := len(w.box.Requests())
		w.run()
		time.Sleep(2 * time.Minute)
		if is := w.source(); is.Proof == nil || is.Proof.ProvenUntil != proven.ProvenUntil || is.Proof.UnaskedDays > 0 || is.Health().Kind != status.HealthGood {
			t.Errorf("two minutes after its start: %+v, %+v", is.Proof, is.Health())
		}
		time.Sleep(time.Until(turn) - time.Second)
		if asked := heavy(w.box.Requests()[before:]); len(asked) > 0 {
			t.Errorf("%d questions before its turn, the first %s before it", len(asked), turn.Sub(asked[0].at))
		}
		time.Sleep(time.Minute)
		if asked := heavy(w.box.Requests()[before:]); len(asked) != 2 || asked[0].deep {
			t.Errorf("at its turn: %+v", asked)
		}
	})
}
