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

func allergen(code, name string) string {
	return `{"code":` + quoteJSON(code) + `,"name":` + quoteJSON(name) + `}`
}

func TestASnapshotReplacesTheWholeList(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/allergens", allergen("g", "Gluten"), allergen("l", "Lapte"))
		w.run(w.one())
		w.until("stored", time.Minute, func() bool { return len(w.store.Rows("allergens", "b1")) == 2 })
		f.set("/allergens", allergen("l", "Lactate"), allergen("o", "Oua"))
		w.until("replaced", 6*time.Minute, func() bool { return w.store.Row("allergens", "b1", "o").Raw != "" })
		if g := w.store.Row("allergens", "b1", "g"); !g.Deleted || g.Reason != "gone" || !strings.Contains(g.Raw, "Gluten") {
			t.Errorf("what vanished: %+v", g)
		}
		if l := w.store.Row("allergens", "b1", "l"); !strings.Contains(l.Raw, "Lactate") {
			t.Errorf("what changed: %+v", l)
		}
	})
}

func TestASnapshotAfterARestartKnowsWhatVanished(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/allergens", allergen("g", "Gluten"), allergen("l", "Lapte"))
		w.run(w.one())
		w.until("stored", time.Minute, func() bool { return len(w.store.Rows("allergens", "b1")) == 2 })
		w.halt()
		before := w.store.Row("allergens", "b1", "l").Version
		w.run(w.one())
		time.Sleep(time.Minute)
		if after := w.store.Row("allergens", "b1", "l").Version; after != before {
			t.Error("an unchanged list was written again after a restart")
		}
		w.halt()
		f.set("/allergens", allergen("l", "Lapte"))
		w.run(w.one())
		w.until("removed", time.Minute, func() bool { return w.store.Row("allergens", "b1", "g").Deleted })
		if w.store.Row("allergens", "b1", "l").Deleted {
			t.Error("what is still listed was removed")
		}
	})
}

// What a version before has stored of a list is not understood: what vanished during the update is
// found among the rows of the source.
func TestWhatVanishesDuringAnUpdateIsRemoved(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/allergens", allergen("g", "Gluten"), allergen("l", "Lapte"))
		w.open(w.one())
		w.once(Selection{})
		cp, _ := w.store.Checkpoint("s", "allergens", sinks.WalkSnapshot)
		cp.Position = `{"digest":"d","ids":["g","l"]}`
		if _, err := w.sink.Write(t.Context(), &sinks.Commit{Source: "s", Stream: "allergens", Business: "b1", Checkpoint: &cp}); err != nil {
			t.Fatal(err)
		}
		must(t, w.sink.Close(t.Context()))
		f.set("/allergens", allergen("l", "Lapte"))
		w.open(w.one())
		w.once(Selection{})
		if g := w.store.Row("allergens", "b1", "g"); !g.Deleted || g.Reason != "gone" || w.store.Row("allergens", "b1", "l").Deleted {
			t.Errorf("what vanished: %+v", g)
		}
	})
}

// Rows that the source wrote and no list has, after a damage say, are removed by a full resync.
func TestAFullResyncRemovesRowsThatNoListHas(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/allergens", allergen("g", "Gluten"))
		w.open(w.one())
		w.once(Selection{})
		w.store.Copy("allergens", "b1", "g", "none such")
		w.once(Selection{})
		if w.store.Row("allergens", "b1", "none such").Deleted {
			t.Error("a list that is the same was written anew")
		}
		w.once(Selection{Full: true})
		if r := w.store.Row("allergens", "b1", "none such"); !r.Deleted || r.Reason != "gone" || w.store.Row("allergens", "b1", "g").Deleted {
			t.Errorf("%+v", r)
		}
	})
}

func TestABadRowOfASnapshotHasNotVanished(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/allergens", allergen("g", "Gluten"), allergen("l", "Lapte"))
		w.run(w.one())
		w.until("stored", time.Minute, func() bool { return len(w.store.Rows("allergens", "b1")) == 2 })
		f.set("/allergens", `{"code":"g","name":9}`, allergen("l", "Lapte"))
		w.until("quarantined", 6*time.Minute, func() bool { return len(w.store.Entries()) == 1 })
		if w.store.Row("allergens", "b1", "g").Deleted {
			t.Error("the bad row was removed")
		}
		f.set("/allergens", allergen("l", "Lapte"))
		w.until("closed", 6*time.Minute, func() bool { return !w.store.Entries()[0].Open })
		if !w.store.Row("allergens", "b1", "g").Deleted {
			t.Error("the vanished row was not removed")
		}
	})
}

func TestTwoKeysOfOneRestaurantDoNotBuryEachOthersLocations(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.on("/me", func(rw http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.Header.Get("Authorization"), "two") {
				fmt.Fprint(rw, strings.Replace(fakeMe, `"app1"`, `"app2"`, 1))
				return true
			}
			return false
		})
		lists := map[string]string{"two": location("a"), "one": location("a") + "," + location("b")}
		f.on("/locations", func(rw http.ResponseWriter, r *http.Request) bool {
			fmt.Fprintf(rw, `{"data":[%s]}`, lists[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")])
			return true
		})
		w.run(sourceOf("one", "one"), sourceOf("two", "two"))
		w.until("both run", 10*time.Minute, w.filled)
		f.mu.Lock()
		lists["one"] = location("b") // a is still the other key's
		f.mu.Unlock()
		time.Sleep(11 * time.Minute)
		rows := w.store.Rows("locations", "b1")
		if rows["a"].Deleted || rows["b"].Deleted || len(rows) != 2 {
			t.Errorf("locations %+v", rows)
		}
		if n := len(w.store.Rows("api_keys", "b1")); n != 2 {
			t.Errorf("%d keys, want 2", n)
		}
	})
}

func TestAPIDisabledIsNormalLife(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		off := func(w http.ResponseWriter, _ *http.Request) bool { fakeError(w, 403, "api_disabled"); return true }
		f.on("/locations", off)
		w.run(w.one())
		w.until("api_disabled", time.Minute, func() bool { return w.stream("locations").State == status.StateAPIDisabled })
		if s := w.source(); s.State == status.StateAPIDisabled || !s.NextProbe.IsZero() {
			t.Errorf("the source is in trouble: %+v", s)
		}
		f.on("/locations", nil)
		w.until("back", 6*time.Minute, func() bool { return w.stream("locations").State == status.StateRunning })
	})
}
