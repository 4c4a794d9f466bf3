package syncer

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

func TestAStatusSaysWhenEachStreamIsAskedNext(t *testing.T) {
	inFake(t, func(_ *testing.T, f *fake, w *world) {
		w.schedule = Schedule{Incremental: "@every 30s", Snapshots: "@every 5m"}
		w.run(w.one())
		w.until("mirrored", time.Minute, w.filled)
		begun := w.stream("categories")
		if wait := time.Until(begun.Next); begun.NextWhy != string(schedule.ByTurn) || wait <= 0 || wait > 30*time.Second {
			w.t.Errorf("in %s, %q", wait, begun.NextWhy)
		}
		time.Sleep(time.Until(begun.Next) + time.Second)
		if now := w.stream("categories"); now.LastSuccess.Before(begun.Next) || now.Next.Sub(begun.Next) != 30*time.Second {
			w.t.Errorf("it was to be at %s, was at %s, and will be at %s", begun.Next, now.LastSuccess, now.Next)
		}

		f.on(cats, func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Retry-After", "100")
			fakeError(rw, http.StatusServiceUnavailable, "unavailable")
			return true
		})
		w.until("told to wait", 10*time.Minute, func() bool { return w.stream("categories").NextWhy == string(schedule.Asked) })
		asked := w.stream("categories")
		if asked.Next.Before(time.Now().Add(30*time.Second)) || w.stream("products").NextWhy != string(schedule.ByTurn) {
			w.t.Errorf("in %s; of the products %q", time.Until(asked.Next), w.stream("products").NextWhy)
		}
		f.on(cats, nil)

		f.on("/me", func(rw http.ResponseWriter, _ *http.Request) bool {
			fakeError(rw, http.StatusUnauthorized, "unauthorized")
			return true
		})
		w.until("refused", 10*time.Minute, func() bool { return w.source().State == status.StateUnauthorized })
		if st := w.stream("products"); st.NextWhy != string(schedule.Probed) || !st.Next.Equal(w.source().NextProbe) {
			w.t.Errorf("at %s, %q; the source at %s", st.Next, st.NextWhy, w.source().NextProbe)
		}
		w.halt()
		if st := w.stream("products"); !st.Next.IsZero() {
			w.t.Errorf("nobody serves it, and it is asked at %s", st.Next)
		}
	})
}

func TestAStatusSaysThatABackfillIsUnderWay(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 6000, Days: 100}, func(t *testing.T, w *world) {
		w.run()
		backfills := func() bool {
			st := w.stream("sales_orders")
			return st.State == status.StateBackfill && st.Progress != nil && st.Progress.Pages > 2
		}
		w.until("in backfill", time.Minute, backfills)
		for range 8 {
			if st := w.stream("sales_orders"); st.NextWhy != string(schedule.UnderWay) {
				t.Fatalf("it runs next in %s, %q", time.Until(st.Next), st.NextWhy)
			}
			time.Sleep(time.Second)
		}
		if !backfills() {
			t.Fatal("its backfill was too short to be looked at")
		}
		w.until("filled", time.Hour, w.filled)
		if st := w.stream("sales_orders"); st.NextWhy != string(schedule.ByTurn) {
			t.Errorf("after its backfill %q", st.NextWhy)
		}
	})
}

func TestAStatusSaysWhenABackfillThatIsOwedGoesOn(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.schedule = Schedule{Incremental: "@every 30s", Reconcile: "@every 6h", FullResync: "0 4 1 1 *", ReconcileDeep: "0 4 1 1 *"}
		f.on("/sales/daily", func(rw http.ResponseWriter, _ *http.Request) bool {
			fakeError(rw, http.StatusBadRequest, "bad_request")
			return true
		})
		w.run(w.one())
		w.until("refused", time.Minute, func() bool { return w.stream("sales_daily").LastError != "" })
		time.Sleep(time.Minute) // the first turns of all jobs are over
		w.until("at rest", time.Minute, func() bool { return w.stream("sales_daily").NextWhy == string(schedule.ByTurn) })
		owed := w.stream("sales_daily")
		if wait := time.Until(owed.Next); wait <= 0 || wait > 30*time.Second {
			t.Errorf("its backfill goes on in %s", wait)
		}
		f.on("/sales/daily", nil)
		time.Sleep(time.Until(owed.Next) + 2*time.Second)
		if is := w.stream("sales_daily"); is.NextWhy != string(schedule.UnderWay) && is.LastSuccess.Before(owed.Next) {
			t.Errorf("it was to go on at %s, and did not: %+v", owed.Next, is)
		}
		w.until("gone on", time.Minute, func() bool { return !w.stream("sales_daily").LastSuccess.Before(owed.Next) })
		w.until("filled", time.Hour, w.filled)
		if wait := time.Until(w.stream("sales_daily").Next); wait < 10*time.Minute {
			t.Errorf("nothing is owed, and it is asked in %s", wait)
		}
	})
}

func TestADeepRunWaitsAsLongAsTheServiceAsks(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.schedule = Schedule{Reconcile: "@every 10m", ReconcileDeep: "@every 90m", FullResync: "0 4 1 1 *"}
		w.run(w.one())
		w.until("filled", time.Hour, w.filled)
		f.on("/sales/daily", func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Retry-After", "7200")
			fakeError(rw, http.StatusServiceUnavailable, "unavailable")
			return true
		})
		w.until("told to wait", time.Hour, func() bool { return w.stream("sales_daily").NextWhy == string(schedule.Asked) })
		asked := w.stream("sales_daily")
		f.asked("/sales/daily")
		time.Sleep(time.Until(asked.Next) - time.Minute)
		if n := len(f.asked("/sales/daily")); n > 0 || time.Until(asked.Next) < 0 {
			t.Errorf("it was asked %d times while it was to wait until %s", n, asked.Next)
		}
		f.on("/sales/daily", nil)
		w.until("made up for, before its next turn", 12*time.Minute, func() bool {
			return slices.ContainsFunc(f.asked("/sales/daily"), func(asked string) bool {
				from, err := time.Parse(time.DateOnly, query(asked, "from"))
				return err == nil && time.Since(from) > 60*24*time.Hour // the turn of yesterday and today asks for less
			})
		})
	})
}

// What a new mirror owes is made although its jobs are off: the backfill, and one deep run.
func TestJobsThatAreOffBeginNothing(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 52, Orders: 200, Days: 40, Record: true}, func(t *testing.T, w *world) {
		w.schedule = Schedule{Incremental: "@every 10m", Reconcile: "off", ReconcileDeep: "off", FullResync: "off"}
		w.run()
		w.until("filled", 3*time.Hour, w.filled)
		w.until("its deep run", time.Hour, func() bool {
			source := w.source()
			return source.Proof != nil && source.Proof.UnaskedDays == 0
		})
		time.Sleep(time.Hour)
		before := len(w.box.Requests())
		time.Sleep(8 * 24 * time.Hour)
		for _, r := range w.box.Requests()[before:] {
			if r.Route == "/sales/daily" || r.Route == "/sales/products" {
				t.Fatalf("totals are asked for: %s at %s", r.URI, r.At)
			}
		}
		source := w.source()
		for _, st := range source.Streams {
			switch totals := st.Name == registry.Daily || st.Name == "sales_products"; {
			case totals && (st.NextWhy != string(schedule.Off) || !st.Next.IsZero() || st.NextWalk(time.Now()) != "off"):
				t.Errorf("%s: next at %s, %q", st.Name, st.Next, st.NextWhy)
			case !totals && st.State == status.StateRunning && st.Next.IsZero():
				t.Errorf("%s: %q", st.Name, st.NextWhy)
			case st.Behind || st.LastResync.After(time.Now().Add(-8*24*time.Hour)):
				t.Errorf("%s: behind %v, last full resync %s", st.Name, st.Behind, st.LastResync)
			}
		}
		if health := source.Health(); health.Kind != status.HealthGood {
			t.Errorf("%+v", health)
		}
	})
}

// With the comparison of yesterday and today off, the nightly one proves, and is not late by day.
func TestTheDeepRunAloneProves(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 53, Orders: 200, Days: 40}, func(t *testing.T, w *world) {
		w.schedule = Schedule{Incremental: "@every 10m", Reconcile: "off"}
		w.run()
		w.until("filled", 3*time.Hour, w.filled)
		time.Sleep(3 * 24 * time.Hour)
		for range 24 {
			time.Sleep(time.Hour)
			if p := w.source().Proof; p == nil || p.Late || p.ProvenUntil < daysAgo(2) {
				t.Fatalf("%+v", p)
			}
		}
	})
}
