package syncer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
)

// verdicts are those that stand about the first restaurant, by subject and dayKey.
func (w *world) verdicts() map[string]sinks.Verdict {
	w.t.Helper()
	all, err := w.sink.Verdicts(w.t.Context(), "r0", "1900-01-01", "9999-12-31")
	if err != nil {
		w.t.Fatal(err)
	}
	by := map[string]sinks.Verdict{}
	for _, v := range all {
		by[v.Subject+" "+dayKey(api.Date(v.Day), v.Location)] = v
	}
	return by
}

// watchVerdicts has f called with every verdict that is stored. Call it before the
// daemon runs.
func (w *world) watchVerdicts(f func(v sinks.Verdict)) {
	w.store.Watch(func(c *sinks.Commit, durable bool) {
		for _, v := range c.Verdicts {
			if durable {
				f(v)
			}
		}
	})
}

// deep waits for the next deep run of every totals stream and its second look.
func (w *world) deep() {
	next := time.Now()
	for _, st := range w.syncer.served()[0].active(totalsKind) {
		next = later(next, w.syncer.timetable().next(jobTotalsDeep, st.source.cfg.Name, time.Now()))
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
		if p == nil || p.ProvenUntil != string(dayOf(time.Now())) || p.DriftDays+p.OpenDays != 0 {
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

func TestNoDayOfABusyRestaurantDiffersFalsely(t *testing.T) {
	for _, delay := range []time.Duration{0, 30 * time.Second, 2 * time.Minute} {
		t.Run(fmt.Sprint(delay), func(t *testing.T) {
			inWorld(t, sandbox.Options{
				Seed: 32, Orders: 900, Days: 3, Live: true, Pace: 5,
				Readings: sandbox.Readings{StampDelay: delay, StampPrecision: time.Second},
			}, func(t *testing.T, w *world) {
				w.schedule = Schedule{Reconcile: "@every 1m", ReconcileDeep: "30 * * * *"}
				time.Sleep(15 * time.Hour) // to the evening
				stop := w.alive()
				defer stop()
				found, rounds := map[string]int{}, 0
				w.watchVerdicts(func(v sinks.Verdict) {
					rounds++
					found[v.Verdict]++
					if v.Verdict == sinks.VerdictDrift || v.Verdict == sinks.VerdictHealed {
						t.Errorf("%+v", v)
					}
				})
				w.run()
				w.until("backfill", time.Hour, w.filled)
				time.Sleep(2 * time.Hour)
				t.Logf("%d verdicts: %v", rounds, found)
				if found[sinks.VerdictProven] < 100 {
					t.Errorf("verdicts %v", found)
				}
			})
		})
	}
}
