package syncer

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/verify"
)

// Instants have seven and nine decimals, percentages and coordinates are binary floats as
// printed: every row lands, is verified and proven. Each field is reported once, also after a
// restart. No request has an instant that a checkpoint could not store.
func TestDigitsFinerThanTheirColumns(t *testing.T) {
	for _, precision := range []time.Duration{100 * time.Nanosecond, time.Nanosecond} {
		inWorld(t, sandbox.Options{
			Seed: 7, Orders: 600, Days: 30, Pace: 20, OnlineOrders: 300, Record: true,
			Readings: sandbox.Readings{StampPrecision: precision, LongFloats: true, NeverPaidTombstones: true},
		}, func(t *testing.T, w *world) {
			policy, err := personal.New(personal.Keep, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.edit = func(s *Source) { s.Personal = policy }
			w.schedule = Schedule{Incremental: "@every 2m", OnlineOrders: "@every 5m", Snapshots: "@every 1h"}
			time.Sleep(10 * time.Hour) // guests order by day
			freeze := w.alive()
			w.run()
			w.until("filled", time.Hour, w.filled)
			time.Sleep(20 * time.Minute)
			w.halt()
			time.Sleep(time.Hour)
			w.run()
			w.until("filled again", time.Hour, w.filled)
			w.deep()
			_, found := w.verify(Selection{})
			freeze()
			w.columnsAreRight()
			for _, f := range found {
				if f.Kind != verify.FoundMoving {
					t.Errorf("%s: %s", precision, brief(f))
				}
			}
			if n := w.store.Open(); n > 0 {
				t.Errorf("%s: %d rows in quarantine, such as %+v", precision, n, w.store.Entries()[0])
			}
			if n := len(w.verdicts()); n < 30 {
				t.Errorf("%s: %d verdicts", precision, n)
			}
			for day, v := range w.verdicts() {
				if v.Verdict != sinks.VerdictProven {
					t.Errorf("%s: %s is %s: %s", precision, day, v.Verdict, v.Reason)
				}
			}
			w.expectDigits()
			for _, r := range w.box.Requests() {
				if _, fraction, ok := strings.Cut(r.URI, "updated_since="); ok {
					_, fraction, _ = strings.Cut(fraction, ".")
					fraction, _, _ = strings.Cut(fraction, "Z")
					if len(fraction) > 6 {
						t.Errorf("%s: asked %s", precision, r.URI)
					}
				}
			}
			synctest.Wait()
		})
	}
}

// expectDigits holds what is reported as drift against the fields that have finer digits.
func (w *world) expectDigits() {
	w.t.Helper()
	reported := map[string]int{}
	for _, d := range w.store.Drift() {
		_, rest, _ := strings.Cut(d, "\x00")
		reported[strings.ReplaceAll(rest, "\x00", " ")]++
	}
	for _, want := range []string{
		registry.Orders + " digits updated_at", registry.Orders + " digits items.discount_percent", registry.Orders + " digits items.vat_rate",
		registry.Orders + " digits payments.at", "products digits vat_rate", "products digits created_at",
		registry.Online + " digits delivery.lat", registry.Online + " digits delivery.lng",
	} {
		if reported[want] != 1 {
			w.t.Errorf("%s is reported %d times", want, reported[want])
		}
	}
	for d, n := range reported {
		if n > 1 || strings.Fields(d)[1] != "digits" {
			w.t.Errorf("%s is reported %d times", d, n)
		}
	}
}

// Half a surrogate pair in every row that has a number or a name: every row lands, is
// verified and proven, and what is stored is whole.
func TestHalfASurrogateInEveryRow(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 8, Orders: 300, Days: 20}, func(t *testing.T, w *world) {
		for _, route := range []string{"/sales/orders", "/products", "/categories", "/ingredients", "/locations"} {
			if err := w.box.AddFault(faults.Fault{Kind: faults.HalfSurrogate, Route: route, Probability: 1}); err != nil {
				t.Fatal(err)
			}
		}
		w.run()
		w.until("filled", time.Hour, w.filled)
		w.deep()
		w.columnsAreRight()
		_, found := w.verify(Selection{})
		for _, f := range found {
			t.Error(brief(f))
		}
		if n := w.store.Open(); n > 0 {
			t.Errorf("%d rows in quarantine, such as %+v", n, w.store.Entries()[0])
		}
		business := w.box.Restaurant(0).ID()
		orders := w.liveOrders(business, "")
		if row := w.store.Row(registry.Orders, business, orders[0]); len(orders) < 250 || !strings.Contains(row.Raw, `"number":"Pizza \ud83c"`) {
			t.Errorf("%d orders, one is %s", len(orders), row.Raw)
		}
		if n := len(w.verdicts()); n < 20 {
			t.Errorf("%d verdicts", n)
		}
		for day, v := range w.verdicts() {
			if v.Verdict != sinks.VerdictProven {
				t.Errorf("%s is %s: %s", day, v.Verdict, v.Reason)
			}
		}
	})
}
