package syncer

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
)

// seesOnly adds a key of the first restaurant that is limited to some locations, all
// when there are none, and a source of that name which is configured to others of them.
func (w *world) seesOnly(name string, configured []string, locations ...string) Source {
	k := w.box.AddKey(sandbox.Key{
		Value: "svc_live_" + name, Role: name, Mode: "live", Scopes: []string{"sales:read", "locations:read"},
		AllLocations: len(locations) == 0, LocationIDs: locations,
	})
	s := sourceOf(name, k.Value)
	s.Locations = configured
	return s
}

// TestOrdersThatMoveBetweenTheLocationsOfSources: what a source cannot see any more is
// removed where it was, lives on where another source sees it, and is a drift nowhere.
func TestOrdersThatMoveBetweenTheLocationsOfSources(t *testing.T) {
	for name, sources := range map[string]func(w *world, l []string) []Source{
		"a key of two locations":   func(w *world, l []string) []Source { return []Source{w.seesOnly("a", nil, l[0], l[1])} },
		"two locations configured": func(w *world, l []string) []Source { return []Source{w.seesOnly("a", l[:2])} },
		"three sources, one of all": func(w *world, l []string) []Source {
			return []Source{w.seesOnly("a", nil, l[0]), w.seesOnly("b", nil, l[1], l[2]), w.seesOnly("c", nil)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 60, Orders: 200, Days: 6, LocationsPer: 3}, func(t *testing.T, w *world) {
				all := sources(w, w.box.Restaurant(0).LocationIDs())
				stands := map[string]sinks.Verdict{}
				w.store.Watch(func(c *sinks.Commit, durable bool) {
					for _, v := range c.Verdicts {
						if durable {
							stands[c.Source+" "+v.Subject+" "+proof.DayKey(types.Date(v.Day), v.Location)] = v
						}
						if v.Verdict == sinks.VerdictDrift || v.Verdict == sinks.VerdictUnproven {
							t.Errorf("%s: %+v", c.Source, v)
						}
					}
				})
				w.schedule = Schedule{FullResync: "0 4 1 7 *", ReconcileDeep: "30 * * * *"}
				w.run(all...)
				w.until("backfill", time.Hour, w.filled)
				w.moveOrders(15)
				time.Sleep(90 * time.Minute)
				synctest.Wait()
				if len(stands) < 92*len(all) {
					t.Errorf("%d verdicts", len(stands))
				}
				for key, v := range stands {
					if v.Verdict != sinks.VerdictProven && v.Verdict != sinks.VerdictHealed {
						t.Errorf("%s: %+v", key, v)
					}
				}
			})
		})
	}
}

// moveOrders moves orders of the first restaurant between its locations, one every ten
// minutes.
func (w *world) moveOrders(n int) {
	w.t.Helper()
	restaurant, g := w.box.Restaurant(0), rand.New(rand.NewPCG(60, 1)) //nolint:gosec // seeded on purpose
	for range n {
		orders := w.liveOrders(restaurant.ID(), "")
		if err := restaurant.Move(sandbox.StreamSalesOrders, pick(g, orders...), pick(g, restaurant.LocationIDs()...)); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
	}
}
