package syncer

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

const cats = "/categories"

// stamp is the bubble's clock, moved by d, as the service writes it.
func stamp(d time.Duration) string { return clockText(time.Now().Add(d)) }

func TestBadRowsAreKeptAndDoNotStopGoodOnes(t *testing.T) {
	bad := map[string]string{
		"no id":              `{"deleted":false,"location_id":null,"name":"x","position":1,"updated_at":"1999-12-01T00:00:00Z"}`,
		"number for string":  `{"id":"bad","deleted":false,"location_id":null,"name":5,"position":1,"updated_at":"1999-12-01T00:00:00Z"}`,
		"year 0001":          `{"id":"bad","deleted":false,"location_id":null,"name":"x","position":1,"updated_at":"0001-01-01T00:00:00Z"}`,
		"not an object":      `17`,
		"text for an amount": `{"id":"bad","deleted":false,"location_id":null,"name":"x","position":"abc","updated_at":"1999-12-01T00:00:00Z"}`,
	}
	for name, raw := range bad {
		t.Run(name, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				f.set(cats, category("a", "A", stamp(-time.Hour)), raw, category("b", "B", stamp(-time.Minute)))
				w.open(w.one())
				w.once(Selection{Streams: []string{"categories"}})
				rows := w.store.Rows("categories", "b1")
				if len(rows) != 2 || rows["a"].Deleted || rows["b"].Deleted {
					t.Fatalf("rows %v, want a and b", rows)
				}
				e := w.store.Entries()
				if len(e) != 1 || string(e[0].Raw) != raw || !e[0].Open || e[0].Reason == "" {
					t.Fatalf("quarantine %+v, want the row with its bytes", e)
				}
				if n := w.stream("categories").Quarantined; n != 1 {
					t.Errorf("status shows %d entries", n)
				}
			})
		})
	}
}

func TestACancellationIsNoticedWhateverElseItSays(t *testing.T) {
	for _, odd := range []string{`"deleted_at":"0001-01-01T00:00:00Z"`, `"deleted_at":"9999-12-31T23:59:59Z"`, `"deleted_at":17,"updated_at":"soon"`, `"deleted_at":"never","updated_at":"1999-12-31T10:00:00Z"`} {
		inFake(t, func(t *testing.T, f *fake, w *world) {
			f.set("/sales/orders", order("o", "1999-12-01", 2, stamp(-time.Hour)))
			w.open(w.one())
			w.once(Selection{Streams: []string{"sales_orders"}})
			f.on("/sales/orders", func(rw http.ResponseWriter, r *http.Request) bool {
				fmt.Fprintf(rw, `{"data":[{"id":"o","deleted":true,"reason":"cancelled",%s}],"next_cursor":null,"has_more":false}`, odd)
				return true
			})
			w.once(Selection{Streams: []string{"sales_orders"}})
			got := w.store.Row("sales_orders", "b1", "o")
			if !got.Deleted || got.Reason != "cancelled" || !got.DeletedAt.IsZero() {
				t.Errorf("%s: the order is %+v", odd, got)
			}
			if changed := strings.Contains(odd, "1999"); changed == got.UpdatedAt.IsZero() || !strings.Contains(got.Tombstone, odd) || !strings.Contains(got.Raw, `"items"`) {
				t.Errorf("%s: the order keeps %s, its tombstone %s of %v", odd, got.Raw, got.Tombstone, got.UpdatedAt)
			}
			if d := w.store.Drift(); len(d) == 0 || !strings.Contains(d[0], "deleted_at") {
				t.Errorf("%s: drift %q", odd, d)
			}
			if n := len(w.store.Entries()); n != 0 {
				t.Errorf("%s: %d quarantine entries too", odd, n)
			}
		})
	}
}

func TestAnAmountThatIsNoneGoesToQuarantine(t *testing.T) {
	for _, price := range []string{`"abc"`, `"1.234"`, `"12345678901234567.00"`, `1.5`} {
		inFake(t, func(t *testing.T, f *fake, w *world) {
			product := `{"id":"p","deleted":false,"location_id":"l1","category_id":null,"name":"P","price":` + price + `,"unit":"piece","available":true,` +
				`"allergens":[],"diets":[],"station":"bar","channels":{},"variants":[],"extra_groups":[],"position":1,"updated_at":"` + stamp(-time.Hour) + `"}`
			f.set("/products", product)
			w.open(w.one())
			w.once(Selection{Streams: []string{"products"}})
			e := w.store.Entries()
			if len(e) != 1 || e[0].ID != "p" || e[0].Field != "price" {
				t.Fatalf("price %s: quarantine %+v", price, e)
			}
		})
	}
}

func TestAGoodRowClosesItsQuarantineEntry(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, `{"id":"a","deleted":false,"name":7,"position":1,"updated_at":"`+stamp(-time.Hour)+`"}`)
		w.run(w.one())
		w.until("quarantined", time.Minute, func() bool { return len(w.store.Entries()) == 1 })
		time.Sleep(5 * time.Minute)
		if n := len(w.store.Entries()); n != 1 {
			t.Fatalf("the same bad row was stored %d times", n)
		}
		w.halt() // what is open is known after a restart too
		w.run(w.one())
		f.set(cats, category("a", "A", stamp(0)))
		w.until("released", 2*time.Minute, func() bool { return !w.store.Entries()[0].Open })
		if n := w.stream("categories").Quarantined; n != 0 {
			t.Errorf("status shows %d open entries", n)
		}
		if r := w.store.Rows("categories", "b1")["a"]; r.Raw == "" {
			t.Error("the good row is not stored")
		}
	})
}

// A row that the warehouse refuses is in quarantine, and nothing waits for it. It is stored
// when a later fetch of it is taken, also when the warehouse was restored meanwhile.
func TestARowThatTheWarehouseRefusesIsKeptAndStopsNothing(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.store.Refuse("bad")
		bad := category("bad", "B", stamp(-time.Hour))
		f.set(cats, category("a", "A", stamp(-2*time.Hour)), bad, category("c", "C", stamp(-time.Minute)))
		w.run(w.one())
		w.until("mirrored", time.Minute, func() bool { return len(w.store.Rows("categories", "b1")) == 2 })
		time.Sleep(5 * time.Minute)
		e := w.store.Entries()
		if len(e) != 1 || !e[0].Open || e[0].ID != "bad" || string(e[0].Raw) != bad {
			t.Fatalf("quarantine %+v, want the refused row once, with its JSON", e)
		}
		st := w.stream("categories")
		if st.Quarantined != 1 || st.Watermark.Before(time.Now().Add(-7*time.Minute)) {
			t.Errorf("status shows %d entries and the watermark %s", st.Quarantined, st.Watermark)
		}
		for _, restart := range []bool{false, true} {
			if restart {
				w.halt()
				w.run(w.one())
			}
			f.set(cats, category("bad", "still bad", stamp(0)))
			time.Sleep(2 * time.Minute)
			if e := w.store.Entries(); len(e) != 1 || !e[0].Open || w.stream("categories").Quarantined != 1 {
				t.Errorf("refused again, restart %t: %+v", restart, e)
			}
		}
		w.store.Refuse("")
		f.set(cats, category("bad", "good", stamp(0)))
		w.until("released", 2*time.Minute, func() bool { return !w.store.Entries()[0].Open })
		if r := w.store.Row("categories", "b1", "bad"); r.Raw == "" || w.stream("categories").Quarantined != 0 {
			t.Errorf("the row is %+v, %d entries are open", r, w.stream("categories").Quarantined)
		}
	})
}

func TestARowFromTheFutureBlindsNobody(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		future := category("f", "F", stamp(10*365*24*time.Hour))
		f.set(cats, category("a", "A", stamp(-time.Hour)), future)
		w.run(w.one())
		w.until("mirrored", time.Minute, func() bool { return len(w.store.Rows("categories", "b1")) == 2 })
		if mark := w.stream("categories").Watermark; mark.After(time.Now().Add(time.Minute)) {
			t.Fatalf("the watermark %s is in the future", mark)
		}
		time.Sleep(10 * time.Minute)
		before := w.store.Commits()
		f.set(cats, category("a", "A", stamp(-time.Hour)), category("b", "B", stamp(0)), future)
		w.until("the change after it", time.Minute, func() bool { return len(w.store.Rows("categories", "b1")) == 3 })
		time.Sleep(10 * time.Minute)
		if n := w.store.Commits() - before; n != 1 {
			t.Errorf("%d commits for one change: the future row is written again", n)
		}
	})
}

func TestManyRowsOfOneInstantAcrossAPageBorder(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		at := stamp(-time.Minute)
		var rows []string
		for i := range 450 {
			rows = append(rows, category(fmt.Sprintf("c%03d", i), "C", at))
		}
		f.set(cats, rows...)
		w.run(w.one())
		w.until("mirrored", 2*time.Minute, func() bool { return len(w.store.Rows("categories", "b1")) == 450 })
		time.Sleep(20 * time.Minute) // past the first verdicts
		before := w.store.Commits()
		time.Sleep(5 * time.Minute)
		if n := w.store.Commits() - before; n != 0 {
			t.Errorf("%d commits while nothing changed", n)
		}
	})
}

func TestIDsAreOpaque(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		ids := []string{"a/b", "100%", "it's", `qu"ote`, "with space", "😀", "Case", "case", "..", "a|b", "tab\there"}
		var rows []string
		for _, id := range ids {
			rows = append(rows, category(id, "n", stamp(-time.Hour)))
		}
		f.set(cats, rows...)
		f.set("/locations", location("l/1%"), location("L/1%"))
		w.open(w.one())
		w.once(Selection{Streams: []string{"categories", "locations"}})
		got := w.store.Rows("categories", "b1")
		for _, id := range ids {
			if _, ok := got[id]; !ok {
				t.Errorf("row %q is missing", id)
			}
		}
		if n := len(w.store.Rows("locations", "b1")); n != 2 {
			t.Errorf("%d locations, want 2", n)
		}
	})
}

func location(id string) string {
	day := `{"open":"09:00","close":"22:00","closed":false}`
	return `{"id":` + quoteJSON(id) + `,"name":"L","address":null,"city":null,"phone":null,"timezone":"Europe/Bucharest","ordering":{"accepting":true,"status":"open","message":null,"paused_until":null,"next_opening_at":null,"types":["pickup"],"default_prep_minutes":20,"answer_within_minutes":5},"opening_hours":{"monday":` +
		strings.Join([]string{day, `"tuesday":` + day, `"wednesday":` + day, `"thursday":` + day, `"friday":` + day, `"saturday":` + day, `"sunday":` + day}, ",") + `,"exceptions":[]}}`
}

func TestUnknownFieldsAndValuesAreReportedOnce(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		odd := strings.Replace(category("a", "A", stamp(-time.Minute)), `"position"`, `"colour":{"hue":3},"position"`, 1)
		f.set(cats, odd)
		w.run(w.one())
		w.until("mirrored", time.Minute, func() bool { return w.store.Rows("categories", "b1")["a"].Raw == odd })
		f.set(cats, strings.Replace(odd, `"A"`, `"A2"`, 1))
		time.Sleep(2 * time.Minute)
		w.halt()
		w.run(w.one())
		time.Sleep(2 * time.Minute)
		if d := w.store.Drift(); len(d) != 1 || d[0] != "s\x00categories\x00field\x00colour" {
			t.Errorf("drift %q, want it once", d)
		}
	})
}

func TestPagesThatMakeNoSenseFailTheWalkAndOnlyIt(t *testing.T) {
	write := func(body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, body); return true }
	}
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"truncated":             write(`{"data":[{"id":"a"`),
		"html":                  write(`<html><body>maintenance</body></html>`),
		"empty":                 write(``),
		"no data":               write(`{"has_more":false}`),
		"has_more and no next":  write(`{"data":[],"next_cursor":null,"has_more":true}`),
		"the same cursor again": write(`{"data":[],"next_cursor":"again","has_more":true}`),
		"server error":          func(w http.ResponseWriter, _ *http.Request) bool { fakeError(w, 500, "server_error"); return true },
	} {
		t.Run(name, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				f.on(cats, answer)
				f.set("/products")
				f.set("/allergens", `{"code":"g","name":"Gluten"}`)
				w.run(w.one())
				w.until("the stream fails", 10*time.Minute, func() bool { return w.stream("categories").State == status.StateFailing })
				w.until("the others run", 10*time.Minute, func() bool {
					return w.stream("allergens").State == status.StateRunning && w.stream("products").State == status.StateRunning
				})
				if w.stream("categories").LastError == "" {
					t.Error("no error is shown")
				}
				f.on(cats, nil)
				f.set(cats, category("a", "A", stamp(-time.Hour)))
				w.until("the stream recovers", 10*time.Minute, func() bool { return w.stream("categories").State == status.StateRunning })
				if len(w.store.Rows("categories", "b1")) != 1 {
					t.Error("the row did not arrive")
				}
				failed := 0
				for _, r := range w.store.Runs() {
					if r.Error != "" {
						failed++
					}
				}
				if failed == 0 || failed > 3 {
					t.Errorf("%d failed runs stored, want the first of each kind", failed)
				}
			})
		})
	}
}

func TestAnEmptyListIsNoError(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.open(w.one())
		w.once(Selection{})
		cp, ok := w.store.Checkpoint("s", "categories", sinks.WalkBackfill)
		if !ok || !cp.Done {
			t.Errorf("checkpoint %+v, want a finished backfill", cp)
		}
	})
}

func TestTwoRestaurantsWithTheSameIDs(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, category("a", "A", stamp(-time.Hour)))
		f.on("/me", func(rw http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.Header.Get("Authorization"), "two") {
				fmt.Fprint(rw, strings.Replace(fakeMe, `"b1"`, `"b2"`, 1))
				return true
			}
			return false
		})
		w.open(sourceOf("one", "one"), sourceOf("two", "two"))
		w.once(Selection{Streams: []string{"categories"}})
		for _, b := range []string{"b1", "b2"} {
			if len(w.store.Rows("categories", b)) != 1 {
				t.Errorf("business %s has no row", b)
			}
		}
	})
}

func TestAnOrderOfAHundredLinesIsOneRow(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		raw := order("o", "1999-12-01", 100, stamp(-time.Hour))
		f.set("/sales/orders", raw)
		w.open(w.one())
		w.once(Selection{Streams: []string{"sales_orders"}})
		if len(w.store.Entries()) != 0 || w.store.Row("sales_orders", "b1", "o").Raw != raw {
			t.Errorf("rows %d, quarantine %+v", len(w.store.Rows("sales_orders", "b1")), w.store.Entries())
		}
	})
}
