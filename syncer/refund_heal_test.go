package syncer

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
)

// The refunds of a removed order explain no day where as much was lost of a live one.
func TestALostRefundOfAsMuchIsHealed(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20}, func(t *testing.T, w *world) {
		business := w.proven()
		time.Sleep(24 * time.Hour)
		id, day := w.refunded(20, 0)
		other, _ := w.refunded(22, 0)
		time.Sleep(time.Hour)
		if err := w.box.Restaurant(0).CancelOrder(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		for _, column := range []string{"amount", "method", "at", "item_id"} {
			w.store.EditColumn(registry.Orders, business, other, "refunds."+column, `[]`)
		}
		w.deep()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if v, n := w.verdicts()["daily "+day], w.wrongOrders(); v.Verdict != sinks.VerdictHealed || n > 0 {
			t.Errorf("%d wrong: %+v", n, v)
		}
	})
}

// Nor do they where an order that has changed since is in quarantine.
func TestARefundInQuarantineIsNotExplained(t *testing.T) {
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 51, Orders: 800, Days: 20})
		if err != nil {
			t.Fatal(err)
		}
		spoiling := &spoiling{box: box} // of explained_test.go
		w := newWorld(t, spoiling)
		w.box = box
		w.proven()
		time.Sleep(24 * time.Hour)
		restaurant, day := box.Restaurant(0), daysAgo(0)
		ids := restaurant.IDs(sandbox.StreamSalesOrders)
		err = restaurant.RefundOrder(ids[20], 1234)
		time.Sleep(time.Hour)
		err = errors.Join(err, restaurant.CancelOrder(ids[20]))
		time.Sleep(time.Hour)
		spoiling.id.Store(&ids[22])
		if err = errors.Join(err, restaurant.RefundOrder(ids[22], 1234)); err != nil {
			t.Fatal(err)
		}
		w.deep()
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictDrift {
			t.Errorf("%+v", v)
		}
	})
}
