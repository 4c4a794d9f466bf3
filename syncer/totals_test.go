package syncer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
)

func TestDaysAreBucharests(t *testing.T) {
	for at, want := range map[string]api.Date{
		"2026-03-28T21:59:59Z": "2026-03-28", // 23:59 in winter
		"2026-03-28T22:00:00Z": "2026-03-29", // the night the clock goes forward
		"2026-03-29T20:59:59Z": "2026-03-29", // 23:59 in summer
		"2026-03-29T21:00:00Z": "2026-03-30",
		"2026-10-24T20:59:59Z": "2026-10-24",
		"2026-10-24T21:00:00Z": "2026-10-25", // the night the clock goes back
		"2026-10-25T21:59:59Z": "2026-10-25", // a day of 25 hours
		"2026-10-25T22:00:00Z": "2026-10-26",
	} {
		instant, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := dayOf(instant); got != want {
			t.Errorf("%s is %s, want %s", at, got, want)
		}
	}
	for _, c := range []struct {
		from api.Date
		n    int
		want api.Date
	}{{"2026-03-28", 1, "2026-03-29"}, {"2026-03-29", 1, "2026-03-30"}, {"2026-10-26", -1, "2026-10-25"}, {"2026-10-25", -1, "2026-10-24"}, {"2026-03-01", -1, "2026-02-28"}} {
		if got, err := addDays(c.from, c.n); err != nil || got != c.want {
			t.Errorf("%s%+d is %s, want %s (%v)", c.from, c.n, got, c.want, err)
		}
	}
}

func TestRecentTotalsAreYesterdayAndTodayThroughChangesOfClock(t *testing.T) {
	for _, start := range []string{"2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"} {
		inFake(t, func(t *testing.T, f *fake, w *world) {
			to, err := time.Parse(time.RFC3339, start)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Until(to))
			w.run(w.one())
			time.Sleep(30 * time.Minute)
			f.asked("")
			for range 60 {
				time.Sleep(time.Hour)
				log, at := f.taken()
				for i, l := range log {
					if len(l) < 12 || l[:12] != "/sales/daily" {
						continue
					}
					today := dayOf(at[i])
					yesterday, err := addDays(today, -1)
					if err != nil {
						t.Fatal(err)
					}
					// The deep run asks for 92 days; all end today.
					if query(l, "to") != string(today) || query(l, "from") > string(yesterday) {
						t.Errorf("at %s asked %s", at[i], l)
					}
				}
			}
		})
	}
}

func TestTotalsEqualTheServices(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 5, Orders: 3000, Days: 400, NoLimits: true}, func(t *testing.T, w *world) {
		w.once(Selection{})
		key := w.box.Key(0, sandbox.RoleTest)
		rows := w.store.Rows("sales_daily", key.BusinessID)
		days := 0
		for _, step := range [][2]int{{-91, 0}, {-183, -92}, {-275, -184}, {-367, -276}, {-400, -368}} {
			var answer struct{ Data []json.RawMessage }
			from := dayOf(time.Now().AddDate(0, 0, step[0]))
			to := dayOf(time.Now().AddDate(0, 0, step[1]))
			w.ask(key.Value, fmt.Sprintf("/sales/daily?from=%s&to=%s", from, to), &answer)
			for _, raw := range answer.Data {
				var day dayRow
				if err := json.Unmarshal(raw, &day); err != nil {
					t.Fatal(err)
				}
				if got := rows[string(day.Date)].Raw; got != string(raw) {
					t.Fatalf("day %s:\n mirror  %s\n service %s", day.Date, got, raw)
				}
				days++
			}
		}
		if days < 400 {
			t.Errorf("compared %d days", days)
		}
		products := 0
		for _, r := range w.store.Rows("sales_products", key.BusinessID) {
			if !r.Deleted {
				products++
			}
		}
		if products < 1000 {
			t.Errorf("%d product rows", products)
		}
	})
}

func TestTheWayBackEndsAtTheFirstOrder(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 6, Orders: 500, Days: 200, Record: true}, func(t *testing.T, w *world) {
		w.run()
		w.until("backfill", 30*time.Minute, w.filled)
		w.halt()
		cp, _ := w.store.Checkpoint("r0", "sales_daily", sinks.WalkTotals)
		if !cp.Done || cp.Pages > 7 {
			t.Errorf("%d steps for 200 days: %+v", cp.Pages, cp)
		}
		pos, err := readPosition(cp.Position)
		if err != nil || pos.Orders == 0 {
			t.Errorf("position %+v, %v", pos, err)
		}
		requests := len(w.box.Requests())
		w.run()
		time.Sleep(2 * time.Minute)
		for _, r := range w.box.Requests()[requests:] {
			if r.Route == "/sales/daily" && r.At.Sub(w.syncer.startedAt) > 10*time.Second {
				t.Errorf("asked again after the way back had ended: %s", r.URI)
			}
		}
	})
}

func TestLinesThatVanishFromADayAreBuried(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		time.Sleep(12 * time.Hour) // away from midnight
		day := dayOf(time.Now())
		line := func(product, name string) string {
			return fmt.Sprintf(`{"date":%q,"product_id":%s,"name":%q,"category_id":null,"quantity":"1.00","weight_kg":null,"gross":"5.00","line_discounts":"0.00","net":"5.00"}`, day, product, name)
		}
		f.set("/sales/products", line(`"p1"`, "Ciorba"), line("null", "Diverse"))
		w.run(w.one())
		id := string(day) + "/n/Diverse"
		w.until("stored", 20*time.Minute, func() bool { return w.store.Row("sales_products", "b1", id).Raw != "" })
		w.halt()
		w.run(w.one())
		f.set("/sales/products", line(`"p1"`, "Ciorba"))
		w.until("buried", 20*time.Minute, func() bool { return w.store.Row("sales_products", "b1", id).Deleted })
		if w.store.Row("sales_products", "b1", string(day)+"/p/p1").Deleted {
			t.Error("a line that is still there was buried")
		}
	})
}

func TestADayThatWasNotAskedForGoesToQuarantine(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/sales/products", `{"date":"1990-01-01","product_id":"p","name":"x","category_id":null,"quantity":"1.00","weight_kg":null,"gross":"5.00","line_discounts":"0.00","net":"5.00"}`)
		w.open(w.one())
		w.once(Selection{Streams: []string{"sales_products"}})
		if e := w.store.Entries(); len(e) == 0 || e[0].Field != "date" {
			t.Errorf("quarantine %+v", e)
		}
		if n := len(w.store.Rows("sales_products", "b1")); n != 0 {
			t.Errorf("%d rows stored", n)
		}
	})
}

func TestTheForecastOfAnOrdersBackfill(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 7, Orders: 40_000, Days: 300}, func(t *testing.T, w *world) {
		w.run()
		w.until("a total", 5*time.Minute, func() bool {
			p := w.stream("sales_orders").Progress
			return p != nil && p.TotalRows > 0 && p.ExpectedLeft > 0
		})
		p := *w.stream("sales_orders").Progress
		before := w.box.Stats().ByRoute["/sales/orders"]
		asked := time.Now()
		w.until("backfill", time.Hour, func() bool { return w.stream("sales_orders").State == StateRunning })
		took := time.Since(asked)
		if ratio := float64(took) / float64(p.ExpectedLeft); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("expected %s, took %s", p.ExpectedLeft, took)
		}
		incremental := int(took/(30*time.Second)) + 1
		requests := w.box.Stats().ByRoute["/sales/orders"] - before - incremental
		if off := requests - int(p.RequestsLeft); off < -5 || off > 5 {
			t.Errorf("forecast %d requests, made about %d", p.RequestsLeft, requests)
		}
	})
}

func TestATotalsRouteThatFailsIsTriedAgain(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.on("/sales/daily", func(w http.ResponseWriter, _ *http.Request) bool { fakeError(w, 500, "server_error"); return true })
		w.run(w.one())
		w.until("failing", 10*time.Minute, func() bool { return w.stream("sales_daily").State == StateFailing })
		f.on("/sales/daily", nil)
		w.until("running", 10*time.Minute, func() bool { return w.stream("sales_daily").State == StateRunning })
	})
}
