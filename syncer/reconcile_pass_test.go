package syncer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
)

// reconciled is what a reconciliation of some days says of the first source.
func (w *world) reconciled(r proof.Request) proof.SourceReport {
	w.t.Helper()
	report, err := w.syncer.Reconcile(w.t.Context(), r, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return report.Sources[0]
}

// errorOf joins the errors of the sources of a reconciliation.
func errorOf(r proof.Report) error {
	var errs []error
	for _, s := range r.Sources {
		if s.Err != nil {
			errs = append(errs, s.Err)
		}
	}
	return errors.Join(errs...)
}

// turned runs a daemon until a turn has compared yesterday and today; no deep run is
// due for an hour.
func (w *world) turned() (business string) {
	w.t.Helper()
	w.run()
	w.until("backfill", 10*time.Minute, w.filled)
	time.Sleep(20 * time.Minute)
	return w.box.Restaurant(0).ID()
}

func TestWhatWasOnlyComparedIsHealedByTheDaemon(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 41, Orders: 200, Days: 4}, func(t *testing.T, w *world) {
		business := w.turned()
		id := w.liveOrders(business, daysAgo(1))[0]
		w.store.EditColumn(registry.Orders, business, id, "totals_tip", `"900.00"`)
		found := w.reconciled(proof.Request{From: daysAgo(1)})
		if found.Drift == 0 || found.Healed > 0 || !strings.HasPrefix(found.Open[0].Reason, "not healed: it was only compared") || found.Days != (proof.VerdictCounts{Proven: 1, Drift: 1}) {
			t.Fatalf("%+v", found)
		}
		time.Sleep(20 * time.Minute)
		if v := w.verdicts()["daily "+daysAgo(1)]; v.Verdict != sinks.VerdictHealed {
			t.Errorf("after a turn: %+v", v)
		}
	})
}

// TestARestartedDaemonHealsWhatWasOnlyCompared, and not what a full resync did not help: that is
// a flag of the verdict; its reason is for people.
func TestARestartedDaemonHealsWhatWasOnlyCompared(t *testing.T) {
	for tried, want := range map[bool]string{false: sinks.VerdictHealed, true: sinks.VerdictDrift} {
		inWorld(t, sandbox.Options{Seed: 47, Orders: 200, Days: 4, Record: true}, func(t *testing.T, w *world) {
			business := w.turned()
			w.store.EditColumn(registry.Orders, business, w.liveOrders(business, daysAgo(1))[0], "totals_tip", `"900.00"`)
			found := w.reconciled(proof.Request{From: daysAgo(1), To: daysAgo(1)})
			w.halt()
			for _, v := range found.Open {
				v.HealingTried = tried
				w.say(v)
			}
			before := len(w.box.Requests())
			w.turned()
			v := w.verdicts()["daily "+daysAgo(1)]
			walks := rangeWalks(w.box.Requests()[before:])
			if v.Verdict != want || v.HealingTried != tried || (walks > 0) == tried {
				t.Errorf("tried %v: %d walks of the day, then %+v", tried, walks, v)
			}
		})
	}
}

func TestDaysBeyondTheLast92DoNotMoveTheProof(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 42, Orders: 400, Days: 200}, func(t *testing.T, w *world) {
		w.turned()
		before := *w.syncer.Status().Sources[0].Proof
		if found := w.reconciled(proof.Request{From: daysAgo(150), To: daysAgo(149)}); found.Proven != 2*4 || found.Days != (proof.VerdictCounts{Proven: 2}) || found.Locations != 2 {
			t.Errorf("%+v", found)
		}
		if after := w.syncer.Status().Sources[0].Proof; after.ProvenUntil != before.ProvenUntil || before.ProvenUntil == "" {
			t.Errorf("proven until %s, was %s", after.ProvenUntil, before.ProvenUntil)
		}
	})
}

// TestVerdictsOfAnotherConfigurationDoNotCount: all locations together are not asked
// for where the configuration names some.
func TestVerdictsOfAnotherConfigurationDoNotCount(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 43, Orders: 200, Days: 4}, func(t *testing.T, w *world) {
		restaurant := w.box.Restaurant(0)
		w.say(sinks.Verdict{Day: daysAgo(1), Subject: sinks.SubjectDaily, Verdict: sinks.VerdictDrift})
		w.edit = func(s *Source) { s.Locations = restaurant.LocationIDs()[:1] }
		w.turned()
		if p := w.syncer.Status().Sources[0].Proof; p == nil || p.DriftDays != 0 || p.ProvenUntil != daysAgo(1) {
			t.Errorf("proof %+v", p)
		}
	})
}

// say stores a verdict about the first restaurant, as a process before did.
func (w *world) say(v sinks.Verdict) {
	w.t.Helper()
	sink := memsink.Open(w.store, memsink.Options{})
	_, err := sink.Write(w.t.Context(), &sinks.Commit{
		Source: "r0", Business: w.box.Restaurant(0).ID(), Stream: registry.Daily, Verdicts: []sinks.Verdict{v},
	})
	if err := errors.Join(err, sink.Close(w.t.Context())); err != nil {
		w.t.Fatal(err)
	}
}

func TestNothingComparedIsNoProof(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 44, Orders: 100, Days: 4}, func(t *testing.T, w *world) {
		w.once(Selection{})
		w.once(Selection{})
		found := w.reconciled(proof.Request{From: daysAgo(-2)})
		if found.Err == nil || !strings.Contains(found.Err.Error(), "nothing to compare yet") {
			t.Errorf("days to come: %+v", found)
		}
	})
}
