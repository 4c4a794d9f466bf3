package syncer

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// refunded refunds the n-th order of the world some days ago.
func (w *world) refunded(n, ago int) (id, day string) { return w.refundedBy(n, ago, 1234) }

// refundedBy refunds an amount in bani.
func (w *world) refundedBy(n, ago int, amount int64) (id, day string) {
	w.t.Helper()
	restaurant := w.box.Restaurant(0)
	id = restaurant.IDs(sandbox.StreamSalesOrders)[n]
	at := time.Now().AddDate(0, 0, -ago)
	if err := restaurant.At(at).RefundOrderAt(id, amount, at); err != nil {
		w.t.Fatal(err)
	}
	return id, string(schedule.DayOf(at))
}

// expectExplained expects that one day is explained, and all others are proven.
func (w *world) expectExplained(day string) {
	w.t.Helper()
	for key, v := range w.verdicts() {
		switch {
		case v.Day != day || v.Subject != sinks.SubjectDaily || v.Location != "":
			if v.Verdict != sinks.VerdictProven && v.Day != day {
				w.t.Errorf("%s: %+v", key, v)
			}
		case v.Verdict != sinks.VerdictExplained || len(v.Differences) != 1 || v.Differences[0].Figure != "refunds" || !strings.Contains(v.Reason, "removed"):
			w.t.Errorf("%s: %+v", key, v)
		}
	}
	if p := w.syncer.Status().Sources[0].Proof; p == nil || p.DriftDays+p.OpenDays != 0 || p.ExplainedDays != 1 || p.ProvenUntil != daysAgo(1) {
		w.t.Errorf("proof %+v", p)
	}
}

// TestRefundsOfRemovedOrdersAreExplained, whether the mirror had their values or not: the
// service may count them or not (docs/rules.md, Open readings).
func TestRefundsOfRemovedOrdersAreExplained(t *testing.T) {
	for name, c := range map[string]struct{ counted, before bool }{
		"counted": {counted: true}, "not counted": {}, "counted, removed before the mirror began": {true, true}, "not counted, removed before": {before: true},
	} {
		t.Run(name, func(t *testing.T) {
			opts := sandbox.Options{Seed: 51, Orders: 800, Days: 20, Record: true, Readings: sandbox.Readings{RemovedRefunds: c.counted}}
			inWorld(t, opts, func(t *testing.T, w *world) {
				id, day := w.refunded(20, 3)
				cancel := func() {
					if err := w.box.Restaurant(0).CancelOrder(id); err != nil {
						t.Fatal(err)
					}
				}
				if c.before {
					cancel()
					w.schedule.FullResync = "0 4 1 7 *"
					w.ordersAndTotals()
					w.run()
					w.until("backfill", time.Hour, w.filled)
				} else {
					w.proven()
					cancel()
				}
				w.deep()
				if !c.counted {
					for key, v := range w.verdicts() {
						if v.Verdict != sinks.VerdictProven {
							t.Errorf("%s: %+v", key, v)
						}
					}
					return
				}
				if c.before { // the refund could have been lost by the mirror
					w.resynced()
				}
				w.expectExplained(day)
				before := len(w.box.Requests())
				w.deep()
				if n := rangeWalks(w.box.Requests()[before:]); n > 0 {
					t.Errorf("healed again, in vain: %d walks", n)
				}
				w.expectExplained(day)
				w.halt()
				w.run() // another process
				before = len(w.box.Requests())
				w.deep()
				if n := rangeWalks(w.box.Requests()[before:]); n > 0 {
					t.Errorf("healed again after a restart: %d walks", n)
				}
				w.expectExplained(day)
				if found := w.reconciled(proof.Request{From: day, To: day}); found.Drift+found.Unproven > 0 || found.Explained == 0 || found.Days.Explained != 1 || found.Open[0].Reason == "" {
					t.Errorf("reconcile: %+v", found)
				}
			})
		})
	}
}

// TestARefundThatTheMirrorNeverHadIsExplained: the order was refunded and removed between two
// walks. More than the order cost is a drift.
func TestARefundThatTheMirrorNeverHadIsExplained(t *testing.T) {
	for name, amount := range map[string]int64{"a part": 1234, "more than it cost": 10_000_00} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20, Readings: sandbox.Readings{RemovedRefunds: true}}, func(t *testing.T, w *world) {
				w.proven()
				time.Sleep(24 * time.Hour) // orders of unknown values were removed before
				restaurant, day := w.box.Restaurant(0), daysAgo(0)
				id := restaurant.IDs(sandbox.StreamSalesOrders)[20]
				if err := restaurant.RefundOrder(id, amount); err != nil {
					t.Fatal(err)
				}
				if err := restaurant.CancelOrder(id); err != nil {
					t.Fatal(err)
				}
				w.deep()
				w.resynced()
				if amount == 1234 {
					w.expectExplained(day)
				} else if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictDrift {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// spoiling serves one order so that it cannot be understood.
type spoiling struct {
	box *sandbox.Sandbox
	id  atomic.Pointer[string]
}

func (s *spoiling) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	id := s.id.Load()
	if id == nil || !strings.Contains(r.URL.Path, "/sales/orders") {
		s.box.Handler().ServeHTTP(rw, r)
		return
	}
	r.Header.Del("Accept-Encoding")
	kept := httptest.NewRecorder()
	s.box.Handler().ServeHTTP(kept, r)
	for name, values := range kept.Header() {
		if name != "Content-Length" {
			rw.Header()[name] = values
		}
	}
	rw.WriteHeader(kept.Code)
	before, row, _ := strings.Cut(kept.Body.String(), `"id":"`+*id+`"`)
	_, _ = io.WriteString(rw, before)
	if row != "" {
		_, _ = io.WriteString(rw, `"id":"`+*id+`"`+strings.Replace(row, `"tip":"`, `"tip":"abc`, 1))
	}
}

// TestAnOrderInQuarantineMayHoldRefunds, unless it has not changed since they were made.
func TestAnOrderInQuarantineMayHoldRefunds(t *testing.T) {
	for name, refunded := range map[string]bool{"changed since": true, "changed before": false} {
		t.Run(name, func(t *testing.T) {
			notInShort(t)
			synctest.Test(t, func(t *testing.T) {
				box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 51, Orders: 800, Days: 20, Readings: sandbox.Readings{RemovedRefunds: true}})
				if err != nil {
					t.Fatal(err)
				}
				spoiling := &spoiling{box: box}
				w := newWorld(t, spoiling)
				w.box = box
				w.proven()
				time.Sleep(24 * time.Hour) // orders of unknown values were removed before
				restaurant, day := box.Restaurant(0), daysAgo(0)
				ids := restaurant.IDs(sandbox.StreamSalesOrders)
				spoiling.id.Store(&ids[22])
				err = errors.Join(restaurant.RefundOrder(ids[20], 1234), restaurant.CancelOrder(ids[20]))
				if refunded {
					err = errors.Join(err, restaurant.RefundOrder(ids[22], 500))
				}
				if err != nil {
					t.Fatal(err)
				}
				w.deep()
				w.resynced()
				if open := w.store.Entries(); len(open) != 1 || open[0].ID != ids[22] {
					t.Fatalf("in quarantine: %+v", open)
				}
				v, want := w.verdicts()["daily "+day], sinks.VerdictExplained
				if refunded {
					want = sinks.VerdictDrift
				}
				if v.Verdict != want || strings.Contains(v.Reason, ids[22]) != refunded {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// TestALostRefundIsHealedBesideRemovedOrders: a refund that the mirror has lost looks as one of
// an order that was removed before.
func TestALostRefundIsHealedBesideRemovedOrders(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20}, func(t *testing.T, w *world) {
		id, day := w.refunded(20, 3)
		if err := w.box.Restaurant(0).CancelOrder(w.box.Restaurant(0).IDs(sandbox.StreamSalesOrders)[22]); err != nil {
			t.Fatal(err)
		}
		business := w.proven()
		for _, column := range []string{"amount", "method", "at", "item_id"} {
			w.store.EditColumn(registry.Orders, business, id, "refunds."+column, `[]`)
		}
		found := w.reconciled(proof.Request{From: day, To: day})
		if found.Explained > 0 || found.Drift == 0 || !strings.Contains(found.Open[0].Reason, "explained") {
			t.Errorf("only compared: %+v", found)
		}
		if p := w.syncer.Status().Sources[0].Proof; p.DriftDays != 1 || p.ProvenUntil >= day {
			t.Errorf("only compared: proof %+v", p)
		}
		w.deep()
		w.resynced()
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictHealed || w.wrongOrders() > 0 {
			t.Errorf("%+v", v)
		}
	})
}

// TestWhatIsNotExplainedIsDrift: anything beside the refunds of removed orders, more than
// those, a part of them, or less than the mirror has.
func TestWhatIsNotExplainedIsDrift(t *testing.T) {
	for name, edit := range map[string]map[string]string{
		"another figure":  {"totals_tip": `"900.00"`},
		"more than those": {"refunds.amount": `[]`, "refunds.method": `[]`, "refunds.at": `[]`, "refunds.item_id": `[]`},
		"less":            {"refunds.amount": `["90000.00"]`},
		"a part of them":  {"refunds.amount": `["1000.00"]`}, // 9000.00 less than it was
	} {
		t.Run(name, func(t *testing.T) {
			counted := name != "a part of them"
			inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20, Readings: sandbox.Readings{RemovedRefunds: counted}}, func(t *testing.T, w *world) {
				business := w.proven()
				time.Sleep(24 * time.Hour) // orders of unknown values were removed before
				id, day := w.refunded(20, 0)
				other, _ := w.refundedBy(22, 0, 10_000_00) // more than the removed order cost
				time.Sleep(time.Hour)
				if err := w.box.Restaurant(0).CancelOrder(id); err != nil {
					t.Fatal(err)
				}
				w.deep()
				if counted {
					w.expectExplained(day)
				}
				wrong := other
				if edit["totals_tip"] != "" {
					day = w.dayOfOrder(business, other)
				}
				for column, value := range edit {
					w.store.EditColumn(registry.Orders, business, wrong, column, value)
				}
				w.store.Edit(registry.Orders, business, wrong, func(r *memsink.Row) { r.Version = 1 << 62 })
				w.deep()
				if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictDrift {
					t.Errorf("%+v", v)
				}
				if p := w.syncer.Status().Sources[0].Proof; p.DriftDays != 1 {
					t.Errorf("proof %+v", p)
				}
			})
		})
	}
}

// TestRoundingOfTheGrossIsExplained: per line or per product.
func TestRoundingOfTheGrossIsExplained(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 32, Orders: 2500, Days: 10, Record: true, Readings: sandbox.Readings{GrossPerProduct: true}}, func(t *testing.T, w *world) {
		w.schedule.FullResync = "0 4 1 7 *"
		w.run()
		w.until("backfill", time.Hour, w.filled)
		w.deep()
		explained := 0
		for key, v := range w.verdicts() {
			switch {
			case v.Verdict == sinks.VerdictExplained && v.Subject == sinks.SubjectProducts && strings.Contains(v.Reason, "gross"):
				explained++
			case v.Verdict != sinks.VerdictProven:
				t.Errorf("%s: %+v", key, v)
			}
		}
		if explained < 3 {
			t.Errorf("%d days are rounded otherwise", explained)
		}
		if n := rangeWalks(w.box.Requests()); n > 0 {
			t.Errorf("%d walks of days to heal", n)
		}
		if p := w.syncer.Status().Sources[0].Proof; p == nil || p.DriftDays+p.OpenDays != 0 || p.ExplainedDays != explained || p.ProvenUntil != daysAgo(1) {
			t.Errorf("%d explained, proof %+v", explained, p)
		}
	})
}

// TestOddSumsOfAnAnswerAreDrift: a currency other than RON, and totals of all days that the
// days do not add up to. Each is reported once, and the days are compared all the same.
func TestOddSumsOfAnAnswerAreDrift(t *testing.T) {
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 31, Orders: 200, Days: 6})
		if err != nil {
			t.Fatal(err)
		}
		var odd atomic.Bool
		totalTips := regexp.MustCompile(`("totals":\{.*"tips":")`)
		w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/v1/sales/daily") && !strings.HasPrefix(r.URL.Path, "/v1/sales/products") || !odd.Load() {
				box.Handler().ServeHTTP(rw, r)
				return
			}
			r.Header.Del("Accept-Encoding")
			answer := httptest.NewRecorder()
			box.Handler().ServeHTTP(answer, r)
			body := strings.Replace(answer.Body.String(), `"currency":"RON"`, `"currency":"EUR"`, 1)
			body = totalTips.ReplaceAllString(body, "${1}9")
			for name, values := range answer.Header() {
				if name != "Content-Length" {
					rw.Header()[name] = values
				}
			}
			rw.WriteHeader(answer.Code)
			_, _ = io.WriteString(rw, body)
		}))
		w.box = box
		w.proven()
		if found := w.store.Drift(); len(found) > 0 {
			t.Fatalf("%q", found)
		}
		odd.Store(true)
		w.deep()
		want := []string{
			"r0\x00sales_daily\x00totals\x00totals.tips", "r0\x00sales_daily\x00value\x00currency\x00\"EUR\"",
			"r0\x00sales_products\x00value\x00currency\x00\"EUR\"",
		}
		if found := slices.Sorted(slices.Values(w.store.Drift())); !slices.Equal(found, want) {
			t.Errorf("%q", found)
		}
		for key, v := range w.verdicts() {
			if v.Verdict != sinks.VerdictProven {
				t.Errorf("%s: %+v", key, v)
			}
		}
	})
}
