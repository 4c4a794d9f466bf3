package syncer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// proven runs a daemon over a restaurant whose days are all proven.
func (w *world) proven() (business string) {
	w.t.Helper()
	w.schedule.FullResync = "0 4 1 7 *" // which would repair everything
	w.ordersAndTotals()
	w.run()
	w.until("backfill", time.Hour, w.filled)
	w.deep()
	for key, v := range w.verdicts() {
		if v.Verdict != sinks.VerdictProven {
			w.t.Fatalf("before any damage, %s: %+v", key, v)
		}
	}
	return w.box.Restaurant(0).ID()
}

// ordersAndTotals has sources mirror what proves days alone, every two minutes: the walks of the other
// lists take most of what a simulated night takes, and prove nothing about a day.
func (w *world) ordersAndTotals() {
	w.schedule.Incremental = "@every 2m"
	edit := w.edit
	w.edit = func(s *Source) {
		s.Streams = []string{registry.Orders, registry.Daily, "sales_products"}
		if edit != nil {
			edit(s)
		}
	}
}

// wrongOrders tells how many mirrored orders are not what the service says, column by
// column.
func (w *world) wrongOrders() int {
	w.t.Helper()
	report, err := w.syncer.Verify(w.t.Context(), Selection{Streams: []string{registry.Orders}}, nil, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return int(report.Differences())
}

// liveOrders are the ids of mirrored live orders, in order, of one day unless empty.
func (w *world) liveOrders(business, day string) []string {
	w.t.Helper()
	rows, err := w.sink.Live(w.t.Context(), sinks.LiveQuery{Table: registry.Orders, Business: business, Day: day})
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

func daysAgo(n int) string { return string(schedule.DayOf(time.Now().AddDate(0, 0, -n))) }

// Each kind of damage has a day of its own.
func TestEveryKindOfDamageIsFoundAndHealed(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 33, Orders: 1500, Days: 20, Record: true}, func(t *testing.T, w *world) {
		business := w.proven()
		for _, id := range w.liveOrders(business, "")[:8] {
			if err := w.box.Restaurant(0).DeleteOrder(id); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(20 * time.Minute)
		v, wrong := w.vandal(0, rand.New(rand.NewPCG(33, 1))), 0
		for i, kind := range damageKinds {
			n := 4 + i
			for ; kind.harm(v, daysAgo(n)) == nil; n++ {
				if n > 20 {
					t.Fatalf("%s: nothing to damage", kind.name)
				}
			}
			if now := w.wrongOrders(); now == wrong {
				t.Fatalf("%s: the damage is none", kind.name)
			} else {
				wrong = now
			}
		}
		before := len(w.box.Requests())
		w.deep()
		w.resynced()
		w.expectHealed(wrong, w.box.Requests()[before:])
	})
}

// expectHealed expects that so many damaged orders were found and healed.
func (w *world) expectHealed(wrong int, requests []sandbox.Request) {
	w.t.Helper()
	days, ids := map[string]bool{}, 0
	for key, v := range w.verdicts() {
		switch v.Verdict {
		case sinks.VerdictHealed:
			days[v.Day] = true
			ids += len(v.OrderIDs)
			if len(v.Differences) == 0 || v.Requests == 0 {
				w.t.Errorf("%s: %+v", key, v)
			}
		case sinks.VerdictProven:
		default:
			w.t.Errorf("%s: %+v", key, v)
		}
	}
	if n := w.wrongOrders(); n > 0 || len(days) < 10 || ids < 10 {
		w.t.Errorf("%d orders are wrong, %d days healed, %d orders named", n, len(days), ids)
	}
	asked := 0
	for _, r := range requests {
		if r.Route == "/sales/orders/{order_id}" || strings.Contains(r.URI, "from=") {
			asked++
		}
	}
	_, _ = fmt.Fprintf(w.t.Output(), "%d orders damaged on purpose, %d days healed, %d requests for orders and totals\n", wrong, len(days), asked)
}

// TestTheFirstDaysAreHealedToo though the mirror has lost all of them: the service has
// told when the first order was.
func TestTheFirstDaysAreHealedToo(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 49, Orders: 300, Days: 12}, func(t *testing.T, w *world) {
		w.once(Selection{})
		w.once(Selection{})
		business, lost := w.box.Restaurant(0).ID(), 0
		for n := 8; n <= 12; n++ {
			for _, id := range w.liveOrders(business, daysAgo(n)) {
				w.store.Lose(registry.Orders, business, id)
				lost++
			}
		}
		report, err := w.syncer.Reconcile(t.Context(), proof.Request{Heal: true}, nil)
		if err != nil || errorOf(report) != nil {
			t.Fatal(err, errorOf(report))
		}
		if s := report.Sources[0]; lost == 0 || s.Healed == 0 || s.Drift > 0 || w.wrongOrders() > 0 {
			t.Errorf("%d orders lost; %+v", lost, s)
		}
	})
}

// resynced waits until the full resync that a day owes has ended, and the deep run after it.
func (w *world) resynced() {
	w.t.Helper()
	w.until("a full resync of the orders", 10*time.Minute, func() bool { return !w.stream(registry.Orders).LastResync.IsZero() })
	time.Sleep(40 * time.Minute)
	synctest.Wait()
}

// TestARefundOfAnOldOrderComesWithAFullResync: the order counts on a day that does not differ.
// The full resync is begun at once, once, and goes on after a kill.
func TestARefundOfAnOldOrderComesWithAFullResync(t *testing.T) {
	for _, killed := range []bool{false, true} {
		inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20, Record: true}, func(t *testing.T, w *world) {
			id, day := w.refunded(20, 3)
			business := w.proven()
			for _, column := range []string{"amount", "method", "at", "item_id"} {
				w.store.EditColumn(registry.Orders, business, id, "refunds."+column, `[]`)
			}
			if killed {
				w.until("a full resync is owed", 24*time.Hour, func() bool {
					cp, known := w.store.Checkpoint("r0", registry.Orders, sinks.WalkFull)
					return known && !cp.Done
				})
				if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictDrift || v.HealingTried || !strings.Contains(v.Reason, "full resync") {
					t.Errorf("while it is owed: %+v", v)
				}
				w.crash(0)
				w.run()
			} else {
				w.deep()
			}
			w.resynced()
			if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictHealed || len(v.Differences) != 1 || w.wrongOrders() > 0 {
				t.Errorf("killed %v: %+v", killed, v)
			}
			last := w.stream(registry.Orders).LastResync
			time.Sleep(24 * time.Hour)
			if again := w.stream(registry.Orders).LastResync; !again.Equal(last) {
				t.Errorf("killed %v: walked whole again at %s", killed, again)
			}
		})
	}
}

// TestAHealingBringsNothingOfOtherLocations than those that are configured.
func TestAHealingBringsNothingOfOtherLocations(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 52, Orders: 300, Days: 12}, func(t *testing.T, w *world) {
		all := w.box.Restaurant(0).LocationIDs()
		w.edit = func(s *Source) { s.Locations = all[:1] }
		w.once(Selection{})
		business, day := w.box.Restaurant(0).ID(), daysAgo(3)
		damaged := w.liveOrders(business, day)[0]
		w.store.Lose(registry.Orders, business, damaged)
		fetched, err := w.syncer.served()[0].days.FetchDay(t.Context(), types.Date(day), nil)
		if err != nil || !slices.Equal(fetched.IDs, []string{damaged}) {
			t.Fatalf("%+v, %v", fetched, err)
		}
		for id, row := range w.store.Rows(registry.Orders, business) {
			if row.Location == all[1] {
				t.Fatalf("order %s is of a location that is not configured", id)
			}
		}
	})
}

// TestADriftThatCannotBeHealedEndsAsAnAlert: it owes one full resync, and no other after that.
func TestADriftThatCannotBeHealedEndsAsAnAlert(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 34, Orders: 600, Days: 10, Record: true}, func(t *testing.T, w *world) {
		business := w.proven()
		// A row that claims to be newer than any that is written.
		id := w.liveOrders(business, "")[0]
		day := w.dayOfOrder(business, id)
		w.store.EditColumn(registry.Orders, business, id, "totals_tip", `"900.00"`)
		w.store.Edit(registry.Orders, business, id, func(r *memsink.Row) { r.Version = 1 << 63 })
		before := len(w.box.Requests())
		w.deep()
		w.resynced()
		asked := w.box.Requests()[before:]
		v := w.verdicts()["daily "+day]
		if v.Verdict != sinks.VerdictDrift || !slices.Contains(v.OrderIDs, id) || !v.HealingTried || !strings.Contains(v.Reason, "all orders were fetched anew") {
			t.Errorf("%+v", v)
		}
		if d := v.Differences; len(d) == 0 || d[0].Figure != "tips" || d[0].Mirror == d[0].Service {
			t.Errorf("differences %+v", d)
		}
		walks := 0
		for _, r := range asked {
			if r.Route == "/sales/orders" && strings.Contains(r.URI, "from=") {
				walks++
			}
		}
		if walks == 0 || walks > 4 {
			t.Errorf("%d range walks for one day of two locations", walks)
		}
		if p := w.syncer.Status().Sources[0].Proof; p.DriftDays != 1 || p.ProvenUntil >= day {
			t.Errorf("proof %+v", p)
		}
		last := w.stream(registry.Orders).LastResync
		before = len(w.box.Requests())
		for _, process := range []string{"this", "another"} {
			w.deep()
			if n, again := rangeWalks(w.box.Requests()[before:]), w.stream(registry.Orders).LastResync; n > 0 || !again.Equal(last) {
				t.Errorf("%s process: %d more walks of the day; walked whole at %s, was at %s", process, n, again, last)
			}
			w.halt()
			w.run()
		}
	})
}

func (w *world) dayOfOrder(business, id string) string {
	for n := range 60 {
		if slices.Contains(w.liveOrders(business, daysAgo(n)), id) {
			return daysAgo(n)
		}
	}
	w.t.Fatalf("no day of %s", id)
	return ""
}

// rangeWalks counts the walks of the orders of a day among requests.
func rangeWalks(requests []sandbox.Request) (n int) {
	for _, r := range requests {
		if r.Route == "/sales/orders" && strings.Contains(r.URI, "from=") && !strings.Contains(r.URI, "cursor=") {
			n++
		}
	}
	return n
}

// TestAHealingThatIsCutShortIsTriedAgain at the next turn: a row too many is asked for, and the
// service fails at that.
func TestAHealingThatIsCutShortIsTriedAgain(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 45, Orders: 900, Days: 20, Record: true}, func(t *testing.T, w *world) {
		business := w.turned()
		for n := range 12 {
			w.store.Copy(registry.Orders, business, w.liveOrders(business, daysAgo(n+1))[0], fmt.Sprint("a copy ", n))
		}
		if err := w.box.AddFault(faults.Fault{Kind: faults.ServerError, Route: "/sales/orders/{order_id}", Probability: 1}); err != nil {
			t.Fatal(err)
		}
		before := len(w.box.Requests())
		time.Sleep(20 * time.Minute)
		if n := rangeWalks(w.box.Requests()[before:]); n == 0 || n > 2 {
			t.Errorf("%d days walked in a turn, by two streams", n)
		}
		report, err := w.syncer.Reconcile(t.Context(), proof.Request{Heal: true}, nil)
		if err != nil || errorOf(report) == nil {
			t.Errorf("a pass beside it: %v, %+v", err, report.Sources[0])
		}
		w.box.ClearFaults()
		time.Sleep(20 * time.Minute)
		if daily, products := w.verdicts()["daily "+daysAgo(1)], w.verdicts()["products "+daysAgo(1)]; daily.Verdict != sinks.VerdictHealed && products.Verdict != sinks.VerdictHealed {
			t.Errorf("after a turn: %+v, %+v", daily, products)
		}
		w.deep()
		if n := w.wrongOrders(); n > 0 {
			t.Errorf("%d orders are wrong after a deep run", n)
		}
	})
}

// TestOrdersOfALocationThatTheKeyHasLostAreNotBuried: that is the sweep's, which holds
// when it is much.
func TestOrdersOfALocationThatTheKeyHasLostAreNotBuried(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 49, Orders: 100, Days: 4, Readings: sandbox.Readings{InactiveRowsHidden: true}}, func(t *testing.T, w *world) {
		w.once(Selection{})
		restaurant, s, day := w.box.Restaurant(0), w.syncer.served()[0], daysAgo(2)
		live := len(w.liveOrders(restaurant.ID(), day))
		w.store.Copy(registry.Orders, restaurant.ID(), w.ordersOf(day, restaurant.LocationIDs()[0])[0], "a copy")
		closed := restaurant.LocationIDs()[1]
		if err := restaurant.SetLocationActive(closed, false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // until the last answer of /me spares no request
		fetched, err := s.days.FetchDay(t.Context(), types.Date(day), nil)
		if err != nil || !slices.Equal(fetched.IDs, []string{"a copy"}) {
			t.Errorf("removed %+v, %v", fetched, err)
		}
		if n, of := len(w.liveOrders(restaurant.ID(), day)), w.ordersOf(day, closed); n != live || len(of) == 0 {
			t.Errorf("%d orders live, want %d; %d of the lost location", n, live, len(of))
		}
	})
}

// TestMoreRowsThanAreAskedForAreLeftToAFullResync, whose sweep has a guard.
func TestMoreRowsThanAreAskedForAreLeftToAFullResync(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 48, Orders: 600, Days: 10}, func(t *testing.T, w *world) {
		business := w.proven()
		for n := range list.AskFirst + 1 {
			w.store.Copy(registry.Orders, business, w.liveOrders(business, daysAgo(2))[0], fmt.Sprint("a copy ", n))
		}
		fetched, err := w.syncer.served()[0].days.FetchDay(t.Context(), types.Date(daysAgo(2)), nil)
		if err != nil || len(fetched.IDs) > 0 || w.wrongOrders() != list.AskFirst+1 {
			t.Errorf("%+v, %v: %d orders are wrong", fetched, err, w.wrongOrders())
		}
		w.deep()
		w.resynced()
		if n := w.wrongOrders(); n > 0 {
			t.Errorf("%d orders are wrong after a full resync", n)
		}
	})
}

// ordersOf are the mirrored live orders of a day and a location.
func (w *world) ordersOf(day, location string) (ids []string) {
	for _, id := range w.liveOrders(w.box.Restaurant(0).ID(), day) {
		if w.store.Row(registry.Orders, w.box.Restaurant(0).ID(), id).Location == location {
			ids = append(ids, id)
		}
	}
	return ids
}
