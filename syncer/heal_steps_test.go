package syncer

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// refusing answers 503 to the requests that match, of a world otherwise as any.
type refusing struct {
	matches atomic.Pointer[func(*http.Request) bool]
}

func (f *refusing) set(matches func(*http.Request) bool) { f.matches.Store(&matches) }

func inRefusingWorld(t *testing.T, opts sandbox.Options, test func(t *testing.T, w *world, refuse *refusing)) {
	t.Helper()
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		opts.Inspect = apicheck.Inspect(t)
		box, err := sandbox.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		refuse := &refusing{}
		refuse.set(func(*http.Request) bool { return false })
		w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if (*refuse.matches.Load())(r) {
				http.Error(rw, "", http.StatusServiceUnavailable)
				return
			}
			box.Handler().ServeHTTP(rw, r)
		}))
		w.box = box
		test(t, w, refuse)
	})
}

// orderWalk reports whether a request is a walk of the orders of one day; of any day when it is empty.
func orderWalk(r *http.Request, day string) bool {
	from := r.URL.Query().Get("from")
	return strings.HasSuffix(r.URL.Path, "/sales/orders") && from != "" && (day == "" || from == day)
}

// resyncs counts the full resyncs of the orders that have come to their end.
func (w *world) resyncs() (n int) {
	for _, r := range w.store.Runs() {
		if r.Stream == registry.Orders && r.Walk == sinks.WalkSweep {
			n++
		}
	}
	return n
}

// tipped changes an order of a day behind the mirror's back. Of one that is stuck no walk changes it
// back.
func (w *world) tipped(business, day, tip string, stuck bool) (id string) {
	w.t.Helper()
	id = w.liveOrders(business, day)[0]
	w.store.EditColumn(registry.Orders, business, id, "totals_tip", fmt.Sprintf("%q", tip))
	if stuck {
		w.store.Edit(registry.Orders, business, id, func(r *memsink.Row) { r.Version = 1 << 62 })
	}
	return id
}

// withoutRefunds loses the refunds of an order behind the mirror's back.
func (w *world) withoutRefunds(business, id string) {
	for _, column := range []string{"amount", "method", "at", "item_id"} {
		w.store.EditColumn(registry.Orders, business, id, "refunds."+column, `[]`)
	}
}

// TestADayThatCannotBeFetchedHoldsUpNoOther: it owes a full resync as any other that its first step
// did not help.
func TestADayThatCannotBeFetchedHoldsUpNoOther(t *testing.T) {
	inRefusingWorld(t, sandbox.Options{Seed: 45, Orders: 900, Days: 20}, func(t *testing.T, w *world, refuse *refusing) {
		business := w.proven()
		for n := 3; n <= 6; n++ {
			w.tipped(business, daysAgo(n), "900.00", false)
		}
		next := w.syncer.times.Load().Next(schedule.ReconcileDeep, "r0", time.Now())
		bad := daysBefore(schedule.DayOf(next), 4)
		refuse.set(func(r *http.Request) bool { return orderWalk(r, bad) })
		time.Sleep(time.Until(next))
		w.until("the other days are healed", time.Hour, func() bool {
			healed := 0
			for _, v := range w.verdicts() {
				if v.Subject == sinks.SubjectDaily && v.Location == "" && v.Verdict == sinks.VerdictHealed && v.Day != bad {
					healed++
				}
			}
			return healed == 3
		})
		w.until("the full resync", time.Hour, func() bool { return w.resyncs() == 1 })
		w.until("the last day is healed", 2*time.Hour, func() bool { return w.verdicts()["daily "+bad].Verdict == sinks.VerdictHealed })
		if n := w.wrongOrders(); n > 0 {
			t.Errorf("%d orders are wrong", n)
		}
	})
}

// TestFetchingDaysThatDoesNotHelpIsBounded: five in a row have one cause, and all of them owe one full resync.
// A day is fetched once, whichever streams find it.
func TestFetchingDaysThatDoesNotHelpIsBounded(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 46, Orders: 900, Days: 20, Record: true}, func(t *testing.T, w *world) {
		business := w.proven()
		for n := 3; n <= 10; n++ {
			id := w.tipped(business, daysAgo(n), "900.00", true)
			w.store.EditColumn(registry.Orders, business, id, "items.total", sameEach(len(readSold(w.store.Row(registry.Orders, business, id).Raw).Items), "0.01"))
		}
		before := len(w.box.Requests())
		w.deep()
		w.resynced()
		if n := rangeWalks(w.box.Requests()[before:]); n < 5 || n > 10 {
			t.Errorf("%d walks of days by two streams", n)
		}
		for n := range 3 {
			w.deep()
			if got := w.resyncs(); got != 1 {
				t.Errorf("%d full resyncs after %d days", got, n+1)
			}
		}
		drifts := 0
		for key, v := range w.verdicts() {
			if v.Verdict == sinks.VerdictDrift {
				drifts++
				if !v.HealingTried {
					t.Errorf("%s: %+v", key, v)
				}
			}
		}
		if drifts < 16 {
			t.Errorf("%d drifts", drifts)
		}
	})
}

// TestADayIsFetchedOnceForBothStreams, and both are healed by that.
func TestADayIsFetchedOnceForBothStreams(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 46, Orders: 900, Days: 20, Record: true}, func(t *testing.T, w *world) {
		business, day := w.proven(), daysAgo(4)
		w.store.Lose(registry.Orders, business, w.liveOrders(business, day)[0])
		before := len(w.box.Requests())
		w.deep()
		daily, products := w.verdicts()["daily "+day], w.verdicts()["products "+day]
		if n := rangeWalks(w.box.Requests()[before:]); n != 1 || daily.Verdict != sinks.VerdictHealed || products.Verdict != sinks.VerdictHealed {
			t.Errorf("%d walks of the day: %+v, %+v", n, daily, products)
		}
	})
}

// TestWhatMovesIsLeftToTheNextNight, and repeats no deep run before.
func TestWhatMovesIsLeftToTheNextNight(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 47, Orders: 600, Days: 10, Record: true}, func(t *testing.T, w *world) {
		business := w.proven()
		next := w.syncer.times.Load().Next(schedule.ReconcileDeep, "r0", time.Now())
		time.Sleep(time.Until(next) - time.Minute)
		before, day := len(w.box.Requests()), daysAgo(5)
		for n := range 3 * 60 {
			w.tipped(business, day, fmt.Sprintf("%d.00", 1000+n), true)
			time.Sleep(time.Minute)
		}
		if n := left(w.box.Requests()[before:], "/sales/daily"); n != 3 { // overall, and of two locations
			t.Errorf("%d questions, want those of one deep run", n)
		}
		w.deep()
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictDrift {
			t.Errorf("when it moves no more: %+v", v)
		}
	})
}

// TestADayThatDiffersOwesOneFullResync, though what it differs in is another each night.
func TestADayThatDiffersOwesOneFullResync(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 48, Orders: 600, Days: 10}, func(t *testing.T, w *world) {
		business := w.proven()
		day := daysAgo(3)
		for night := range 5 {
			w.tipped(business, day, fmt.Sprintf("%d.00", 1000+night), true)
			w.deep()
			time.Sleep(2 * time.Hour)
			if n := w.resyncs(); n != 1 {
				t.Errorf("%d full resyncs after %d nights", n, night+1)
			}
		}
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictDrift || !v.HealingTried {
			t.Errorf("%+v", v)
		}
	})
}

// TestARestartOwesNoOtherFullResync: that it began after the day was found is known from what is
// stored.
func TestARestartOwesNoOtherFullResync(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 48, Orders: 600, Days: 10}, func(t *testing.T, w *world) {
		business := w.proven()
		day := daysAgo(3)
		w.store.Refuse(w.tipped(business, day, "900.00", false))
		w.until("a full resync", 30*time.Hour, func() bool { return w.resyncs() == 1 })
		w.halt()
		w.run()
		time.Sleep(48 * time.Hour)
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictDrift || !v.HealingTried || !strings.Contains(v.Reason, "quarantine") || w.resyncs() != 1 {
			t.Errorf("%d full resyncs: %+v", w.resyncs(), v)
		}
	})
}

// TestAFullResyncThatBeganBeforeDoesNotCount: a day that was found to differ while it was under way owes
// another, as often as once a day, whatever the service's clock says.
func TestAFullResyncThatBeganBeforeDoesNotCount(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20}, func(t *testing.T, w *world) {
		id, day := w.refunded(20, 3)
		business := w.proven()
		first := w.tipped(business, daysAgo(5), "900.00", true)
		w.deep()
		w.resynced()
		w.withoutRefunds(business, id) // after the full resync
		w.deep()
		if v := w.verdicts()["daily "+day]; v.HealingTried || v.Verdict == sinks.VerdictExplained || w.resyncs() > 2 {
			t.Errorf("%d full resyncs, found since: %+v", w.resyncs(), v)
		}
		w.deep()
		w.deep()
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictHealed || w.resyncs() != 2 {
			t.Errorf("%d full resyncs, in the end: %+v (%s is stuck)", w.resyncs(), v, first)
		}
	})
}

// TestRemovedOrdersAreAskedForBeforeTheyExplain: one that is removed in the mirror by mistake lives
// again. Its own day is older than those that are compared.
func TestRemovedOrdersAreAskedForBeforeTheyExplain(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 200}, func(t *testing.T, w *world) {
		id, day := w.refunded(20, 3)
		business := w.proven()
		if own := w.dayOfOrderWithin(business, id, 210); own > daysAgo(100) {
			t.Fatalf("order of %s", own)
		}
		w.store.Edit(registry.Orders, business, id, func(r *memsink.Row) { r.Deleted, r.Reason = true, "deleted" })
		w.deep()
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictHealed || !slices.Contains(v.OrderIDs, id) || w.wrongOrders() > 0 || w.resyncs() > 0 {
			t.Errorf("%d full resyncs: %+v", w.resyncs(), v)
		}
	})
}

func (w *world) dayOfOrderWithin(business, id string, days int) string {
	for n := range days {
		if slices.Contains(w.liveOrders(business, daysAgo(n)), id) {
			return daysAgo(n)
		}
	}
	w.t.Fatalf("no day of %s", id)
	return ""
}

// TestAReconciliationHealsToTheEnd without a daemon: it makes the full resync, and compares again,
// older days than the daemon does, too. What stays is a drift.
func TestAReconciliationHealsToTheEnd(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 200}, func(t *testing.T, w *world) {
			id, day := w.refunded(20, 150)
			w.once(Selection{})
			w.once(Selection{})
			business := w.box.Restaurant(0).ID()
			w.store.Lose(registry.Orders, business, w.liveOrders(business, day)[0]) // what the first step fetches changes the difference
			w.withoutRefunds(business, id)
			if stuck {
				w.tipped(business, day, "900.00", true)
			}
			found := w.reconciled(proof.Request{From: day, To: day, Heal: true})
			v := w.verdicts()["daily "+day]
			if w.resyncs() != 1 || found.Err != nil || (found.Drift > 0) != stuck || found.Unsettled+found.Unproven > 0 || v.HealingTried != stuck {
				t.Errorf("stuck %v: %d full resyncs, %+v, %+v", stuck, w.resyncs(), found, v)
			}
			if !stuck && (found.Healed == 0 || w.wrongOrders() > 0) {
				t.Errorf("%+v", found)
			}
		})
	}
}

// TestNewDamageIsHealedBesideAFullResync, which cannot come to its end.
func TestNewDamageIsHealedBesideAFullResync(t *testing.T) {
	inShort(t)
	inRefusingWorld(t, sandbox.Options{Seed: 52, Orders: 600, Days: 10}, func(t *testing.T, w *world, refuse *refusing) {
		business := w.proven()
		refuse.set(func(r *http.Request) bool { // no page of a full resync
			since := r.URL.Query().Get("updated_since")
			return strings.HasSuffix(r.URL.Path, "/sales/orders") && since != "" && since < "1990"
		})
		if err := w.list(registry.Orders).Owe(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		day := daysAgo(1)
		w.tipped(business, day, "900.00", false)
		w.until("the day is healed", 40*time.Minute, func() bool { return w.verdicts()["daily "+day].Verdict == sinks.VerdictHealed })
		if cp, ok := w.store.Checkpoint("r0", registry.Orders, sinks.WalkFull); !ok || cp.Done || cp.FirstVersion == 0 {
			t.Errorf("no full resync is under way: %+v", cp)
		}
	})
}

// TestAnOrderThatWasRefundedAndCancelledTodayIsExplainedToday, though the mirror never had the
// refund.
func TestAnOrderThatWasRefundedAndCancelledTodayIsExplainedToday(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20, Readings: sandbox.Readings{RemovedRefunds: true}}, func(t *testing.T, w *world) {
		w.proven()
		restaurant, day := w.box.Restaurant(0), daysAgo(0)
		id := restaurant.IDs(sandbox.StreamSalesOrders)[20]
		if err := restaurant.RefundOrder(id, 1234); err != nil {
			t.Fatal(err)
		}
		if err := restaurant.CancelOrder(id); err != nil {
			t.Fatal(err)
		}
		w.until("it is explained", 2*time.Hour, func() bool { return w.verdicts()["daily "+day].Verdict == sinks.VerdictExplained })
		if day != daysAgo(0) || w.resyncs() != 1 {
			t.Errorf("%d full resyncs, until %s", w.resyncs(), daysAgo(0))
		}
	})
}

// TestAHeldSweepDoesNotCount: the rows that it would remove are the difference. Nothing else is
// owed until a person has confirmed it.
func TestAHeldSweepDoesNotCount(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 48, Orders: 300, Days: 10}, func(t *testing.T, w *world) {
		business := w.proven()
		day := daysAgo(3)
		for n := range 150 {
			w.store.Copy(registry.Orders, business, w.liveOrders(business, day)[0], fmt.Sprint("a copy ", n))
		}
		for range 3 {
			w.deep()
			time.Sleep(time.Hour)
			if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictDrift || v.HealingTried || !strings.Contains(v.Reason, "--confirm-sweep") || w.resyncs() != 1 {
				t.Errorf("%d full resyncs: %+v", w.resyncs(), v)
			}
		}
		if report, err := w.syncer.RunOnce(t.Context(), Selection{Streams: []string{registry.Orders}, Full: true, ConfirmSweep: true}, nil); err != nil || report.Err() != nil {
			t.Fatal(err, report.Err())
		}
		time.Sleep(time.Hour)
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictHealed || len(v.Differences) == 0 || w.wrongOrders() > 0 {
			t.Errorf("%+v", v)
		}
	})
}

// TestDoubtKeepsTheLocationsThatWereWalkedFor: a location that the key gains at that instant is still
// found to be new.
func TestDoubtKeepsTheLocationsThatWereWalkedFor(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 49, Orders: 100, Days: 4}, func(t *testing.T, w *world) {
		w.once(Selection{})
		s, orders := w.syncer.served()[0], w.list(registry.Orders)
		key := s.Identity()
		key.Locations = append(slices.Clone(key.Locations), "new")
		s.IdentifyAs(key)
		if err := orders.Owe(t.Context()); err != nil {
			t.Fatal(err)
		}
		orders.NoteKey(t.Context())
		if orders.Complete() {
			t.Error("the rows of the new location are not waited for")
		}
	})
}

// TestNothingToSettleWaitsForNobody: a deep run in which all days are right ends beside a second look.
func TestNothingToSettleWaitsForNobody(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 40, Orders: 100, Days: 9}, func(t *testing.T, w *world) {
		w.proven()
		st := w.syncer.served()[0].days.Daily
		if !st.Settling.Try() {
			t.Fatal("no turn is under way")
		}
		before, _ := w.store.Checkpoint("r0", registry.Daily, sinks.WalkDeep)
		w.deep()
		if now, _ := w.store.Checkpoint("r0", registry.Daily, sinks.WalkDeep); !now.StartedAt.After(before.StartedAt) {
			t.Errorf("the last deep run began at %s", now.StartedAt)
		}
		st.Settling.Release()
	})
}
