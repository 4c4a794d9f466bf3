package syncer

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
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

// A full resync of the totals ends where the backfill did, also where the first sale is not known, and asks
// for single locations as far back as deep runs have.
func TestAFullResyncOfTotalsAsksForNoMoreThanThereIs(t *testing.T) {
	for name, streams := range map[string][]string{"without orders": {"sales_daily", "locations"}, "with orders": {"sales_daily", "sales_orders", "locations"}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 51, Orders: 100, Days: 250, ProductsPer: 3, Record: true}, func(t *testing.T, w *world) {
				w.edit = func(s *Source) { s.Streams = streams }
				w.once(Selection{})
				before := len(w.box.Requests())
				if _, err := w.full(Selection{Streams: []string{registry.Daily}}); err != nil {
					t.Fatal(err)
				}
				locations := w.box.Restaurant(0).LocationIDs()
				first := schedule.DayOf(time.Now().AddDate(0, 0, 1-proof.MaxRange))
				all, single := 0, 0
				for _, r := range w.box.Requests()[before:] {
					switch {
					case r.Route != "/sales/daily":
					case query(r.URI, "location_id") == "":
						all++
					default:
						single++
						if from := query(r.URI, "from"); from < string(first) {
							t.Errorf("asked for a location before %s: %s", first, r.URI)
						}
					}
				}
				if all < 3 || all > 7 || single != len(locations) {
					t.Errorf("%d questions overall and %d of single locations, of which there are %d", all, single, len(locations))
				}
			})
		})
	}
}

// What is stored says that all days were asked for, and when, while a full resync of the totals is under way.
func TestAFullResyncOfTotalsThatIsUnderWayIsNoBackfill(t *testing.T) {
	inRefusingWorld(t, sandbox.Options{Seed: 51, Orders: 100, Days: 250, ProductsPer: 3}, func(t *testing.T, w *world, refuse *refusing) {
		w.edit = func(s *Source) { s.Streams = []string{"sales_daily", "sales_orders", "locations"} }
		w.once(Selection{})
		stored := func() (sinks.Checkpoint, string) {
			cp, _ := w.store.Checkpoint("r0", registry.Daily, sinks.WalkTotals)
			var at struct{ To, Until string }
			must(t, json.Unmarshal([]byte(cp.Position), &at))
			if !cp.Done {
				t.Errorf("the stored checkpoint is not done: %+v", cp)
			}
			return cp, at.To + " " + at.Until
		}
		first, end := stored()
		time.Sleep(time.Hour)
		recent := schedule.DayOf(time.Now().AddDate(0, 0, 1-proof.MaxRange))
		refuse.set(func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/sales/daily") && r.URL.Query().Get("from") < string(recent)
		})
		if _, err := w.full(Selection{Streams: []string{registry.Daily}}); err == nil {
			t.Fatal("the full resync ended: the test shows nothing")
		}
		if cp, at := stored(); !cp.StartedAt.Equal(first.StartedAt) || strings.HasSuffix(at, " ") {
			t.Errorf("stored during a full resync: %s, began %s, and the backfill %s", at, cp.StartedAt, first.StartedAt)
		}
		refuse.set(func(*http.Request) bool { return false })
		w.close()
		w.open()
		w.once(Selection{Streams: []string{registry.Daily}}) // it goes on after a restart
		if cp, at := stored(); cp.StartedAt.Before(first.StartedAt.Add(time.Hour)) || at != end {
			t.Errorf("stored after a full resync: %s, began %s, and the backfill %s", at, cp.StartedAt, first.StartedAt)
		}
	})
}

// A pass gives a stream up that comes no further, however many locations before the one in its way answer.
func TestAPassEndsAtALocationThatDoesNotAnswer(t *testing.T) {
	inRefusingWorld(t, sandbox.Options{Seed: 51, Orders: 100, Days: 50, ProductsPer: 3}, func(t *testing.T, w *world, refuse *refusing) {
		two := w.box.Restaurant(0).LocationIDs()[:2]
		w.edit = func(s *Source) { s.Streams, s.Locations = []string{"sales_daily", "locations"}, two }
		began := time.Now()
		refuse.set(func(r *http.Request) bool {
			q, yesterday := r.URL.Query(), schedule.DayOf(time.Now().AddDate(0, 0, -1))
			return time.Since(began) < 3*time.Hour && strings.HasSuffix(r.URL.Path, "/sales/daily") && q.Get("location_id") == two[1] && q.Get("from") != string(yesterday)
		})
		err := w.tryOnce(Selection{RetryFor: 10 * time.Minute}).Err()
		if took := time.Since(began); err == nil || took > 30*time.Minute {
			t.Errorf("tried for %s: %v", took, err)
		}
	})
}
