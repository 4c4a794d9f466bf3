package syncer

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
)

// verdicts are those that stand about the first restaurant, by subject and dayKey.
func (w *world) verdicts() map[string]sinks.Verdict {
	w.t.Helper()
	all, err := w.sink.Verdicts(w.t.Context(), w.box.Restaurant(0).ID(), "r0", "1900-01-01", "9999-12-31")
	if err != nil {
		w.t.Fatal(err)
	}
	by := map[string]sinks.Verdict{}
	for _, v := range all {
		by[v.Subject+" "+proof.DayKey(types.Date(v.Day), v.Location)] = v
	}
	return by
}

// deep waits for the next deep run of every totals stream and its second look.
func (w *world) deep() {
	next := time.Now()
	for _, st := range w.syncer.served()[0].days.On() {
		next = stream.Later(next, w.syncer.times.Load().Next(schedule.ReconcileDeep, st.Source.Name, time.Now()))
	}
	time.Sleep(time.Until(next) + 15*time.Minute)
	synctest.Wait()
}

func TestEveryDayOfAQuietRestaurantIsProven(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 31, Orders: 3000, Days: 60}, func(t *testing.T, w *world) {
		w.run()
		w.until("backfill", time.Hour, w.filled)
		w.deep()
		all := w.verdicts()
		for key, v := range all {
			if v.Verdict != sinks.VerdictProven {
				t.Errorf("%s: %+v", key, v)
			}
		}
		// 92 days overall and of two locations, and of the products.
		if len(all) != 4*92 {
			t.Errorf("%d verdicts, want %d", len(all), 4*92)
		}
		p := w.syncer.Status().Sources[0].Proof
		if p == nil || p.ProvenUntil != daysAgo(1) || p.DriftDays+p.OpenDays != 0 {
			t.Errorf("proof %+v", p)
		}
		stored := w.store.Commits()
		time.Sleep(20 * time.Hour)
		synctest.Wait()
		if n := w.store.Commits() - stored; n > 40 {
			t.Errorf("%d commits while nothing changed", n)
		}
	})
}

func TestDaysAroundTheChangesOfClockAreProven(t *testing.T) {
	for _, end := range []string{"2000-03-27T12:00:00Z", "2000-10-30T12:00:00Z"} {
		epoch, err := time.Parse(time.RFC3339, end)
		if err != nil {
			t.Fatal(err)
		}
		inWorld(t, sandbox.Options{Seed: 35, Orders: 800, Days: 5, Epoch: epoch}, func(_ *testing.T, w *world) {
			time.Sleep(time.Until(epoch))
			w.proven()
		})
	}
}

func TestADeepRunThatIsCutShortIsMadeUpFor(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 36, Orders: 300, Days: 10}, func(t *testing.T, w *world) {
		w.run()
		w.until("backfill", time.Hour, w.filled)
		if err := w.box.AddFault(faults.Fault{Kind: faults.RateLimited, Route: "/sales/daily", Probability: 1}); err != nil {
			t.Fatal(err)
		}
		w.deep()
		n := 0
		for key, v := range w.verdicts() {
			if strings.HasPrefix(key, "daily") && v.Verdict == sinks.VerdictUnproven && strings.Contains(v.Reason, "429") {
				n++
			}
		}
		if n < 80 {
			t.Errorf("%d days are unproven while the service answers 429", n)
		}
		w.box.ClearFaults()
		time.Sleep(time.Hour) // no deep run lies in it
		for key, v := range w.verdicts() {
			if v.Verdict != sinks.VerdictProven {
				t.Errorf("%s: %+v", key, v)
			}
		}
		if len(w.verdicts()) != 4*92 {
			t.Errorf("%d verdicts", len(w.verdicts()))
		}
	})
}

// TestALocationThatIsRefusedInMidRunHoldsUpNoOther: the service answers 403 for the first one.
func TestALocationThatIsRefusedInMidRunHoldsUpNoOther(t *testing.T) {
	inRefusingWorld(t, sandbox.Options{Seed: 37, Orders: 300, Days: 10}, func(t *testing.T, w *world, refuse *refusing) {
		business := w.proven()
		all := w.box.Restaurant(0).LocationIDs()
		refuse.set(func(r *http.Request) bool {
			if q := r.URL.Query(); strings.HasSuffix(r.URL.Path, "/sales/daily") && q.Get("location_id") == all[0] {
				q.Set("location_id", "not the key's")
				r.URL.RawQuery = q.Encode()
			}
			return false
		})
		healed := types.Date(daysAgo(3))
		w.store.EditColumn(registry.Orders, business, w.ordersOf(string(healed), all[1])[0], "totals_tip", `"900.00"`)
		days := proof.Span{From: types.Date(daysAgo(8)), To: types.Date(daysAgo(2))}.Days()
		w.deep()
		for _, day := range days {
			want := sinks.VerdictProven
			if day == healed {
				want = sinks.VerdictHealed
			}
			if v := w.verdicts()["daily "+proof.DayKey(day, all[0])]; v.Verdict != sinks.VerdictUnproven || v.Reason == "" {
				t.Errorf("%s of the refused location: %+v", day, v)
			}
			if v := w.verdicts()["daily "+proof.DayKey(day, all[1])]; v.Verdict != want {
				t.Errorf("%s of the other location: %+v", day, v)
			}
		}
	})
}

// deepAsked is true when a deep run, which alone asks by location, was among requests.
func deepAsked(requests []sandbox.Request) bool {
	return slices.ContainsFunc(requests, func(r sandbox.Request) bool {
		return r.Route == "/sales/daily" && strings.Contains(r.URI, "location_id=")
	})
}

func TestADeepRunThatComparedNothingIsMadeUpFor(t *testing.T) {
	for _, name := range []string{"the orders could not be walked", "their backfill was under way"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 38, Orders: 300, Days: 10, Record: true}, func(t *testing.T, w *world) {
				fails := faults.Fault{Kind: faults.ServerError, Route: "/sales/orders", Probability: 1}
				broken := func() {
					if err := w.box.AddFault(fails); err != nil {
						t.Fatal(err)
					}
				}
				if name == "their backfill was under way" {
					broken()
				}
				w.run()
				if name == "the orders could not be walked" {
					w.until("backfill", time.Hour, w.filled)
					broken()
				}
				w.deep()
				w.box.ClearFaults()
				before := len(w.box.Requests())
				time.Sleep(40 * time.Minute)
				if !deepAsked(w.box.Requests()[before:]) {
					t.Error("no deep run since")
				}
				if v := w.verdicts()["daily "+daysAgo(5)]; v.Verdict != sinks.VerdictProven {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// TestADeepRunWaitsForASecondLookUnderWay: its next turn is a day away.
func TestADeepRunWaitsForASecondLookUnderWay(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 40, Orders: 100, Days: 9}, func(t *testing.T, w *world) {
		business := w.proven()
		st, day := w.syncer.served()[0].days.Daily, daysAgo(3)
		w.store.EditColumn(registry.Orders, business, w.liveOrders(business, day)[0], "totals_tip", `"900.00"`)
		if !st.Settling.Try() {
			t.Fatal("no turn is under way")
		}
		w.deep()
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictUnsettled {
			t.Errorf("meanwhile: %+v", v)
		}
		st.Settling.Release()
		time.Sleep(time.Minute)
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictHealed {
			t.Errorf("%+v", v)
		}
	})
}
