package syncer

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/syncer/list"
)

// One command is enough under 40 % faults of every kind: what fails is tried again from
// its checkpoint.
func TestAPassUnderManyFaultsComesToItsEnd(t *testing.T) {
	for _, full := range []bool{false, true} {
		inWorld(t, sandbox.Options{Seed: 91, Orders: 3000, ProductsPer: 300}, func(t *testing.T, w *world) {
			if full {
				w.once(Selection{})
			}
			for _, kind := range []string{
				faults.ServerError, faults.Unavailable, faults.Reset, faults.Truncate, faults.Garbage,
				faults.CutJSON, faults.HTML, faults.CursorRefused, faults.CursorRepeats, faults.CursorMissing,
			} {
				must(t, w.box.AddFault(faults.Fault{Kind: kind, Probability: 0.05}))
			}
			w.once(Selection{Full: full, RetryFor: 10 * time.Minute})
			w.box.ClearFaults()
			w.equalLists()
		})
	}
}

func TestAPassGivesUpWhatComesNoFurther(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, manyCategories(1000)...)
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("cursor") != "600" {
				return false
			}
			fakeError(rw, 500, "server_error")
			return true
		})
		w.open(w.one())
		began := time.Now()
		r := w.tryOnce(Selection{RetryFor: 5 * time.Minute})
		if took := time.Since(began); took < 4*time.Minute || took > 6*time.Minute {
			t.Errorf("took %s", took)
		}
		for _, st := range r.Sources[0].Streams {
			switch {
			case (st.Err != nil) != (st.Stream == "categories"):
				t.Errorf("%s: %v", st.Stream, st.Err)
			case st.Err != nil && !strings.Contains(st.Err.Error(), "came no further"):
				t.Errorf("error %v", st.Err)
			}
		}
		if n := len(f.asked(cats)); n > 100 {
			t.Errorf("%d requests", n)
		}
	})
}

// A walk that goes in circles, and a key that is refused, are not tried for as long.
func TestAPassDoesNotTryWhatNoTryingMends(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, manyCategories(1000)...)
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("cursor") == "" {
				return false
			}
			fakeError(rw, 422, "validation_failed")
			return true
		})
		w.open(w.one())
		r := w.tryOnce(Selection{Streams: []string{"categories"}, RetryFor: 24 * time.Hour})
		if stuck, ok := errors.AsType[*list.StuckError](r.Err()); !ok {
			t.Errorf("error %v, %v", r.Err(), stuck)
		}
		f.mu.Lock()
		f.keys = map[string]bool{}
		f.mu.Unlock()
		began := time.Now()
		r = w.tryOnce(Selection{RetryFor: 24 * time.Hour})
		if r.Err() == nil || time.Since(began) > time.Minute {
			t.Errorf("%v after %s", r.Err(), time.Since(began))
		}
	})
}

// A service that is away when the command begins is waited for.
func TestAPassWaitsForTheService(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, manyCategories(10)...)
		away := time.Now().Add(3 * time.Minute)
		f.on("/me", func(rw http.ResponseWriter, _ *http.Request) bool {
			if time.Now().After(away) {
				return false
			}
			fakeError(rw, 503, "service_unavailable")
			return true
		})
		w.open(w.one())
		w.once(Selection{RetryFor: 5 * time.Minute})
		if n := len(w.store.Rows("categories", "b1")); n != 10 {
			t.Errorf("%d rows", n)
		}
	})
}
