package syncer

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/syncer/registry"
)

func TestOnePassMirrorsEverything(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 1, Orders: 1500, NoLimits: true, OnlineOrders: 300}, func(t *testing.T, w *world) {
		time.Sleep(24 * time.Hour) // guests order by day
		r := w.once(Selection{})
		w.equal()
		for _, s := range r.Sources[0].Streams {
			if s.Off != "" || s.Upserts == 0 && s.Stream != registry.Key {
				t.Errorf("stream %s: off %q, %d rows", s.Stream, s.Off, s.Upserts)
			}
		}
		if rows := w.store.Rows(registry.Key, r.businessOf(w)); len(rows) != 1 {
			t.Errorf("%d keys mirrored, want 1", len(rows))
		}
	})
}

func (r Report) businessOf(w *world) string { return w.syncer.Status().Sources[0].BusinessID }

func TestDaemonFollowsALiveRestaurant(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 2, Orders: 3000, Pace: 20}, func(t *testing.T, w *world) {
		freeze := w.alive()
		w.run()
		w.until("backfill", 30*time.Minute, w.filled)
		time.Sleep(2 * time.Hour)
		freeze()
		time.Sleep(2 * time.Minute)
		w.equal()
		w.halt()
		if n := w.box.Stats().RateLimited; n > 0 {
			t.Errorf("%d answers 429", n)
		}
	})
}

func TestCrashesLoseAndDoubleNothing(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 6000, Pace: 20}, func(t *testing.T, w *world) {
		random := rand.New(rand.NewPCG(3, 3))
		freeze := w.alive()
		for range 20 {
			w.run()
			time.Sleep(time.Duration(random.Int64N(int64(20 * time.Second))))
			w.crash(random.IntN(4))
		}
		w.run()
		w.until("backfill", 30*time.Minute, w.filled)
		freeze()
		time.Sleep(2 * time.Minute)
		w.equal()
	})
}

func TestSteadyStateAsksOnceAndWritesNothing(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 4, Orders: 800, Record: true}, func(t *testing.T, w *world) {
		w.run()
		w.until("backfill", 30*time.Minute, w.filled)
		time.Sleep(20 * time.Minute)
		w.box.ResetStats()
		before := w.store.Commits()
		time.Sleep(10 * time.Minute)
		if n := w.store.Commits() - before; n != 0 {
			t.Errorf("%d commits while nothing changed", n)
		}
		stats := w.box.Stats()
		// The totals' turn walks the orders before and after each of its two questions.
		want := map[string]int{"/products": 20, "/categories": 20, "/ingredients": 20, "/sales/orders": 20 + 2*2, "/me": 2, "/locations": 2, "/allergens": 2}
		for route, n := range want {
			if got := stats.ByRoute[route]; got != n {
				t.Errorf("%s: %d requests in ten minutes, want %d (all: %v)", route, got, n, stats.ByRoute)
			}
		}
	})
}

func TestAReportCountsEveryRequest(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 300, Days: 20, Record: true, NoLimits: true}, func(t *testing.T, w *world) {
		for pass := range 2 {
			before := len(w.box.Requests())
			var counted uint64
			for _, st := range w.once(Selection{}).Sources[0].Streams {
				counted += st.Requests
				if st.Requests == 0 && (pass == 0 || st.Stream != "api_keys") { // the key is not asked about again
					t.Errorf("pass %d: %s counts no request", pass, st.Stream)
				}
			}
			if asked := len(w.box.Requests()) - before; int(counted) != asked {
				t.Errorf("pass %d: %d requests counted, %d made", pass, counted, asked)
			}
		}
	})
}
