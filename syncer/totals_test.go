package syncer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

func TestDaysAreBucharests(t *testing.T) {
	for at, want := range map[string]types.Date{
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
		if got := schedule.DayOf(instant); got != want {
			t.Errorf("%s is %s, want %s", at, got, want)
		}
	}
	for _, c := range []struct {
		from types.Date
		n    int
		want types.Date
	}{{"2026-03-28", 1, "2026-03-29"}, {"2026-03-29", 1, "2026-03-30"}, {"2026-10-26", -1, "2026-10-25"}, {"2026-10-25", -1, "2026-10-24"}, {"2026-03-01", -1, "2026-02-28"}} {
		if got, err := schedule.AddDays(c.from, c.n); err != nil || got != c.want {
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
			w.schedule.FullResync = "0 4 1 1 *" // it asks for all days
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
					today := schedule.DayOf(at[i])
					yesterday, err := schedule.AddDays(today, -1)
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
			from := schedule.DayOf(time.Now().AddDate(0, 0, step[0]))
			to := schedule.DayOf(time.Now().AddDate(0, 0, step[1]))
			w.ask(key.Value, fmt.Sprintf("/sales/daily?from=%s&to=%s", from, to), &answer)
			for _, raw := range answer.Data {
				var day proof.DayRow
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
		w.compared()
		w.halt()
		cp, _ := w.store.Checkpoint("r0", "sales_daily", sinks.WalkTotals)
		if !cp.Done || cp.Pages > 7 {
			t.Errorf("%d steps for 200 days: %+v", cp.Pages, cp)
		}
		var pos struct{ Orders uint64 }
		if err := json.Unmarshal([]byte(cp.Position), &pos); err != nil || pos.Orders == 0 {
			t.Errorf("position %s, %v", cp.Position, err)
		}
		requests := len(w.box.Requests())
		w.run()
		time.Sleep(2 * time.Minute)
		for _, r := range w.box.Requests()[requests:] {
			recent := strings.Contains(r.URI, "from=1999-12-31") // yesterday, which is always asked for
			if r.Route == "/sales/daily" && !recent {
				t.Errorf("asked again after the backfill of the totals had ended: %s", r.URI)
			}
		}
	})
}

func TestLinesThatVanishFromADayAreBuried(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		time.Sleep(12 * time.Hour) // away from midnight
		day := schedule.DayOf(time.Now())
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
		w.until("removed", 20*time.Minute, func() bool { return w.store.Row("sales_products", "b1", id).Deleted })
		if w.store.Row("sales_products", "b1", string(day)+"/p/p1").Deleted {
			t.Error("a line that is still there was removed")
		}
	})
}

func TestADayThatWasNotAskedForGoesToQuarantine(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/sales/products", `{"date":"2090-01-01","product_id":"p","name":"x","category_id":null,"quantity":"1.00","weight_kg":null,"gross":"5.00","line_discounts":"0.00","net":"5.00"}`)
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

// The backfill takes several cycles of the budget's window. Within the first one it only
// bridges the hole that the requests of the start left, so it begins some six seconds
// behind the steady rate that the forecast is made of.
func TestTheForecastOfAnOrdersBackfill(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 7, Orders: 80_000, Days: 300}, func(t *testing.T, w *world) {
		w.run()
		w.until("a total", 15*time.Second, func() bool {
			p := w.stream("sales_orders").Progress
			return p != nil && p.TotalRows > 0 && p.ExpectedLeft > 0
		})
		// 300 days are four steps of 92 and the one that is empty.
		if cp, _ := w.store.Checkpoint("r0", registry.Daily, sinks.WalkTotals); cp.Pages > 5 {
			t.Errorf("the total stands after %d steps", cp.Pages)
		}
		p := *w.stream("sales_orders").Progress
		before := w.box.Stats().ByRoute["/sales/orders"]
		asked := time.Now()
		w.until("backfill", time.Hour, func() bool { return w.stream("sales_orders").State == status.StateRunning })
		took := time.Since(asked)
		if ratio := float64(took) / float64(p.ExpectedLeft); ratio < 0.94 || ratio > 1.06 {
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
		w.until("failing", 10*time.Minute, func() bool { return w.stream("sales_daily").State == status.StateFailing })
		f.on("/sales/daily", nil)
		w.until("running", 10*time.Minute, func() bool { return w.stream("sales_daily").State == status.StateRunning })
	})
}

// A day whose rows the warehouse could not be asked about is not taken for stored.
func TestADayThatWasAskedForWhileTheWarehouseWasDownIsStored(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		time.Sleep(12 * time.Hour) // away from midnight
		day := schedule.DayOf(time.Now())
		line, other := productLine(day, `"p1"`, `"Ciorba"`), productLine(day, `"p2"`, `"Papanasi"`)
		f.set("/sales/products", line)
		f.sellsOnlyOn(day)
		w.run(w.one())
		w.until("stored", 20*time.Minute, func() bool { return w.store.Row("sales_products", "b1", string(day)+"/p/p1").Raw != "" })
		f.set("/sales/products", line, other)
		w.sink.SetDown(true)
		w.until("a question in vain", time.Hour, func() bool { return w.stream("sales_products").State == status.StateFailing })
		w.sink.SetDown(false)
		w.until("stored too", time.Hour, func() bool { return w.store.Row("sales_products", "b1", string(day)+"/p/p2").Raw != "" })
	})
}

// sellsOnlyOn has the service sell nothing on any other day.
func (f *fake) sellsOnlyOn(day types.Date) {
	f.on("/sales/products", func(rw http.ResponseWriter, r *http.Request) bool {
		if q := r.URL.Query(); q.Get("from") <= string(day) && string(day) <= q.Get("to") {
			return false
		}
		fmt.Fprint(rw, `{"currency":"RON","from":"2000-01-01","to":"2000-01-01","data":[],"totals":{}}`)
		return true
	})
}

// productLine is a row of /sales/products.
func productLine(day any, product, name string) string {
	return fmt.Sprintf(`{"date":%q,"product_id":%s,"name":%s,"category_id":null,"quantity":"1.00","weight_kg":null,"gross":"5.00","line_discounts":"0.00","net":"5.00"}`, day, product, name)
}

func TestALineThatCannotBeToldApartBuriesNobody(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		time.Sleep(12 * time.Hour) // away from midnight
		day := schedule.DayOf(time.Now())
		f.sellsOnlyOn(day)
		f.set("/sales/products", productLine(day, `"p1"`, `"Ciorba"`), productLine(day, `"p2"`, `"Papanasi"`))
		w.run(w.one())
		row := func() bool { return w.store.Row("sales_products", "b1", string(day)+"/p/p1").Deleted }
		w.until("stored", 20*time.Minute, func() bool { return len(w.store.Rows("sales_products", "b1")) == 2 })
		f.set("/sales/products", productLine(day, `"p1"`, `7`), productLine(day, `"p2"`, `"Papanasi"`))
		w.until("quarantined", 20*time.Minute, func() bool { return len(w.store.Entries()) == 1 })
		if row() {
			t.Fatal("the bad line was removed: its day lost its sales")
		}
		f.set("/sales/products", productLine(day, `"p2"`, `"Papanasi"`))
		w.until("removed once it is gone", 20*time.Minute, row)
	})
}

func TestALineThatComesBackAsItWasIsStoredAgain(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		time.Sleep(12 * time.Hour) // away from midnight
		day := schedule.DayOf(time.Now())
		id := string(day) + "/p/p1"
		line, other := productLine(day, `"p1"`, `"Ciorba"`), productLine(day, `"p2"`, `"Papanasi"`)
		f.set("/sales/products", strings.Replace(line, `"net":"5.00"`, `"net":"abc"`, 1), other)
		w.run(w.one())
		w.until("quarantined", 20*time.Minute, func() bool { return len(w.store.Entries()) == 1 })
		f.set("/sales/products", line, other)
		w.until("stored", 20*time.Minute, func() bool { return w.store.Row("sales_products", "b1", id).Raw != "" })
		f.set("/sales/products", other)
		w.until("removed", 20*time.Minute, func() bool { return w.store.Row("sales_products", "b1", id).Deleted })
		f.set("/sales/products", line, other)
		w.until("back", 20*time.Minute, func() bool { return !w.store.Row("sales_products", "b1", id).Deleted })
	})
}

func TestAYearWithoutASaleDoesNotEndTheWayBackForGood(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		const old = "1997-06-01"
		day := `{"date":"` + old + `","orders":1,"net_sales":"5.00","items":"5.00","discounts":"0.00","delivery_fees":"0.00","tips":"0.00",` +
			`"deposits":"0.00","refunds":"0.00","payments":{"cash":"5.00"},"by_type":{"dine_in":"5.00"},"by_channel":{"pos":"5.00"}}`
		f.on("/sales/daily", func(rw http.ResponseWriter, r *http.Request) bool {
			rows := ""
			if q := r.URL.Query(); q.Get("from") <= old && old <= q.Get("to") {
				rows = day
			}
			fmt.Fprintf(rw, `{"currency":"RON","from":"2000-01-01","to":"2000-01-01","data":[%s],"totals":{}}`, rows)
			return true
		})
		f.on("/sales/orders", func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 500, "server_error"); return true })
		w.run(w.one())
		w.until("the totals end first", 30*time.Minute, func() bool {
			cp, _ := w.store.Checkpoint("s", "sales_daily", sinks.WalkTotals)
			return cp.Done
		})
		f.set("/sales/orders", order("o1", old, 1, clockText(time.Now())))
		f.on("/sales/orders", nil)
		w.until("the old day", time.Hour, func() bool { return w.store.Row("sales_daily", "b1", old).Raw != "" })
		w.until("the end", 30*time.Minute, w.filled)
	})
}

// order is a live order of a day, with so many lines.
func order(id, day string, lines int, updated string) string {
	line := `{"id":"i%d","product_id":"p","name":"L","variant_id":null,"variant_name":null,"quantity":"1.00","weight_kg":null,"price_per_kg":null,` +
		`"unit_price":"5.00","extras":[],"discount_percent":0,"vat_rate":9,"total":"5.00"}`
	items := make([]string, lines)
	for i := range items {
		items[i] = fmt.Sprintf(line, i)
	}
	sum := fmt.Sprintf(`"%d.00"`, 5*lines)
	return `{"id":"` + id + `","deleted":false,"number":"1","location_id":"l1","channel":"pos","type":"dine_in","table_id":null,"business_day":"` + day +
		`","created_at":"` + day + `T12:00:00Z","updated_at":"` + updated + `","paid_at":null,"items":[` + strings.Join(items, ",") +
		`],"totals":{"items":` + sum + `,"discount":"0.00","delivery_fee":"0.00","tip":"0.00","deposit":"0.00","total":` + sum + `,"net_sales":` + sum +
		`},"payments":[],"refunds":[]}`
}

// TestProductsOfTheConfiguredLocations are asked for, stored and proven by location.
func TestProductsOfTheConfiguredLocations(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 53, Orders: 400, Days: 10, Record: true, Readings: sandbox.Readings{StrangeIDs: true}}, func(t *testing.T, w *world) {
		all := w.box.Restaurant(0).LocationIDs()
		w.edit = func(s *Source) { s.Locations = all[:1] }
		business := w.proven()
		lines := 0
		for id, row := range w.store.Rows("sales_products", business) {
			if lines++; row.Location != all[0] || row.Deleted {
				t.Errorf("%s: %+v", id, row)
			}
		}
		if lines < 50 {
			t.Errorf("%d lines", lines)
		}
		for _, r := range w.box.Requests() {
			if strings.HasPrefix(r.URI, "/v1/sales/products") && !strings.Contains(r.URI, "location_id=") {
				t.Errorf("asked %s", r.URI)
			}
		}
		id := w.liveOrders(business, daysAgo(3))[0]
		row := w.store.Row(registry.Orders, business, id)
		w.store.EditColumn(registry.Orders, business, id, "items.total", sameEach(len(readSold(row.Raw).Items), "0.01"))
		w.deep()
		if v := w.verdicts()["products "+proof.DayKey(types.Date(daysAgo(4)), all[0])]; v.Verdict != sinks.VerdictHealed {
			t.Errorf("%+v", v)
		}
	})
}

// A line that comes back after a restart as it is stored closes its entry in quarantine (docs/rules.md R8).
func TestALineThatComesBackAfterARestartClosesItsEntry(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		time.Sleep(12 * time.Hour) // away from midnight
		day := schedule.DayOf(time.Now())
		line, other := productLine(day, `"p1"`, `"Ciorba"`), productLine(day, `"p2"`, `"Papanasi"`)
		f.sellsOnlyOn(day)
		f.set("/sales/products", line, other)
		w.run(w.one())
		w.until("stored", 20*time.Minute, func() bool { return len(w.store.Rows("sales_products", "b1")) == 2 })
		f.set("/sales/products", strings.Replace(line, `"net":"5.00"`, `"net":"abc"`, 1), other)
		w.until("quarantined", 20*time.Minute, func() bool { return len(w.openRaws("sales_products")) == 1 })
		w.halt()
		f.set("/sales/products", line, other)
		w.run(w.one())
		w.until("closed", time.Hour, func() bool { return len(w.openRaws("sales_products")) == 0 })
	})
}
