package syncer

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// limitedTo lets the main key use some locations only.
func (w *world) limitedTo(locations ...string) {
	w.t.Helper()
	err := w.box.UpdateKey(w.box.Key(0, sandbox.RoleMain).Value, func(k *sandbox.Key) {
		k.AllLocations, k.LocationIDs = false, locations
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// While the rows of a gained location are coming, the status shows a backfill with its
// forecast, and a reconciliation waits for it.
func TestReconcilingWaitsForAGainedLocation(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 61, Orders: 20_000, Days: 60, ProductsPer: 10, LocationsPer: 2}, func(t *testing.T, w *world) {
		locations := w.box.Restaurant(0).LocationIDs()
		w.limitedTo(locations[0])
		w.run()
		w.until("backfill", time.Hour, w.filled)
		time.Sleep(time.Minute)
		must(t, w.box.UpdateKey(w.box.Key(0, sandbox.RoleMain).Value, func(k *sandbox.Key) { k.Limits.PerMinute = 30 }))
		w.limitedTo(locations...)
		w.until("the status shows it", 7*time.Minute, func() bool {
			st := w.stream(registry.Orders)
			return st.State == status.StateBackfill && st.Progress != nil && st.Progress.TotalRows > 0 && st.Progress.Pages > 2
		})
		told, began := *w.stream(registry.Orders).Progress, time.Now()
		if w.source().State != status.StateBackfill || told.ExpectedLeft.Duration() < 30*time.Second {
			t.Errorf("source %s, progress %+v", w.source().State, told)
		}
		var waited time.Duration
		report, err := w.syncer.Reconcile(t.Context(), proof.Request{}, func(so proof.Report) {
			if b := so.Sources[0].Backfill; b != nil && b.TotalRows > 0 && b.ExpectedLeft > 0 {
				waited = time.Since(began)
			}
		})
		if r := report.Sources[0]; err != nil || r.Err != nil || r.Proven < 100 || r.Drift+r.Unproven > 0 {
			t.Errorf("%v: %+v", err, r)
		}
		t.Logf("said %s, took %s", told.ExpectedLeft, waited)
		if ratio := float64(waited) / float64(told.ExpectedLeft); ratio < 0.7 || ratio > 1.3 {
			t.Errorf("expected %s, took %s", told.ExpectedLeft, waited)
		}
	})
}

// Without a daemon the reconciliation makes the backfill itself.
func TestReconcilingMakesABackfillThatNobodyMakes(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 62, Orders: 300, Days: 20}, func(t *testing.T, w *world) {
		w.open()
		if r := w.reconciled(proof.Request{}); r.Err != nil || r.Proven < 40 {
			t.Errorf("%+v", r)
		}
	})
}

// damaged changes an order of each of so many days behind the mirror's back.
func (w *world) damaged(business string, days int) {
	for n := 1; n <= days; n++ {
		if ids := w.liveOrders(business, daysAgo(n)); len(ids) > 0 {
			w.store.EditColumn(registry.Orders, business, ids[0], "totals_tip", `"900.00"`)
		}
	}
}

// A long healing shows how far it is and how long it takes, and what is done of it
// stays done when the process is killed.
func TestALongHealingKeepsWhatIsDone(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 63, Orders: 1500, Days: 40}, func(t *testing.T, w *world) {
		business := w.turned()
		w.halt()
		w.open()
		w.damaged(business, 30)
		ctx, kill := context.WithCancel(t.Context())
		defer kill()
		var seen proof.SourceReport
		began := time.Time{}
		_, err := w.syncer.Reconcile(ctx, proof.Request{Heal: true}, func(so proof.Report) {
			now := so.Sources[0]
			if ctx.Err() != nil || now.ToHeal == 0 {
				return
			}
			if began.IsZero() {
				began = time.Now()
			}
			if now.HealedDays >= 10 {
				seen = now
				w.sink.Crash(0)
				kill()
			}
		})
		if err == nil || seen.ToHeal != 30 || seen.ExpectedLeft <= 0 || seen.ExpectedLeft.Duration() > 10*time.Since(began) || len(seen.Open) < 9 {
			t.Fatalf("%v: after %s %+v", err, time.Since(began), seen)
		}
		w.open()
		healed := 0
		for key, v := range w.verdicts() {
			if strings.HasPrefix(key, "daily ") && v.Verdict == sinks.VerdictHealed && v.Location == "" {
				healed++
			}
		}
		if healed < 9 {
			t.Errorf("%d days are healed by what is stored", healed)
		}
		if r := w.reconciled(proof.Request{Heal: true}); r.Drift > 0 || r.Healed == 0 || r.Err != nil {
			t.Errorf("%+v", r)
		}
	})
}

// What differs is told in the log when it is found, a day once as long as it differs
// alike; by the daemon, too.
func TestADriftIsToldOnce(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 64, Orders: 300, Days: 10}, func(t *testing.T, w *world) {
		var log bytes.Buffer
		w.tune = func(o *Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		}
		business := w.turned()
		day := daysAgo(3)
		w.store.EditColumn(registry.Orders, business, w.liveOrders(business, day)[0], "totals_tip", `"900.00"`)
		told := func() int {
			return strings.Count(log.String(), fmt.Sprintf(`level=WARN msg="a day differs from what the service reports" source=r0 stream=%s day=%s`, registry.Daily, day))
		}
		for range 3 {
			w.reconciled(proof.Request{From: day, To: day})
			if told() != 1 {
				t.Fatalf("told %d times:\n%s", told(), log.String())
			}
		}
		w.store.EditColumn(registry.Orders, business, w.liveOrders(business, day)[1], "totals_tip", `"700.00"`)
		w.reconciled(proof.Request{From: day, To: day})
		if told() != 2 {
			t.Errorf("another finding is told %d times", told()-1)
		}
		w.halt()
		w.run() // the daemon finds it at its deep run, and knows it
		w.deep()
		if told() != 2 {
			t.Errorf("told %d times, after a restart:\n%s", told(), log.String())
		}
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictHealed {
			t.Errorf("%+v", v)
		}
	})
}
