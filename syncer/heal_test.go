package syncer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/reconcile"
	"github.com/larder-sync/larder/syncer/registry"
)

// proven runs a daemon over a restaurant whose days are all proven.
func (w *world) proven() (business string) {
	w.t.Helper()
	w.schedule.FullResync = "0 4 1 7 *" // which would repair everything
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

func daysAgo(n int) string { return string(calendar.DayOf(time.Now().AddDate(0, 0, -n))) }

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
		report, err := w.syncer.Reconcile(t.Context(), reconcile.Request{Heal: true}, nil)
		if err != nil || report.Err() != nil {
			t.Fatal(err, report.Err())
		}
		if s := report.Sources[0]; lost == 0 || s.Healed == 0 || s.Drift > 0 || w.wrongOrders() > 0 {
			t.Errorf("%d orders lost; %+v", lost, s)
		}
	})
}

// TestRefundsOfOldOrdersAreFound, whether the refund was the order's last change or not:
// the order counts on a day that does not differ.
func TestRefundsOfOldOrdersAreFound(t *testing.T) {
	for name, c := range map[string]struct{ editedAgain, atMidnight bool }{
		"its last change": {}, "changed again": {editedAgain: true}, "just after midnight": {atMidnight: true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20, Record: true}, func(t *testing.T, w *world) {
				restaurant := w.box.Restaurant(0)
				id := restaurant.IDs(sandbox.StreamSalesOrders)[20]
				refunded := time.Now().AddDate(0, 0, -3)
				if c.atMidnight {
					year, month, day := refunded.In(calendar.Zone()).Date()
					refunded = time.Date(year, month, day, 0, 3, 0, 0, calendar.Zone())
				}
				if err := restaurant.At(refunded).RefundOrderAt(id, 1234, refunded); err != nil {
					t.Fatal(err)
				}
				if c.editedAgain {
					if err := restaurant.EditOrder(id); err != nil {
						t.Fatal(err)
					}
				}
				business := w.proven()
				for _, column := range []string{"amount", "method", "at", "item_id"} {
					w.store.EditColumn(registry.Orders, business, id, "refunds."+column, `[]`)
				}
				before := len(w.box.Requests())
				w.deep()
				v := w.verdicts()["daily "+string(calendar.DayOf(refunded))]
				if v.Verdict != sinks.VerdictHealed || !slices.Equal(v.OrderIDs, []string{id}) || w.wrongOrders() > 0 {
					t.Errorf("%+v", v)
				}
				if n := rangeWalks(w.box.Requests()[before:]); !c.editedAgain && n > 3 { // the day, of each location
					t.Errorf("%d days walked", n)
				}
			})
		})
	}
}

// TestAHealingBringsNothingOfOtherLocations than those that are configured.
func TestAHealingBringsNothingOfOtherLocations(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 52, Orders: 300, Days: 12}, func(t *testing.T, w *world) {
		all := w.box.Restaurant(0).LocationIDs()
		w.edit = func(s *Source) { s.Locations = all[:1] }
		w.once(Selection{})
		h := w.syncer.served()[0].days.Daily().NewHeal(types.Date(daysAgo(3)), nil)
		if err := errors.Join(h.RefundedOrders(t.Context()), h.ChangesOfDay(t.Context()), h.WeekBefore(t.Context()), h.ChangesSince(t.Context())); err != nil {
			t.Fatal(err)
		}
		if h.Run.Rows == 0 {
			t.Error("nothing was walked")
		}
		for id, row := range w.store.Rows(registry.Orders, w.box.Restaurant(0).ID()) {
			if row.Location == all[1] {
				t.Fatalf("order %s is of a location that is not configured", id)
			}
		}
	})
}

// TestWhatAnotherDayMendsIsHealedToo: the week before a refund is walked, and a day of
// it may be the other stream's suspect.
func TestWhatAnotherDayMendsIsHealedToo(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 50, Orders: 200, Days: 12}, func(t *testing.T, w *world) {
		w.once(Selection{})
		business := w.box.Restaurant(0).ID()
		id := w.liveOrders(business, daysAgo(5))[0]
		row := w.store.Row(registry.Orders, business, id)
		w.store.EditColumn(registry.Orders, business, id, "items.total", sameEach(len(readSold(row.Raw).Items), "0.01"))
		s := w.syncer.served()[0]
		if err := s.days.Daily().NewHeal(types.Date(daysAgo(3)), nil).WeekBefore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if done := s.days.Healed[types.Date(daysAgo(5))]; len(s.days.Healed) != 1 || !slices.Equal(done.IDs, []string{id}) || w.wrongOrders() > 0 {
			t.Errorf("order %s was wrong; healed %+v", id, s.days.Healed)
		}
	})
}

func TestADriftThatCannotBeHealedEndsAsAnAlert(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 34, Orders: 600, Days: 10, Record: true}, func(t *testing.T, w *world) {
		business := w.proven()
		// A row that claims to be newer than any that is written.
		id := w.liveOrders(business, "")[0]
		day := w.dayOfOrder(business, id)
		w.store.EditColumn(registry.Orders, business, id, "totals_tip", `"900.00"`)
		w.store.Edit(registry.Orders, business, id, func(r *memsink.Row) { r.Version = 1 << 62 })
		before := len(w.box.Requests())
		w.deep()
		asked := w.box.Requests()[before:]
		v := w.verdicts()["daily "+day]
		if v.Verdict != sinks.VerdictDrift || !slices.Contains(v.OrderIDs, id) || v.Reason == "" {
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
		before = len(w.box.Requests())
		time.Sleep(12 * time.Hour)
		for _, r := range w.box.Requests()[before:] {
			if strings.Contains(r.URI, "/sales/orders?") && strings.Contains(r.URI, "from=") {
				t.Errorf("healed again before the next deep run: %s", r.URI)
			}
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

// TestAHealingThatIsCutShortIsNotTriedForEver: a row too many is asked for, and the
// service fails at that.
func TestAHealingThatIsCutShortIsNotTriedForEver(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 45, Orders: 200, Days: 4, Record: true}, func(t *testing.T, w *world) {
		w.schedule.Reconcile = "@every 6m"
		business := w.turned()
		w.store.Copy(registry.Orders, business, w.liveOrders(business, daysAgo(1))[0], "a copy")
		if err := w.box.AddFault(faults.Fault{Kind: faults.ServerError, Route: "/sales/orders/{order_id}", Probability: 1}); err != nil {
			t.Fatal(err)
		}
		before := len(w.box.Requests())
		time.Sleep(50 * time.Minute)
		v := w.verdicts()["daily "+daysAgo(1)]
		if n := rangeWalks(w.box.Requests()[before:]); v.Verdict != sinks.VerdictDrift || v.Reason != reconcile.CutTooOften.String() || n == 0 || n > 2*reconcile.MaxInterruptedHeals {
			t.Errorf("%d walks by two streams; %+v", n, v)
		}
		w.box.ClearFaults()
		w.deep()
		if v := w.verdicts()["daily "+daysAgo(1)]; v.Verdict != sinks.VerdictHealed || w.wrongOrders() > 0 {
			t.Errorf("after a deep run: %+v", v)
		}
	})
}

func TestAServiceThatFailsEndsTheHealingOfARun(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 46, Orders: 900, Days: 20, Record: true}, func(t *testing.T, w *world) {
		business := w.proven()
		for n := range 12 {
			w.store.Copy(registry.Orders, business, w.liveOrders(business, daysAgo(n+2))[0], fmt.Sprint("a copy ", n))
		}
		if err := w.box.AddFault(faults.Fault{Kind: faults.ServerError, Route: "/sales/orders/{order_id}", Probability: 1}); err != nil {
			t.Fatal(err)
		}
		before := len(w.box.Requests())
		w.deep()
		n := rangeWalks(w.box.Requests()[before:])
		if n == 0 || n > 2*reconcile.MaxFailedHeals {
			t.Errorf("%d days walked, by two streams", n)
		}
		var most reconcile.SourceReport
		if _, err := w.syncer.Reconcile(t.Context(), reconcile.Request{Heal: true}, func(so reconcile.Report) {
			if now := so.Sources[0]; now.StillDiffer > most.StillDiffer {
				most = now
			}
		}); err != nil {
			t.Error(err)
		}
		if most.StillDiffer == 0 || most.HealedDays != most.StillDiffer || most.ToHeal != 12 {
			t.Errorf("of %d days that cannot be healed %d are done, %d differ still", most.ToHeal, most.HealedDays, most.StillDiffer)
		}
	})
}

// TestRefundsOfALocationThatIsNotActiveAreNotAskedFor: 404 would remove what the service
// lists still.
func TestRefundsOfALocationThatIsNotActiveAreNotAskedFor(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 47, Orders: 50, Days: 4, Record: true}, func(t *testing.T, w *world) {
		restaurant, ids := w.box.Restaurant(0), map[string]string{}
		for _, l := range restaurant.LocationIDs() {
			id, err := restaurant.PlaceOrder(sandbox.OrderSpec{Location: l, Created: time.Now().AddDate(0, 0, -2), Items: 2})
			if err == nil {
				err = restaurant.RefundOrder(id, 100)
			}
			if err != nil {
				t.Fatal(err)
			}
			ids[l] = id
		}
		w.once(Selection{})
		s, closed := w.syncer.served()[0], restaurant.LocationIDs()[1]
		if err := restaurant.SetLocationActive(closed, false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(freshKey)
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := len(w.box.Requests())
		if err := s.days.Daily().NewHeal(calendar.DayOf(time.Now()), nil).RefundedOrders(t.Context()); err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		for _, r := range w.box.Requests()[before:] {
			for l, id := range ids {
				asked[l] = asked[l] || strings.HasSuffix(r.URI, "/"+id)
			}
		}
		if open := restaurant.LocationIDs()[0]; !asked[open] || asked[closed] {
			t.Errorf("asked for %v", asked)
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
		time.Sleep(freshKey)
		h := s.days.Daily().NewHeal(types.Date(day), nil)
		if err := h.WalkDay(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if n := len(w.liveOrders(restaurant.ID(), day)); n != live {
			t.Errorf("%d orders live, want %d", n, live)
		}
		if lost := w.ordersOf(day, closed); len(lost) == 0 || !slices.Equal(h.Lost, lost) || !strings.Contains(h.Reason(), "does not have now") {
			t.Errorf("%d orders left, want %d: %s", len(h.Lost), len(lost), h.Reason())
		}
		if h.Lost = h.Lost[:1]; !strings.HasPrefix(h.Reason(), "1 row of the mirror is of locations") {
			t.Errorf("of one: %s", h.Reason())
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

// TestRowsThatTheRequestsDoNotReachAreNamed: a walk of the week before has spent them,
// and its last page may have been one more.
func TestRowsThatTheRequestsDoNotReachAreNamed(t *testing.T) {
	for _, extra := range []int{-1, 0, 2} {
		inWorld(t, sandbox.Options{Seed: 51, Orders: 100, Days: 4}, func(t *testing.T, w *world) {
			w.once(Selection{})
			business := w.box.Restaurant(0).ID()
			for n := range 5 {
				w.store.Copy(registry.Orders, business, w.liveOrders(business, daysAgo(1))[0], fmt.Sprint("a copy ", n))
			}
			h := w.syncer.served()[0].days.Daily().NewHeal(types.Date(daysAgo(1)), nil)
			h.Extra = extra
			if err := h.WalkDay(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			if asked := max(extra, 0); len(h.Left) != 5-asked || len(h.IDs) != asked {
				t.Errorf("with %d requests: removed %q, left %q", extra, h.IDs, h.Left)
			}
		})
	}
}

// TestRowsLeftByTwoWalksAreNamedOnce: more than are asked for one by one.
func TestRowsLeftByTwoWalksAreNamedOnce(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 48, Orders: 100, Days: 4}, func(t *testing.T, w *world) {
		w.once(Selection{})
		business := w.box.Restaurant(0).ID()
		for n := range list.AskFirst + 1 {
			w.store.Copy(registry.Orders, business, w.liveOrders(business, daysAgo(1))[0], fmt.Sprint("a copy ", n))
		}
		h := w.syncer.served()[0].days.Daily().NewHeal(types.Date(daysAgo(1)), nil)
		for range 2 {
			if err := h.WalkDay(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		if len(h.Left) != list.AskFirst+1 || !strings.HasPrefix(h.Reason(), "51 rows") {
			t.Errorf("%d left: %s", len(h.Left), h.Reason())
		}
	})
}
