package syncer

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// purge takes rows out of the service's products without a tombstone.
func (w *world) purge(n int) []string {
	w.t.Helper()
	r := w.box.Restaurant(0)
	ids := r.IDs(sandbox.StreamProducts)[:n]
	must(w.t, r.Purge(sandbox.StreamProducts, ids...))
	return ids
}

func (w *world) full(sel Selection) (Report, error) {
	sel.Full = true
	r := w.tryOnce(sel)
	return r, r.Err()
}

func TestAFullResyncSeesWhatAnIncrementalWalkCannot(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 31, Orders: 600, ProductsPer: 80}, func(t *testing.T, w *world) {
		w.once(Selection{})
		gone := w.purge(5) // their sold lines lose product_id without a new stamp
		time.Sleep(10 * time.Minute)
		w.once(Selection{})
		biz := w.box.Restaurant(0).ID()
		if w.store.Row("products", biz, gone[0]).Deleted {
			t.Fatal("an incremental walk saw what it cannot see: the test shows nothing")
		}
		if _, err := w.full(Selection{}); err != nil {
			t.Fatal(err)
		}
		for _, id := range gone {
			if r := w.store.Row("products", biz, id); !r.Deleted || r.Reason != "gone" || r.Raw == "" {
				t.Errorf("%s: deleted %v, reason %q, raw kept %v", id, r.Deleted, r.Reason, r.Raw != "")
			}
		}
		w.equal()
	})
}

func TestARowThatComesBackLivesAgain(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		a, b := category("a", "A", stamp(-time.Hour)), category("b", "B", stamp(-time.Hour))
		f.set(cats, a, b)
		w.open(w.one())
		w.once(Selection{})
		f.set(cats, a)
		w.full(Selection{}) //nolint:errcheck // seen below
		if r := w.store.Row("categories", "b1", "b"); !r.Deleted || r.Reason != "gone" {
			t.Fatalf("after it vanished: %+v", r)
		}
		f.set(cats, a, b) // just as it was
		if _, err := w.full(Selection{}); err != nil {
			t.Fatal(err)
		}
		if r := w.store.Row("categories", "b1", "b"); r.Deleted {
			t.Errorf("after it came back: %+v", r)
		}
	})
}

func TestAFullResyncClosesTheEntryOfABadRowThatIsGone(t *testing.T) {
	gone := func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 404, "not_found"); return true }
	moved := func(rw http.ResponseWriter, _ *http.Request) bool {
		fmt.Fprint(rw, product("b", "l2", stamp(0)))
		return true
	}
	for name, tt := range map[string]struct {
		locations []string
		answer    func(http.ResponseWriter, *http.Request) bool
	}{
		"gone":                            {nil, gone},
		"gone, of a configured location":  {[]string{"l1"}, gone},
		"moved out of the configured one": {[]string{"l1"}, moved},
	} {
		t.Run(name, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				bad := strings.Replace(product("b", "l1", stamp(-time.Hour)), `"position":1`, `"position":"abc"`, 1)
				f.set("/products", product("a", "l1", stamp(-time.Hour)), bad)
				w.open(w.one(func(s *Source) { s.Locations = tt.locations }))
				w.once(Selection{Streams: []string{"products"}})
				still := func() int { return w.stream("products").Quarantined }
				f.on("/products/b", func(rw http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(rw, bad); return true })
				if _, err := w.full(Selection{Streams: []string{"products"}}); err != nil || still() != 1 {
					t.Fatalf("a bad row that is there: %d open entries, %v", still(), err)
				}
				f.set("/products", f.row("/products", 0))
				f.on("/products/b", tt.answer)
				if _, err := w.full(Selection{Streams: []string{"products"}}); err != nil || still() != 0 {
					t.Errorf("a bad row that is gone: %d open entries, %v", still(), err)
				}
				if e := w.store.Entries(); len(e) != 1 || e[0].Open {
					t.Errorf("entries %+v", e)
				}
			})
		})
	}
}

func TestARowThatMovedOutOfTheConfiguredLocationsIsBuried(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/products", product("a", "l1", stamp(-time.Hour)), product("b", "l1", stamp(-time.Hour)))
		w.open(w.one(func(s *Source) { s.Locations = []string{"l1"} }))
		w.once(Selection{Streams: []string{"products"}})
		f.set("/products", f.row("/products", 0))
		moved := product("b", "l2", stamp(0))
		f.on("/products/b", func(rw http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(rw, moved); return true })
		if _, err := w.full(Selection{Streams: []string{"products"}}); err != nil {
			t.Fatal(err)
		}
		if r := w.store.Row("products", "b1", "b"); !r.Deleted || r.Reason != write.ReasonNoAccess {
			t.Errorf("a row that no walk brings any more: %+v", r)
		}
	})
}

func TestFewVanishedRowsAreAskedForFirst(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		rows := []string{}
		for i := range 120 {
			rows = append(rows, product(fmt.Sprintf("p%03d", i), "l1", stamp(-time.Hour)))
		}
		f.set("/products", rows...)
		// p000 is left out of the list and is still there when asked for by itself.
		f.on("/products/p000", func(rw http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(rw, rows[0]); return true })
		for i := 1; i < 4; i++ {
			f.on(fmt.Sprintf("/products/p%03d", i), func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 404, "not_found"); return true })
		}
		w.open(w.one())
		w.once(Selection{Streams: []string{"products"}})
		f.set("/products", rows[4:]...)
		if _, err := w.full(Selection{Streams: []string{"products"}}); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			r := w.store.Row("products", "b1", fmt.Sprintf("p%03d", i))
			if r.Deleted != (i > 0) {
				t.Errorf("p%03d: deleted %v", i, r.Deleted)
			}
		}
		cp, _ := w.store.Checkpoint("s", "products", sinks.WalkFull)
		if !cp.Done || cp.Position != "" {
			t.Errorf("checkpoint %+v", cp)
		}
	})
}

// A route that fails is not a 404: nothing is removed, and the sweep is tried again.
func TestASweepThatCannotAskRemovesNothing(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		a, b := product("a", "l1", stamp(-time.Hour)), product("b", "l1", stamp(-time.Hour))
		f.set("/products", a, b)
		w.open(w.one())
		w.once(Selection{Streams: []string{"products"}})
		f.set("/products", a)
		broken := func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 500, "server_error"); return true }
		f.on("/products/b", broken)
		if _, err := w.full(Selection{Streams: []string{"products"}}); err == nil || !strings.Contains(err.Error(), `"b"`) {
			t.Fatalf("error %v", err)
		}
		if w.store.Row("products", "b1", "b").Deleted {
			t.Error("removed without a 404")
		}
		f.on("/products/b", func(rw http.ResponseWriter, _ *http.Request) bool { fakeError(rw, 404, "not_found"); return true })
		f.asked("")
		if _, err := w.full(Selection{Streams: []string{"products"}}); err != nil {
			t.Fatal(err)
		}
		if !w.store.Row("products", "b1", "b").Deleted {
			t.Error("not removed after a 404")
		}
		for _, q := range f.asked("/products") {
			if query(q, "updated_since") == "" {
				t.Errorf("the list was walked again: %s", q)
			}
		}
	})
}

func TestASuspiciousSweepWaitsForAPerson(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 32, Orders: 50, ProductsPer: 200}, func(t *testing.T, w *world) {
		w.once(Selection{})
		biz := w.box.Restaurant(0).ID()
		gone := w.purge(130)
		r, err := w.full(Selection{Streams: []string{"products"}})
		held, ok := errors.AsType[*status.SweepHeld](err)
		if !ok || held.Rows != 130 || held.Live != 400 {
			t.Fatalf("error %v, report %+v", err, r)
		}
		if w.store.Row("products", biz, gone[0]).Deleted {
			t.Error("removed without a person's word")
		}
		// A restart does not forget it.
		must(t, w.sink.Close(t.Context()))
		w.syncer = nil
		w.once(Selection{Streams: []string{"products"}})
		if st := w.stream("products"); st.State != status.StateHeld || st.SweepHeld == nil || st.SweepHeld.Rows != 130 || !strings.HasSuffix(st.Detail, "larder sync --full --confirm-sweep --source "+st.SweepHeld.Source+" --stream products") || st.SweepHeld.Source == "" {
			t.Errorf("status %+v", st)
		}
		// Nor does another full resync take the wait for a word.
		if _, err := w.full(Selection{Streams: []string{"products"}}); err == nil || w.store.Row("products", biz, gone[0]).Deleted {
			t.Errorf("a full resync later: %v; removed %v", err, w.store.Row("products", biz, gone[0]).Deleted)
		}
		if _, err := w.full(Selection{Streams: []string{"products"}, ConfirmSweep: true}); err != nil {
			t.Fatal(err)
		}
		for _, id := range gone {
			if !w.store.Row("products", biz, id).Deleted {
				t.Fatalf("%s lives after the confirmation", id)
			}
		}
		if st := w.stream("products"); st.State != status.StateRunning || st.SweepHeld != nil || st.Detail != "" {
			t.Errorf("status after the confirmation %+v", st)
		}
		w.compare("products")
	})
}

// The turns of the schedule after it are no word either.
func TestASweepIsHeldAtEveryTurn(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 34, Orders: 50, ProductsPer: 200}, func(t *testing.T, w *world) {
		w.schedule = Schedule{FullResync: "@every 1h"}
		w.run()
		w.until("backfill", time.Hour, w.filled)
		gone := w.purge(130)
		w.until("a sweep that is held", 2*time.Hour, func() bool { return w.stream("products").State == status.StateHeld })
		first := w.stream("products").LastResync
		if err := w.box.AddFault(faults.Fault{Route: "/products", Kind: faults.Latency, Probability: 1, Delay: time.Second}); err != nil {
			t.Fatal(err)
		}
		w.until("another full resync", 3*time.Hour, func() bool {
			st := w.stream("products")
			if st.State == status.StateRunning || st.SweepHeld == nil {
				t.Fatalf("while the list is walked again: %+v", st)
			}
			return st.LastResync.After(first)
		})
		if st := w.stream("products"); st.State != status.StateHeld || w.store.Row("products", w.box.Restaurant(0).ID(), gone[0]).Deleted {
			t.Errorf("removed without a person's word: %+v", st)
		}
	})
}

// A person's word is about the rows they were shown, not about whatever is missing
// by the time the list is walked again.
func TestAConfirmationIsForWhatWasShown(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 33, Orders: 50, ProductsPer: 200}, func(t *testing.T, w *world) {
		w.once(Selection{})
		biz := w.box.Restaurant(0).ID()
		shown := w.purge(130)
		if _, err := w.full(Selection{Streams: []string{"products"}}); err == nil {
			t.Fatal("not held")
		}
		w.purge(120)
		_, err := w.full(Selection{Streams: []string{"products"}, ConfirmSweep: true})
		if held, ok := errors.AsType[*status.SweepHeld](err); !ok || held.Rows != 250 {
			t.Fatalf("error %v", err)
		}
		if w.store.Row("products", biz, shown[0]).Deleted {
			t.Error("removed")
		}
		w.purge(20) // as much more as needs no word
		if _, err := w.full(Selection{Streams: []string{"products"}, ConfirmSweep: true}); err != nil {
			t.Fatal(err)
		}
		w.compare("products")
	})
}

// A list that ends too early shows itself: some of what it left out is asked for.
func TestAListThatEndsTooEarlyRemovesNothing(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var rows []string
		for i := range 400 {
			rows = append(rows, product(fmt.Sprintf("p%03d", i), "l1", stamp(-time.Hour)))
		}
		f.set("/products", rows...)
		for i := range 400 {
			f.on(fmt.Sprintf("/products/p%03d", i), func(rw http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(rw, rows[i]); return true })
		}
		w.open(w.one())
		w.once(Selection{Streams: []string{"products"}})
		f.set("/products", rows[:330]...) // 70 are left out: fewer than the guard's hundred
		_, err := w.full(Selection{Streams: []string{"products"}})
		held, ok := errors.AsType[*status.SweepHeld](err)
		if !ok || held.Rows != 70 || held.Alive != list.SampleSize {
			t.Fatalf("error %v", err)
		}
		for id, r := range w.store.Rows("products", "b1") {
			if r.Deleted {
				t.Fatalf("%s was removed", id)
			}
		}
	})
}

// A walk of hours that is killed in its middle goes on, and its sweep still knows
// what it saw.
func TestAFullResyncGoesOnAfterACrash(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 33, Orders: 600, Readings: smallPages}, func(t *testing.T, w *world) {
		w.schedule = Schedule{FullResync: "@every 30m"}
		w.run()
		w.until("filled", time.Hour, w.filled)
		gone := w.purge(7)
		w.until("a full resync of the orders", time.Hour, func() bool {
			p := w.stream("sales_orders").Progress
			return p != nil && p.Walk == sinks.WalkFull && p.Pages > 10
		})
		begun := func() uint64 {
			synctest.Wait()
			cp, _ := w.store.Checkpoint("r0", "sales_orders", sinks.WalkFull)
			if cp.Done {
				return 0
			}
			return cp.FirstVersion
		}
		first := begun()
		for range 3 {
			w.crash(2)
			w.run()
			time.Sleep(12 * time.Second)
			if v := begun(); v != 0 && v != first {
				t.Fatal("it has begun anew")
			}
		}
		w.until("its end", time.Hour, func() bool { return !w.stream("sales_orders").LastResync.IsZero() })
		w.until("that of the products", time.Hour, func() bool { return !w.stream("products").LastResync.IsZero() })
		biz := w.box.Restaurant(0).ID()
		for _, id := range gone {
			if r := w.store.Row("products", biz, id); !r.Deleted || r.Reason != "gone" {
				t.Errorf("%s: %+v", id, r)
			}
		}
		live := 0
		for _, r := range w.store.Rows("sales_orders", biz) {
			if !r.Deleted {
				live++
			}
		}
		if live == 0 {
			t.Error("no live orders")
		}
		w.equal()
	})
}

// Incremental walks are as fresh during a full resync as without one (docs/rules.md R7).
func TestAFullResyncDelaysNoFreshRow(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 34, Orders: 1200, Readings: smallPages}, func(t *testing.T, w *world) {
		must(t, w.box.UpdateKey(w.box.Key(0, sandbox.RoleMain).Value, func(k *sandbox.Key) { k.Limits.PerMinute = 40 }))
		w.schedule = Schedule{FullResync: "@every 30m"}
		w.run()
		w.until("filled", 2*time.Hour, w.filled)
		w.until("a full resync", time.Hour, func() bool {
			p := w.stream("sales_orders").Progress
			return p != nil && p.Walk == sinks.WalkFull && p.Pages > 3
		})
		r := w.box.Restaurant(0)
		biz := r.ID()
		worst := time.Duration(0)
		for i := range 3 {
			id := r.IDs(sandbox.StreamSalesOrders)[100*i]
			before := w.store.Row("sales_orders", biz, id).Raw
			must(t, r.EditOrder(id))
			began := time.Now()
			w.until("the edit", 2*time.Minute, func() bool { return w.store.Row("sales_orders", biz, id).Raw != before })
			worst = max(worst, time.Since(began))
		}
		if p := w.stream("sales_orders").Progress; p == nil {
			t.Fatal("the resync ended before the measurement: it shows nothing")
		}
		// The interval, a turn of each list in the fresh lane at 40 a minute, a flush.
		if worst > (30+4*1.5+1+2)*time.Second {
			t.Errorf("a change showed after %s", worst)
		}
	})
}

// A turn that passed while no process was there is made up for.
func TestAFullResyncThatWasMissedIsMadeUpFor(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 35, Orders: 100}, func(t *testing.T, w *world) {
		w.run()
		w.until("filled", time.Hour, w.filled)
		w.halt()
		time.Sleep(9 * 24 * time.Hour)
		gone := w.purge(2)
		w.run()
		biz := w.box.Restaurant(0).ID()
		w.until("the resync", 30*time.Minute, func() bool { return w.store.Row("products", biz, gone[0]).Deleted })
		w.until("its end", time.Minute, func() bool { return !w.stream("products").LastResync.IsZero() })
		first := w.stream("products").LastResync
		time.Sleep(6 * time.Hour)
		if again := w.stream("products").LastResync; first.IsZero() || !again.Equal(first) {
			t.Errorf("resync at %s, and again at %s", first, again)
		}
	})
}

// What an incremental walk brings while the sweep is at work is newer than it.
func TestASweepNeverBuriesWhatCameBackMeanwhile(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		const path = "/products"
		a, b := product("a", "l1", stamp(-time.Hour)), product("b", "l1", stamp(-time.Hour))
		f.set(path, a, b)
		w.open(w.one())
		w.once(Selection{})
		f.set(path, a)
		asked := 0
		f.on(path+"/b", func(rw http.ResponseWriter, _ *http.Request) bool {
			asked++
			f.meanwhile(func() { // it is back as soon as the answer is on its way, and walked before that comes
				f.set(path, a, strings.Replace(product("b", "l1", clockText(time.Now())), `"name":"P"`, `"name":"B2"`, 1))
				if err := w.list("products").CatchUp(t.Context()); err != nil {
					t.Error(err)
				}
			})
			fakeError(rw, http.StatusNotFound, "not_found")
			return true
		})
		w.once(Selection{Full: true, Streams: []string{"products"}})
		if r := w.store.Row("products", "b1", "b"); asked != 1 || r.Deleted || !strings.Contains(r.Raw, "B2") {
			t.Errorf("asked %d times: %+v", asked, r)
		}
	})
}

// A location that is lost while the list is walked and is the key's again before its
// end leaves rows that the walk has passed by: they are not gone.
func TestALocationThatIsAwayForPartOfAFullResync(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		at := func(id, location string) string {
			return strings.Replace(category(id, "C", stamp(-time.Hour)), `"location_id":null`, `"location_id":"`+location+`"`, 1)
		}
		a, b := at("a", "l1"), at("b", "l2")
		f.set(cats, a, b)
		one := f.me
		both := strings.Replace(one, `["l1"]`, `["l1","l2"]`, 1)
		f.me = both
		w.open(w.one())
		w.once(Selection{})
		s := w.list("categories").Source
		asked := 0
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			if asked++; asked > 1 {
				return false
			}
			f.meanwhile(func() {
				for _, me := range []string{one, both} {
					f.mu.Lock()
					f.me = me
					f.mu.Unlock()
					time.Sleep(20 * time.Second)
					if err := s.Refresh(t.Context()); err != nil || (len(s.Identity().Locations) == 1) != (me == one) {
						t.Errorf("locations %v, error %v", s.Identity().Locations, err)
					}
				}
			})
			f.list(rw, r, []string{a}) // as it was while the location was away
			return true
		})
		w.once(Selection{Full: true, Streams: []string{"categories"}})
		if asked < 2 {
			t.Errorf("the list was walked %d times", asked)
		}
		if w.store.Row("categories", "b1", "b").Deleted {
			t.Error("removed, and the service lists it")
		}
	})
}

// A row that is bad for now has been seen, and stays.
func TestASweepLeavesQuarantinedRows(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		a, b := category("a", "A", stamp(-time.Hour)), category("b", "B", stamp(-time.Hour))
		f.set(cats, a, b)
		w.open(w.one())
		w.once(Selection{})
		f.set(cats, a, strings.Replace(b, `"position":1`, `"position":"?"`, 1))
		if _, err := w.full(Selection{}); err != nil {
			t.Fatal(err)
		}
		if r := w.store.Row("categories", "b1", "b"); r.Deleted {
			t.Errorf("removed: %+v", r)
		}
	})
}

func limited(w *world) Source {
	k := w.box.Key(0, sandbox.RoleLimited)
	return sourceOf("limited", k.Value)
}

// Rows can move between locations that a key sees and does not see, in both
// directions (docs/openapi.yaml, Lists with a cursor).
func TestRowsThatMoveOutOfSightAndBack(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 36, Orders: 50}, func(t *testing.T, w *world) {
		r := w.box.Restaurant(0)
		locs := r.LocationIDs()
		w.open(limited(w))
		w.once(Selection{})
		var id string
		for key, row := range w.store.Rows("products", r.ID()) {
			if strings.Contains(row.Raw, locs[0]) {
				id = key
			}
		}
		must(t, r.Move(sandbox.StreamProducts, id, locs[1]))
		time.Sleep(time.Minute)
		w.once(Selection{})
		if _, err := w.full(Selection{}); err != nil {
			t.Fatal(err)
		}
		if row := w.store.Row("products", r.ID(), id); !row.Deleted || row.Reason != "gone" {
			t.Fatalf("moved out of sight: %+v", row)
		}
		must(t, r.Move(sandbox.StreamProducts, id, locs[0]))
		if _, err := w.full(Selection{}); err != nil {
			t.Fatal(err)
		}
		if row := w.store.Row("products", r.ID(), id); row.Deleted {
			t.Fatalf("moved back: %+v", row)
		}
	})
}

// locationIn is the index of the location of a stored row.
func locationIn(r memsink.Row, locs []string) int {
	return slices.IndexFunc(locs, func(l string) bool { return strings.Contains(r.Raw, `"location_id":"`+l+`"`) })
}

// A full resync that begins within minutes brings a gained location, and one sweeps a lost one.
func TestLocationsGainedAndLost(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 37, Orders: 400, LocationsPer: 3, ProductsPer: 40}, func(t *testing.T, w *world) {
		r := w.box.Restaurant(0)
		locs := r.LocationIDs()
		key := w.box.Key(0, sandbox.RoleLimited).Value
		w.run(limited(w))
		w.until("filled", time.Hour, w.filled)
		live := func(stream string, loc int) (n int) {
			for _, row := range w.store.Rows(stream, r.ID()) {
				if !row.Deleted && locationIn(row, locs) == loc {
					n++
				}
			}
			return n
		}
		time.Sleep(time.Hour)
		must(t, w.box.UpdateKey(key, func(k *sandbox.Key) { k.LocationIDs = locs[:2] }))
		w.until("the gained location", 15*time.Minute, func() bool {
			return live("sales_orders", 1) > 50 && live("products", 1) == 40 && live("ingredients", 1) > 0 && w.filled()
		})
		for _, stream := range []string{"sales_orders", "products", "ingredients"} {
			if n := live(stream, 2); n != 0 {
				t.Errorf("%s: %d rows of a location that the key does not have", stream, n)
			}
		}
		orders := live("sales_orders", 1)
		must(t, w.box.UpdateKey(key, func(k *sandbox.Key) { k.LocationIDs = locs[:1] }))
		w.until("the lost location's products", 15*time.Minute, func() bool { return live("products", 1) == 0 })
		for _, row := range w.store.Rows("products", r.ID()) {
			if row.Deleted && locationIn(row, locs) == 1 && row.Reason != "no_access" {
				t.Errorf("%s: reason %q", row.ID, row.Reason)
			}
		}
		// Half the orders at once: a person has to look.
		w.until("the held sweep", 15*time.Minute, func() bool { return w.stream("sales_orders").SweepHeld != nil })
		if n := live("sales_orders", 1); n != orders {
			t.Errorf("%d of %d orders were removed without a person's word", orders-n, orders)
		}
		// Regained: what changed meanwhile comes too.
		must(t, w.box.UpdateKey(key, func(k *sandbox.Key) { k.LocationIDs = locs[:2] }))
		w.until("the regained location", 20*time.Minute, func() bool { return live("products", 1) == 40 })
	})
}

// A crash in the middle of what a gained location opens loses nothing of it.
func TestAGainedLocationSurvivesACrash(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 38, Orders: 5000, LocationsPer: 2}, func(t *testing.T, w *world) {
		r := w.box.Restaurant(0)
		locs := r.LocationIDs()
		key := w.box.Key(0, sandbox.RoleLimited).Value
		w.run(limited(w))
		w.until("filled", time.Hour, w.filled)
		must(t, w.box.UpdateKey(key, func(k *sandbox.Key) { k.LocationIDs = locs }))
		orders := func() (n int) {
			for _, row := range w.store.Rows("sales_orders", r.ID()) {
				if locationIn(row, locs) == 1 {
					n++
				}
			}
			return n
		}
		w.until("some of it", 10*time.Minute, func() bool { return orders() > 400 })
		for range 3 {
			w.crash(1)
			w.run(limited(w))
			time.Sleep(8 * time.Second)
		}
		want := len(w.truth(w.box.Key(0, sandbox.RoleTest).Value, "/sales/orders", mirrorQuery(locs[1])))
		w.until("all of it", time.Hour, func() bool {
			n := 0
			for _, row := range w.store.Rows("sales_orders", r.ID()) {
				if !row.Deleted && locationIn(row, locs) == 1 {
					n++
				}
			}
			return n == want
		})
	})
}

// A configured location that is deactivated leaves /me, and its rows may stay
// listed: its walks go on.
func TestAConfiguredLocationThatIsDeactivated(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		t.Run(fmt.Sprintf("hidden=%v", hidden), func(t *testing.T) {
			opts := sandbox.Options{Seed: 39, Orders: 200, ProductsPer: 30, Readings: sandbox.Readings{InactiveRowsHidden: hidden}}
			inWorld(t, opts, func(t *testing.T, w *world) {
				r := w.box.Restaurant(0)
				locs := r.LocationIDs()
				w.edit = func(s *Source) { s.Locations = locs }
				w.run()
				w.until("filled", time.Hour, w.filled)
				must(t, r.SetLocationActive(locs[1], false))
				time.Sleep(10 * time.Minute)
				if s := w.source(); s.State != status.StateRunning || !strings.Contains(s.Detail, locs[1]) {
					t.Errorf("state %s: %s", s.State, s.Detail)
				}
				for _, st := range w.source().Streams {
					if st.State != status.StateRunning && st.State != status.StateOff && (!hidden || st.State != status.StateHeld) {
						t.Errorf("%s is %s: %s", st.Name, st.State, st.Detail)
					}
				}
				report, err := w.syncer.RunOnce(t.Context(), Selection{Full: true, ConfirmSweep: true}, nil)
				if err != nil || report.Err() != nil {
					t.Fatalf("%v %v", err, report.Err())
				}
				live := 0
				for _, row := range w.store.Rows("products", r.ID()) {
					if locationIn(row, locs) != 1 {
						continue
					}
					if !row.Deleted {
						live++
					} else if row.Reason != "no_access" {
						t.Errorf("reason %q", row.Reason)
					}
				}
				if want := map[bool]int{false: 30, true: 0}[hidden]; live != want {
					t.Errorf("%d live products of the inactive location, want %d", live, want)
				}
			})
		})
	}
}

// A full resync that a version before had under way, without its cursor, has not written every row: it
// begins anew, and its sweep removes none that is there.
func TestAFullResyncOfAVersionBeforeBeginsAnew(t *testing.T) {
	for _, phase := range []string{"cursor_lost", "again"} {
		inFake(t, func(t *testing.T, f *fake, w *world) {
			var rows []string
			for i := range 10 { // no incremental walk brings them
				rows = append(rows, category(fmt.Sprintf("c%04d", i), "C", stamp(time.Duration(i-10)*time.Hour)))
			}
			f.set(cats, rows...)
			w.open(w.one())
			w.once(Selection{Streams: []string{"categories"}})
			row := w.store.Row("categories", "b1", "c0009")
			_, err := w.sink.Write(t.Context(), &sinks.Commit{Source: "s", Stream: "categories", Business: "b1", Checkpoint: &sinks.Checkpoint{
				Source: "s", Stream: "categories", Walk: sinks.WalkFull, Business: "b1", Cursor: "5", Position: `{"phase":"` + phase + `","at_least":true}`,
				FirstVersion: row.Version + 1, StartedAt: time.Now(), UpdatedAt: time.Now(),
			}})
			must(t, errors.Join(err, w.sink.Close(t.Context())))
			time.Sleep(time.Minute)
			w.open(w.one())
			w.once(Selection{Streams: []string{"categories"}})
			for id, row := range w.store.Rows("categories", "b1") {
				if row.Deleted {
					t.Errorf("%s: %s was removed", phase, id)
				}
			}
			if cp, _ := w.store.Checkpoint("s", "categories", sinks.WalkFull); !cp.Done || cp.Rows != 10 {
				t.Errorf("%s: %+v", phase, cp)
			}
		})
	}
}

// One key's sweep leaves the rows of another key's location alone.
func TestASweepLeavesTheRowsOfASiblingsLocation(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 40, Orders: 60, ProductsPer: 30}, func(t *testing.T, w *world) {
		r := w.box.Restaurant(0)
		locs := r.LocationIDs()
		first := w.box.Key(0, sandbox.RoleLimited)
		second := first
		second.Value, second.AppID, second.LocationIDs = "", "", locs[1:]
		second = w.box.AddKey(second)
		w.open(sourceOf("one", first.Value), sourceOf("two", second.Value))
		w.once(Selection{})
		if _, err := w.full(Selection{}); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, row := range w.store.Rows("products", r.ID()) {
			if !row.Deleted {
				n++
			}
		}
		if n != 60 {
			t.Errorf("%d live products, want 60", n)
		}
	})
}

// A location that one key loses while another key of the restaurant still sees it.
func TestALostLocationThatASiblingSeesStays(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 41, Orders: 60, ProductsPer: 30}, func(t *testing.T, w *world) {
		r := w.box.Restaurant(0)
		locs := r.LocationIDs()
		one := w.box.Key(0, sandbox.RoleLimited)
		must(t, w.box.UpdateKey(one.Value, func(k *sandbox.Key) { k.LocationIDs = locs }))
		second := one
		second.Value, second.AppID, second.LocationIDs = "", "", locs[1:]
		second = w.box.AddKey(second)
		w.open(sourceOf("one", one.Value), sourceOf("two", second.Value))
		w.once(Selection{})
		if _, err := w.full(Selection{Sources: []string{"one"}}); err != nil { // it wrote every row last
			t.Fatal(err)
		}
		must(t, w.box.UpdateKey(one.Value, func(k *sandbox.Key) { k.LocationIDs = locs[:1] }))
		time.Sleep(time.Minute)
		must(t, w.syncer.served()[0].Refresh(t.Context()))
		if _, err := w.full(Selection{Sources: []string{"one"}}); err != nil {
			t.Fatal(err)
		}
		for id, row := range w.store.Rows("products", r.ID()) {
			if row.Deleted {
				t.Fatalf("%s was removed (%s), and the other key sees it", id, row.Reason)
			}
		}
	})
}

// Entries of rows that never come again do not stay open: of rows without an id,
// and of lists whose rows cannot be asked for one by one.
func TestAFullResyncClosesTheEntriesOfRowsThatAreGone(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		a, b := category("a", "A", stamp(-time.Hour)), category("b", "B", stamp(-time.Hour))
		bad := strings.Replace(b, `"position":1`, `"position":"?"`, 1)
		nameless := strings.Replace(category("x", "X", stamp(-time.Hour)), `"id":"x",`, "", 1)
		open := func() (ids []string) {
			for _, e := range w.store.Entries() {
				if e.Open && e.Stream == "categories" && !slices.Contains(ids, e.ID) {
					ids = append(ids, e.ID)
				}
			}
			slices.Sort(ids)
			return ids
		}
		resynced := func(want ...string) {
			t.Helper()
			if _, err := w.full(Selection{Streams: []string{"categories"}}); err != nil {
				t.Fatal(err)
			}
			if got := open(); !slices.Equal(got, want) {
				t.Errorf("open entries %q, want %q", got, want)
			}
		}
		f.set(cats, a, b)
		w.open(w.one())
		w.once(Selection{})
		f.set(cats, a, bad, nameless)
		resynced("", "b")
		resynced("", "b") // still bad, and still there
		if w.store.Row("categories", "b1", "b").Deleted {
			t.Error("a row that came was removed")
		}
		f.set(cats, a, bad)
		resynced("b")
		f.set(cats, a)
		resynced()
		if !w.store.Row("categories", "b1", "b").Deleted {
			t.Error("a row that is gone lives")
		}
	})
}
