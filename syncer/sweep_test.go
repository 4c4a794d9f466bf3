package syncer

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

// What a full resync did not see is judged by what the key may use by then, and not by
// what it could use when /me was asked last.
func TestASweepAsksWhatTheKeyMayUse(t *testing.T) {
	for _, rows := range []int{20, 80} {
		inShop(t, func(t *testing.T, s *shop) {
			s.stock("l2", rows)
			s.stock("l1", 400)
			s.access("l1", "l2")
			s.open(s.source())
			s.once(Selection{})
			s.access("l1") // a moment ago: /me has not been asked since
			time.Sleep(time.Minute)
			if _, err := s.full(Selection{}); err != nil {
				t.Fatal(err)
			}
			if n, removed := s.live("l2"); n != 0 || removed[write.ReasonNoAccess] != rows {
				t.Errorf("%d rows live, removed %v", n, removed)
			}
		})
	}
}

// Rows that moved to a location that the configuration leaves out are there when asked
// for by themselves, and the list was whole for all that.
func TestManyRowsThatMovedOutOfTheConfiguredLocations(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var rows []string
		for i := range 400 {
			rows = append(rows, product(fmt.Sprintf("p%03d", i), "l1", stamp(-time.Hour)))
		}
		f.set("/products", rows...)
		w.open(w.one(func(s *Source) { s.Locations = []string{"l1"} }))
		w.once(Selection{Streams: []string{"products"}})
		f.set("/products", rows[:330]...)
		for i := 330; i < 400; i++ {
			moved := strings.Replace(rows[i], `"location_id":"l1"`, `"location_id":"l2"`, 1)
			f.on(fmt.Sprintf("/products/p%03d", i), func(rw http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(rw, moved); return true })
		}
		if _, err := w.full(Selection{Streams: []string{"products"}}); err != nil {
			t.Fatal(err)
		}
		if r := w.store.Row("products", "b1", "p399"); !r.Deleted {
			t.Errorf("a row that no walk brings any more: %+v", r)
		}
	})
}

// A word that was given before anything was shown is none about rows that the service
// still has.
func TestAWordInAdvanceDoesNotCoverAListThatEndsTooEarly(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var rows []string
		for i := range 400 {
			rows = append(rows, product(fmt.Sprintf("p%03d", i), "l1", stamp(-time.Hour)))
			f.on(fmt.Sprintf("/products/p%03d", i), func(rw http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(rw, rows[i]); return true })
		}
		f.set("/products", rows...)
		w.open(w.one())
		w.once(Selection{Streams: []string{"products"}})
		f.set("/products", rows[:100]...)
		_, err := w.full(Selection{Streams: []string{"products"}, ConfirmSweep: true})
		if held, ok := errors.AsType[*status.SweepHeld](err); !ok || held.Alive != list.SampleSize {
			t.Fatalf("error %v", err)
		}
		if _, err := w.full(Selection{Streams: []string{"products"}, ConfirmSweep: true}); err != nil {
			t.Fatal(err)
		}
		if cp, _ := w.store.Checkpoint("s", "products", sinks.WalkFull); cp.Position != "" || !w.store.Row("products", "b1", "p399").Deleted {
			t.Errorf("not removed after it was shown: %+v", cp)
		}
	})
}
