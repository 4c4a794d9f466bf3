package syncer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// onlineOrder is an order as the service has it; change changes its fields.
func onlineOrder(id, state, location string, updated time.Time, change ...string) string {
	at := updated.UTC().Format(time.RFC3339Nano)
	row := fmt.Sprintf(`{"id":%q,"external_id":"e-%[1]s","number":null,"pickup_code":null,"status":%[2]q,"test":false,"type":"delivery","location_id":%[3]q,`+
		`"scheduled_for":null,"placed_at":"1999-12-31T20:00:00Z","answer_by":null,"accepted_at":null,"estimated_ready_at":null,"ready_at":null,"completed_at":null,`+
		`"rejected_at":null,"cancelled_at":null,"rejection":null,"cancellation":null,"customer":{"name":"Ana Secretescu","phone":"0722123456","email":"ana@secret.example"},`+
		`"delivery":{"address":"Str. Secretă 1","city":"Cluj","notes":"interfon Secretescu","lat":46.77,"lng":23.59},"notes":"Secretescu","allergies":"Secretescu","cutlery":null,`+
		`"items":[{"product_id":"p1","variant_id":null,"name":"Ciorbă","variant_name":null,"quantity":2,"unit_price":"10.00","options":[{"id":"x1","name":"Ardei","quantity":1,"unit_price":"1.00"}],`+
		`"notes":"Secretescu","deposit":"0.00","total":"22.00"}],"totals":{"items":"22.00","deposit":"0.00","tip":"0.00","total":"22.00"},`+
		`"payment":{"status":"paid","method":"card","reference":"Secretescu"},"created_at":"1999-12-31T20:00:00Z","updated_at":%[4]q}`, id, state, location, at)
	for i := 0; i+1 < len(change); i += 2 {
		row = strings.Replace(row, change[i], change[i+1], 1)
	}
	return row
}

// inOnline runs a test against a fake whose key may order.
func inOnline(t *testing.T, test func(t *testing.T, f *fake, w *world)) {
	t.Helper()
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.me = meOf("l1", "l2")
		f.on("/locations/l1/menu", func(w http.ResponseWriter, _ *http.Request) bool { fakeError(w, 404, "not_found"); return true })
		f.on("/locations/l2/menu", func(w http.ResponseWriter, _ *http.Request) bool { fakeError(w, 404, "not_found"); return true })
		test(t, f, w)
	})
}

func (w *world) onlineColumns(id string) map[string]json.RawMessage {
	w.t.Helper()
	rows, err := w.sink.Rows(w.t.Context(), registry.Online, "b1", []string{id})
	if err != nil || len(rows) != 1 {
		w.t.Fatalf("rows %+v, %v", rows, err)
	}
	return rows[0].Columns
}

// haveOnline is true when an order is stored with a status.
func (w *world) haveOnline(id, state string) func() bool {
	return func() bool {
		return strings.Contains(w.store.Row(registry.Online, "b1", id).Raw, `"status":"`+state+`"`)
	}
}

// A move of an order is in the warehouse within a turn of schedule.online_orders.
func TestOnlineOrdersAreAskedForAtTheirOwnTurns(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now().Add(-time.Hour)))
		w.run(w.one())
		w.until("stored", time.Minute, w.haveOnline("o1", "received"))
		w.until("filled", time.Minute, w.filled)
		if c := w.onlineColumns("o1"); string(c["via"]) != `"polling"` || string(c["items.options_unit_price"]) != `[["1.00"]]` || string(c["totals_total"]) != `"22.00"` {
			t.Errorf("columns %s, %s, %s", c["via"], c["items.options_unit_price"], c["totals_total"])
		}
		time.Sleep(time.Minute)
		f.taken()
		time.Sleep(10 * time.Minute)
		if n := len(f.asked("/orders")); n != 40 {
			t.Errorf("asked %d times in ten minutes, once every 15 seconds is 40", n)
		}
		f.set("/orders", onlineOrder("o1", "accepted", "l1", time.Now()))
		w.until("accepted", 16*time.Second, w.haveOnline("o1", "accepted"))
	})
}

// What a customer is stays with the service, whatever shape it comes in: in rows, in their
// JSON, in quarantine, in what is reported of unknown fields, in errors and in the log.
func TestNothingOfACustomerIsStored(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		var log logged
		w.into(&log)
		var text strings.Builder
		w.store.Watch(func(c *sinks.Commit, _ bool) {
			if c.Batch != nil {
				for _, r := range c.Batch.Rows {
					text.Write(r.Raw)
				}
			}
			fmt.Fprintf(&text, "%+v %+v %+v %+v\n", c.Quarantine, c.Drift, c.Run, c.Status)
		})
		now := time.Now()
		broken := `{"data":[` + onlineOrder("o9", "received", "l1", now)
		f.set("/orders",
			onlineOrder("o1", "received", "l1", now.Add(-7*time.Second)),
			onlineOrder("o2", "received", "l1", now.Add(-6*time.Second), `"quantity":2`, `"quantity":"Secretescu"`, `"unit_price":"10.00"`, `"unit_price":"Secretescu"`),
			onlineOrder("o3", "received", "l1", now.Add(-5*time.Second), `"cutlery":null`, `"cutlery":{"of":"Secretescu"}`),
			onlineOrder("o4", "received", "l1", now.Add(-4*time.Second), `"notes":"Secretescu","allergies"`, `"note_2":{"text":"Secretescu"},"notes":["Secretescu"],"allergies"`),
			onlineOrder("o5", "received", "l1", now.Add(-3*time.Second), `"customer":{`, `"customer":["Secretescu"],"guest":{`),
			onlineOrder("o6", "received", "l1", now.Add(-2*time.Second), `"method":"card"`, `"method":"card","holder":"Secretescu"`),
		)
		w.run(w.one())
		w.until("stored", time.Minute, w.haveOnline("o6", "received"))
		f.on("/orders", func(rw http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(rw, broken); return true })
		w.until("failing", 10*time.Minute, func() bool { return w.stream(registry.Online).State == status.StateFailing })
		f.on("/orders", nil)
		w.until("running", 10*time.Minute, func() bool { return w.stream(registry.Online).State == status.StateRunning })
		if n := len(w.store.Entries()); n != 2 { // o2 and o3
			t.Errorf("%d entries in quarantine: %+v", n, w.store.Entries())
		}
		drift := strings.Join(w.store.Drift(), "\n")
		for _, name := range []string{"note_2", "guest", "payment.holder"} {
			if !strings.Contains(drift, name) {
				t.Errorf("the unknown field %s is not reported: %s", name, drift)
			}
		}
		told, err := json.Marshal(w.syncer.Status())
		if err != nil {
			t.Fatal(err)
		}
		for where, said := range map[string]string{"the warehouse": text.String(), "drift": drift, "the log": strings.Join(log.take(), "\n"), "status": string(told)} {
			for _, of := range []string{"ecret", "722123456", "46.77", "Cluj"} {
				if i := strings.Index(said, of); i >= 0 {
					t.Errorf("%s has %q: …%.200s", where, of, said[max(0, i-100):])
				}
			}
		}
		if c := w.onlineColumns("o1"); string(c["customer_name"]) != "null" || string(c["delivery_lat"]) != "null" {
			t.Errorf("columns %s, %s", c["customer_name"], c["delivery_lat"])
		}
	})
}

func TestPseudonymsAreStoredAndAllIsKept(t *testing.T) {
	for mode, want := range map[personal.Mode]map[string]bool{
		personal.Pseudonymise: {"customer_key": true, "delivery_city": true, "customer_phone": false, "delivery_address": false, "notes": false},
		personal.Keep:         {"customer_key": false, "delivery_city": true, "customer_phone": true, "delivery_address": true, "notes": true},
	} {
		inOnline(t, func(t *testing.T, f *fake, w *world) {
			policy, err := personal.New(mode, []byte("0123456789abcdef"))
			if err != nil {
				t.Fatal(err)
			}
			f.set("/orders", onlineOrder("o1", "received", "l1", time.Now().Add(-time.Minute)))
			w.run(w.one(func(s *Source) { s.Personal = policy }))
			w.until("stored", time.Minute, w.haveOnline("o1", "received"))
			for name, there := range want {
				if c := w.onlineColumns("o1"); (string(c[name]) != "null") != there {
					t.Errorf("%s: %s is %s", mode, name, c[name])
				}
			}
		})
	}
}

// While online ordering is off, the orders are asked for as rarely as a snapshot; they come
// back by themselves.
func TestOnlineOrdersWhileOrderingIsOff(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		off := func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 403, "api_disabled"); return true }
		f.on("/orders", off)
		w.run(w.one())
		w.until("off", time.Minute, func() bool { return w.stream(registry.Online).State == status.StateAPIDisabled })
		time.Sleep(10 * time.Minute)
		if s := w.stream(registry.Online); s.Behind || w.source().State != status.StateRunning {
			t.Errorf("stream %+v, source %s", s, w.source().State)
		}
		f.taken()
		time.Sleep(time.Hour)
		if n := len(f.asked("/orders")); n < 12 || n > 26 {
			t.Errorf("asked %d times in an hour", n)
		}
		f.on("/orders", nil)
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now()))
		w.until("back", 6*time.Minute, func() bool { return w.haveOnline("o1", "received")() && w.filled() })
		f.on("/orders", off)
		w.until("off again", time.Minute, func() bool { return w.stream(registry.Online).State == status.StateAPIDisabled })
		if w.store.Row(registry.Online, "b1", "o1").Deleted {
			t.Error("what was stored was removed")
		}
	})
}

// Pages that a list may be answered in: their order, their size and their ends are the
// service's.
func TestOnlineOrdersInManyPages(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		began := time.Now().Add(-24 * time.Hour)
		var rows []string
		for i := range 1234 {
			rows = append(rows, onlineOrder(fmt.Sprintf("o%04d", i), "completed", "l1", began.Add(time.Duration(i/7)*time.Second)))
		}
		f.set("/orders", rows...)
		w.run(w.one())
		w.until("filled", 10*time.Minute, w.filled)
		if n := len(w.store.Rows(registry.Online, "b1")); n != len(rows) {
			t.Errorf("%d orders of %d", n, len(rows))
		}
		report, found := w.verify(Selection{Streams: []string{registry.Online}})
		if len(found) > 0 || report.Err() != nil {
			t.Errorf("%v, %+v", report.Err(), found)
		}
	})
}

// A next_updated_since that does not move, goes back or is null too early, at every page:
// every order is brought all the same, in walks that end.
func TestANextUpdatedSinceThatIsWrongInEveryPage(t *testing.T) {
	for name, next := range map[string]func(since string) string{
		"it does not move":  func(since string) string { return `"` + since + `"` },
		"it goes back":      func(string) string { return `"1999-01-01T00:00:00Z"` },
		"it is always null": func(string) string { return "null" },
	} {
		t.Run(name, func(t *testing.T) {
			inOnline(t, func(t *testing.T, f *fake, w *world) {
				began := time.Now().Add(-24 * time.Hour)
				const orders, page = 730, 100
				stamp := func(i int) time.Time { return began.Add(time.Duration(i/3) * time.Minute) }
				f.on("/orders", func(rw http.ResponseWriter, r *http.Request) bool {
					since := r.URL.Query().Get("updated_since")
					from, err := time.Parse(time.RFC3339Nano, since)
					if err != nil {
						t.Error(err)
					}
					var rows []string
					more := false
					for i := range orders {
						if stamp(i).Before(from) {
							continue
						}
						if more = len(rows) == page; more {
							break
						}
						rows = append(rows, onlineOrder(fmt.Sprintf("o%04d", i), "completed", "l1", stamp(i)))
					}
					said := "null"
					if more {
						said = next(since)
					}
					fmt.Fprintf(rw, `{"data":[%s],"next_updated_since":%s}`, strings.Join(rows, ","), said)
					return true
				})
				w.run(w.one())
				w.until("filled", 10*time.Minute, w.filled)
				if n := len(w.store.Rows(registry.Online, "b1")); n != orders {
					t.Errorf("%d orders of %d", n, orders)
				}
				f.taken()
				time.Sleep(10 * time.Minute)
				if n := len(f.asked("/orders")); n > 45 || w.stream(registry.Online).State != status.StateRunning {
					t.Errorf("asked %d times in ten minutes: %+v", n, w.stream(registry.Online))
				}
			})
		})
	}
}

// At closing time 160 orders are completed at one instant, and the list has no more than 100 of
// them: the others are stored, and are asked for by their ids, once. That the service answers
// no such request for an hour, in which walks get past the instant, loses nothing.
func TestMoreOnlineOrdersOfOneInstantThanAPageHas(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		const orders, page = 160, 100
		began, closing, away := time.Now().Add(-time.Hour), time.Time{}, true
		order := func(i int) (string, time.Time) {
			id := fmt.Sprintf("o%03d", i)
			if at := began.Add(time.Duration(i) * time.Second); closing.IsZero() || i < 5 { // five were final before
				return onlineOrder(id, map[bool]string{true: "cancelled", false: "ready"}[i < 5], "l1", at), at
			}
			return onlineOrder(id, "completed", "l1", closing), closing
		}
		f.on("/orders", func(rw http.ResponseWriter, r *http.Request) bool {
			since, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("updated_since"))
			if err != nil {
				t.Error(err)
			}
			var rows []string
			next := "null"
			for i := range orders {
				row, at := order(i)
				if at.Before(since) {
					continue
				}
				if len(rows) == page {
					next = `"` + at.Format(time.RFC3339Nano) + `"`
					break
				}
				rows = append(rows, row)
			}
			if later := closing.Add(10 * time.Minute); next == "null" && !closing.IsZero() && time.Now().After(later) {
				rows = append(rows, onlineOrder("later", "completed", "l1", later)) // walks begin behind the instant then
			}
			fmt.Fprintf(rw, `{"data":[%s],"next_updated_since":%s}`, strings.Join(rows, ","), next)
			return true
		})
		for i := range orders {
			f.on(fmt.Sprintf("/orders/o%03d", i), func(rw http.ResponseWriter, _ *http.Request) bool {
				if away {
					rw.WriteHeader(http.StatusInternalServerError)
					return true
				}
				row, _ := order(i)
				fmt.Fprint(rw, row)
				return true
			})
		}
		var log logged
		w.into(&log)
		w.run(w.one())
		w.until("filled", 10*time.Minute, w.filled)
		time.Sleep(5 * time.Minute)
		f.taken()
		closing = time.Now().UTC().Truncate(time.Millisecond)
		time.Sleep(time.Hour)
		away = false
		f.taken()
		time.Sleep(20 * time.Minute)
		for i := range orders {
			if state := map[bool]string{true: "cancelled", false: "completed"}[i < 5]; !w.haveOnline(fmt.Sprintf("o%03d", i), state)() {
				t.Errorf("order %d is not %s", i, state)
			}
		}
		asked := func() (n int) {
			log, _ := f.taken()
			for _, l := range log {
				if strings.HasPrefix(l, "/orders/") {
					n++
				}
			}
			return n
		}
		if n := asked(); n != orders-5-page {
			t.Errorf("%d orders were asked for by their ids, %d were passed by", n, orders-5-page)
		}
		if c := w.onlineColumns("o159"); string(c["via"]) != `"polling"` {
			t.Errorf("via %s", c["via"])
		}
		time.Sleep(time.Hour)
		if n := asked(); n != 0 {
			t.Errorf("%d more within an hour", n)
		}
		if lines := log.take(); !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "asked=55") }) {
			t.Errorf("the log does not say how many were asked for:\n%s", strings.Join(lines, "\n"))
		}
	})
}

// What the service answered last is right, also when it goes back in time or from a final
// status; what the API's description does not name is kept and reported.
func TestOnlineOrdersThatMoveStrangely(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		now := time.Now()
		f.set("/orders", onlineOrder("o1", "completed", "l1", now))
		w.run(w.one())
		w.until("stored", time.Minute, w.haveOnline("o1", "completed"))
		f.set("/orders", onlineOrder("o1", "accepted", "l1", now.Add(-30*time.Second)))
		w.until("back in time", time.Minute, w.haveOnline("o1", "accepted"))
		f.set("/orders", onlineOrder("o1", "eaten", "l1", time.Now()))
		w.until("an unknown status", time.Minute, w.haveOnline("o1", "eaten"))
		if drift := strings.Join(w.store.Drift(), "\n"); !strings.Contains(drift, "eaten") {
			t.Errorf("drift %s", drift)
		}
	})
}

// An order happened, whether or not the key shows it: a full resync takes away only those of
// locations that the key has lost, and verify does not miss the others.
func TestAFullResyncKeepsOnlineOrders(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		var rows []string
		for i := range 300 {
			rows = append(rows, onlineOrder(fmt.Sprintf("o%03d", i), "completed", []string{"l1", "l2"}[i%2], time.Now().Add(-time.Hour).Add(time.Duration(i)*time.Second)))
		}
		f.set("/orders", rows...)
		w.run(w.one())
		w.until("filled", 10*time.Minute, w.filled)
		live := func(location string) (n int) {
			for _, r := range w.store.Rows(registry.Online, "b1") {
				if !r.Deleted && strings.Contains(r.Raw, `"location_id":"`+location+`"`) {
					n++
				}
			}
			return n
		}
		f.set("/orders")
		w.once(Selection{Full: true})
		if a, b := live("l1"), live("l2"); a != 150 || b != 150 {
			t.Errorf("%d and %d orders are left of 150 each", a, b)
		}
		if report, found := w.verify(Selection{Streams: []string{registry.Online}}); len(found) > 0 || report.Err() != nil {
			t.Errorf("%v, %+v", report.Err(), found)
		}
		f.mu.Lock()
		f.me = strings.Replace(meOf("l1"), `"all_locations":true`, `"all_locations":false`, 1)
		f.mu.Unlock()
		f.on("/orders/o001", func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 404, "not_found"); return true })
		w.until("half of the orders are held", 20*time.Minute, func() bool {
			held := w.list(registry.Online).Held()
			return held != nil && held.Rows == 150
		})
		w.once(Selection{Full: true, ConfirmSweep: true})
		if a, b := live("l1"), live("l2"); a != 150 || b != 0 || w.store.Row(registry.Online, "b1", "o001").Reason != "no_access" {
			t.Errorf("%d and %d are left, o001 is %+v", a, b, w.store.Row(registry.Online, "b1", "o001"))
		}
	})
}

// There is no filter by location: rows of those that the configuration leaves out are left
// out here.
func TestOnlineOrdersOfConfiguredLocations(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		f.set("/orders", onlineOrder("o1", "received", "l1", time.Now().Add(-time.Minute)), onlineOrder("o2", "received", "l2", time.Now().Add(-time.Minute)))
		w.run(w.one(func(s *Source) { s.Locations = []string{"l2"} }))
		w.until("stored", time.Minute, w.haveOnline("o2", "received"))
		w.until("filled", time.Minute, w.filled)
		if rows := w.store.Rows(registry.Online, "b1"); len(rows) != 1 {
			t.Errorf("%d rows", len(rows))
		}
		if report, found := w.verify(Selection{Streams: []string{registry.Online}}); len(found) > 0 || report.Err() != nil {
			t.Errorf("%v, %+v", report.Err(), found)
		}
	})
}

// Two keys of one restaurant see their own orders only: neither misses the other's.
func TestTwoKeysOfOneRestaurantHaveTheirOwnOnlineOrders(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		f.on("/me", func(rw http.ResponseWriter, r *http.Request) bool {
			key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			fmt.Fprint(rw, strings.Replace(meOf("l1"), `"app1"`, `"app_`+key+`"`, 1))
			return true
		})
		now := time.Now().Add(-time.Hour)
		f.on("/orders", func(rw http.ResponseWriter, r *http.Request) bool {
			key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			fmt.Fprintf(rw, `{"data":[%s],"next_updated_since":null}`, onlineOrder("of-"+key, "completed", "l1", now))
			return true
		})
		w.run(sourceOf("one", "one"), sourceOf("two", "two"))
		w.until("both", 10*time.Minute, w.filled)
		w.tryOnce(Selection{Full: true})
		for _, id := range []string{"of-one", "of-two"} {
			if r := w.store.Row(registry.Online, "b1", id); r.Raw == "" || r.Deleted {
				t.Errorf("%s: %+v", id, r)
			}
		}
	})
}

// A kill -9 anywhere in the backfill loses nothing, and does not begin anew.
func TestABackfillOfOnlineOrdersGoesOnAfterACrash(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		began := time.Now().Add(-24 * time.Hour)
		var rows []string
		for i := range 2000 {
			rows = append(rows, onlineOrder(fmt.Sprintf("o%04d", i), "completed", "l1", began.Add(time.Duration(i)*time.Second)))
		}
		f.set("/orders", rows...)
		w.flush = 10 * time.Millisecond
		w.run(w.one())
		w.until("some", time.Minute, func() bool {
			cp, ok := w.store.Checkpoint("s", registry.Online, sinks.WalkBackfill)
			return ok && cp.Rows >= 500 && !cp.Done
		})
		w.crash(0)
		f.taken()
		w.run(w.one())
		w.until("filled", 10*time.Minute, w.filled)
		asked := f.asked("/orders")
		if slices.ContainsFunc(asked, func(l string) bool { return strings.Contains(l, "since=1900") }) {
			t.Errorf("begun anew: %v", asked[:min(3, len(asked))])
		}
		if n := len(w.store.Rows(registry.Online, "b1")); n != len(rows) {
			t.Errorf("%d orders of %d", n, len(rows))
		}
	})
}

// A page of one instant only cannot be passed, but for what comes after it.
func TestMoreOnlineOrdersOfOneInstantThanAPageHolds(t *testing.T) {
	inOnline(t, func(t *testing.T, f *fake, w *world) {
		at := time.Now().Add(-time.Hour)
		var rows []string
		for i := range 150 {
			rows = append(rows, onlineOrder(fmt.Sprintf("o%03d", i), "completed", "l1", at))
		}
		rows = append(rows, onlineOrder("later", "completed", "l1", at.Add(list.Lookback)))
		f.set("/orders", rows...)
		w.run(w.one())
		w.until("what comes after them", 10*time.Minute, w.haveOnline("later", "completed"))
		if w.stream(registry.Online).State != status.StateRunning {
			t.Errorf("%+v", w.stream(registry.Online))
		}
	})
}
