package app

import (
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer"
)

// reconcile compares all days; it returns the verdicts that are not proven.
func (w *world) reconcile(t *testing.T, heal bool, code int) (syncer.SourceReconcile, []sinks.Verdict) {
	t.Helper()
	told := 0
	report, err := w.app.Reconcile(t.Context(), syncer.ReconcileRequest{Heal: heal}, time.Minute, func(syncer.ReconcileReport) { told++ })
	if lifecycle.ExitCode(err) != code || told == 0 || len(report.Sources) != 1 {
		t.Fatalf("exit code %d, want %d; told %d times; %+v; %v", lifecycle.ExitCode(err), code, told, report, err)
	}
	return report.Sources[0], report.Sources[0].Open
}

// TestReconcileInTheEngine proves every day as the engine adds it up, finds damage and
// heals it, through the daemon and without one.
func TestReconcileInTheEngine(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 14, Orders: 300, Days: 28, NoLimits: true, Readings: sandbox.Readings{NewMapKeys: true}})
	w.migrated(t)
	w.app.settleAfter = 100 * time.Millisecond
	d, stop := w.daemon(t, w.app)
	defer stop()
	w.sync(t)

	whole, open := w.reconcile(t, false, lifecycle.ExitDone)
	if len(open) > 0 || whole.Proven < 4*28 {
		t.Fatalf("an undamaged mirror: %+v", whole)
	}
	orders := w.Restaurant(0).IDs(sandbox.StreamSalesOrders)
	harm := func(d *Daemon) {
		runInEngine(t, d,
			change("sales_orders", orders[30], "toDecimal64('12345.67', 2) AS totals_tip"),
			change("sales_orders", orders[100], "'one too many' AS id"),
			change("sales_orders", orders[160], "addDays(business_day, 10) AS business_day"),
			"DELETE FROM larder_raw.sales_orders WHERE id = '"+orders[230]+"'",
		)
	}
	harm(d)
	for range 2 { // what is only reported stays
		if found, _ := w.reconcile(t, false, lifecycle.ExitProblem); found.Drift < 10 || found.Healed > 0 || found.Err != nil {
			t.Errorf("%+v", found)
		}
	}
	s, err := w.app.Status(t.Context())
	if err != nil || s.Sources[0].Proof == nil || s.Sources[0].Proof.DriftDays < 2 {
		t.Errorf("status: %v, %+v", err, s.Sources[0].Proof)
	}
	healed, open := w.reconcile(t, true, lifecycle.ExitDone)
	if healed.Healed < 5 || healed.Drift+healed.Unsettled+healed.Unproven > 0 {
		t.Errorf("%+v", healed)
	}
	for _, v := range open {
		if len(v.Differences) == 0 || len(v.OrderIDs) == 0 || strings.Contains(v.OrderIDs[0], "\x00") {
			t.Errorf("%+v", v)
		}
	}
	harm(d)
	stop()
	w.engineStays(t)
	if healed, _ := w.reconcile(t, true, lifecycle.ExitDone); healed.Healed < 5 || healed.Err != nil { // the same without the daemon
		t.Errorf("%+v", healed)
	}
	if whole, _ := w.reconcile(t, false, lifecycle.ExitDone); whole.Proven < 4*28 {
		t.Errorf("after healing: %+v", whole)
	}
	s, err = w.app.Status(t.Context())
	if err != nil || s.Sources[0].Proof == nil || s.Sources[0].Proof.DriftDays != 0 || s.Sources[0].Proof.ProvenUntil == "" {
		t.Errorf("stored status: %v, %+v", err, s.Sources[0].Proof)
	}
}
