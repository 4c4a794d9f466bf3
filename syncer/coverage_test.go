package syncer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/write"
)

// shop is a fake with products of several locations, of which its key sees some.
type shop struct {
	*fake
	*world
	slow   bool // lists without updated_since come row by row
	broken bool // lists without updated_since fail
	walked func(cursor string)
}

const shopStream = "products"

func inShop(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Helper()
	inFake(t, func(t *testing.T, f *fake, w *world) {
		s := &shop{fake: f, world: w}
		f.on("/products", s.list)
		test(t, s)
	})
}

// stock gives a location so many products, behind those there are. Those of l1 are
// the newest: what the others have, no incremental walk brings.
func (s *shop) stock(location string, n int) {
	rows := s.rows["/products"]
	for i := range n {
		changed := stamp(-2*time.Hour - time.Duration(n-i)*3*time.Minute)
		if location == "l1" {
			changed = stamp(-time.Hour)
		}
		row := product(fmt.Sprintf("%s-%03d", location, i), location, changed)
		rows = append(rows, row)
		s.on("/products/"+idOf(row), func(w http.ResponseWriter, _ *http.Request) bool {
			if slices.Contains(s.rows["/products"], row) && s.sees(row) {
				fmt.Fprint(w, row)
			} else {
				fakeError(w, 404, "not_found")
			}
			return true
		})
	}
	s.set("/products", rows...)
}

func idOf(row string) string {
	_, rest, _ := strings.Cut(row, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func (s *shop) sees(row string) bool {
	_, rest, _ := strings.Cut(row, `"location_id":"`)
	location, _, _ := strings.Cut(rest, `"`)
	return strings.Contains(s.me, `"`+location+`"`)
}

// access sets the locations of the key.
func (s *shop) access(locations ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, rest, _ := strings.Cut(s.me, `"location_ids":[`)
	_, rest, _ = strings.Cut(rest, "]")
	head, _, _ := strings.Cut(s.me, `"location_ids":[`)
	s.me = head + `"location_ids":["` + strings.Join(locations, `","`) + `"]` + rest
}

func (s *shop) list(w http.ResponseWriter, r *http.Request) bool {
	q := r.URL.Query()
	since, limit := time.Time{}, api.PageLimit
	if text := q.Get("updated_since"); text != "" {
		since, _ = time.Parse(time.RFC3339Nano, text) //nolint:errcheck // the syncer's own
	} else {
		if s.broken {
			fakeError(w, 500, "server_error")
			return true
		}
		if s.walked != nil {
			s.walked(q.Get("cursor"))
		}
		if s.slow {
			limit = 1
		}
	}
	all := s.rows["/products"]
	at, _ := strconv.Atoi(q.Get("cursor")) //nolint:errcheck // empty at first
	var rows []string
	for ; at < len(all) && len(rows) < limit; at++ {
		row := all[at]
		if s.sees(row) && !stampIn(row).Before(since) {
			rows = append(rows, row)
		}
	}
	next, more := "null", at < len(all)
	if more {
		next = strconv.Quote(strconv.Itoa(at))
	}
	fmt.Fprintf(w, `{"data":[%s],"next_cursor":%s,"has_more":%v}`, strings.Join(rows, ","), next, more)
	return true
}

// live counts the live rows of a location, and removed those with a reason.
func (s *shop) live(location string) (live int, removed map[string]int) {
	removed = map[string]int{}
	for id, row := range s.store.Rows(shopStream, "b1") {
		switch {
		case !strings.HasPrefix(id, location+"-"):
		case row.Deleted:
			removed[row.Reason]++
		default:
			live++
		}
	}
	return live, removed
}

// source is a source of the products alone.
func (s *shop) source(locations ...string) Source {
	return s.one(func(c *Source) { c.Streams, c.Locations = []string{shopStream}, locations })
}

// interrupted makes a full resync that ends with the process when a page is asked
// for.
func (s *shop) interrupted(t *testing.T, cursor string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	s.walked = func(at string) {
		if at == cursor {
			cancel(enough)
		}
	}
	_, err := s.syncer.RunOnce(ctx, Selection{Full: true}, nil)
	s.mu.Lock()
	s.walked = nil
	s.mu.Unlock()
	if !errors.Is(err, enough) {
		t.Fatalf("error %v", err)
	}
	s.close()
}

// A location that is gained while another one comes begins the full resync anew.
func TestALocationGainedWhileAnotherOpens(t *testing.T) {
	inShop(t, func(t *testing.T, s *shop) {
		for _, l := range []string{"l2", "l3", "l1"} {
			s.stock(l, 120)
		}
		s.access("l1")
		s.schedule = Schedule{Snapshots: "@every 20s"}
		s.run(s.source())
		s.until("filled", time.Hour, s.filled)
		s.mu.Lock()
		s.slow = true
		s.mu.Unlock()
		s.access("l1", "l2")
		s.until("some of the first", 10*time.Minute, func() bool { n, _ := s.live("l2"); return n > 5 })
		s.access("l1", "l2", "l3")
		s.until("all of both", 20*time.Minute, func() bool {
			two, _ := s.live("l2")
			three, _ := s.live("l3")
			return two == 120 && three == 120
		})
	})
}

// A location that is lost in the middle of a full resync is closed, whether or not
// the walk had come past its rows.
func TestALocationLostDuringAFullResync(t *testing.T) {
	inShop(t, func(t *testing.T, s *shop) {
		s.stock("l2", 40)
		s.stock("l1", 500)
		s.access("l1", "l2")
		s.open(s.source())
		s.once(Selection{})
		s.interrupted(t, "200")
		s.access("l1")
		s.open(s.source())
		if _, err := s.full(Selection{}); err != nil {
			t.Fatal(err)
		}
		if n, removed := s.live("l2"); n != 0 || removed[write.ReasonNoAccess] != 40 {
			t.Errorf("%d rows of the lost location live, removed %v", n, removed)
		}
		if n, _ := s.live("l1"); n != 500 {
			t.Errorf("%d of 500 rows live", n)
		}
	})
}

// The rows of a location that comes back during a full resync may stand behind its
// cursor: they are walked before the sweep.
func TestALocationRegainedDuringAFullResync(t *testing.T) {
	inShop(t, func(t *testing.T, s *shop) {
		s.stock("l2", 60)
		s.stock("l1", 150)
		s.access("l1", "l2")
		s.schedule = Schedule{Snapshots: "@every 20s"}
		s.run(s.source())
		s.until("filled", time.Hour, s.filled)
		s.mu.Lock()
		s.slow = true
		s.mu.Unlock()
		s.access("l1")
		s.until("a part of the full resync", 10*time.Minute, func() bool {
			p := s.stream(shopStream).Progress
			return p != nil && p.Walk == sinks.WalkFull && p.Pages > 20
		})
		s.access("l1", "l2")
		s.until("its end", 20*time.Minute, func() bool { return !s.stream(shopStream).LastResync.IsZero() })
		if held := s.stream(shopStream).SweepHeld; held != nil {
			t.Errorf("held: %v", held)
		}
		if n, removed := s.live("l2"); n != 60 {
			t.Errorf("%d of 60 rows live, removed %v", n, removed)
		}
	})
}

// A full resync is begun anew, not gone on with, when the configured locations are others.
func TestAFullResyncThatWasOvertakenBeginsAnew(t *testing.T) {
	inShop(t, func(t *testing.T, s *shop) {
		s.stock("l1", 30)
		s.stock("l2", 500)
		s.access("l1", "l2")
		s.open(s.source("l1", "l2"))
		s.once(Selection{})
		s.interrupted(t, "400")
		s.open(s.source("l1"))
		s.full(Selection{}) //nolint:errcheck // its sweep is held
		s.close()
		s.set("/products", s.rows["/products"][1:]...)
		s.open(s.source("l1", "l2"))
		if _, err := s.full(Selection{}); err != nil {
			t.Fatal(err)
		}
		if n, removed := s.live("l1"); n != 29 || removed[write.ReasonGone] != 1 {
			t.Errorf("%d rows live, removed %v", n, removed)
		}
	})
}

// The rows of a configured location that a sweep removed while it was not the key's
// come back with it, and so do those of one that was not configured for a while.
func TestAConfiguredLocationThatComesBack(t *testing.T) {
	for _, configured := range []bool{true, false} {
		inShop(t, func(t *testing.T, s *shop) {
			s.stock("l2", 30)
			s.stock("l1", 50)
			s.access("l1", "l2")
			s.open(s.source("l1", "l2"))
			s.once(Selection{})
			if configured {
				s.access("l1")
				s.close()
				s.open(s.source("l1", "l2"))
			} else {
				s.close()
				s.open(s.source("l1"))
			}
			time.Sleep(time.Minute)
			if _, err := s.full(Selection{}); err != nil {
				t.Fatal(err)
			}
			if n, removed := s.live("l2"); n != 0 || removed[write.ReasonNoAccess] != 30 {
				t.Fatalf("configured %v: %d rows live, removed %v", configured, n, removed)
			}
			s.close()
			s.access("l1", "l2")
			s.run(s.source("l1", "l2"))
			s.until("its rows", 10*time.Minute, func() bool { n, _ := s.live("l2"); return n == 30 && s.filled() })
			s.quiet(t)
		})
	}
}

// A full resync that fails is not hidden by the walks beside it.
func TestAGainedLocationThatFailsShows(t *testing.T) {
	inShop(t, func(t *testing.T, s *shop) {
		s.stock("l1", 10)
		s.stock("l2", 10)
		s.access("l1")
		s.run(s.source())
		s.until("filled", time.Hour, s.filled)
		s.mu.Lock()
		s.broken = true
		s.mu.Unlock()
		s.access("l1", "l2")
		failing := func() bool {
			state := s.stream(shopStream).State
			return state == status.StateFailing || state == status.StateUnreachable
		}
		s.until("the failure", 20*time.Minute, failing)
		for range 600 {
			time.Sleep(time.Second)
			if !failing() {
				t.Fatalf("state %s", s.stream(shopStream).State)
			}
		}
		s.mu.Lock()
		s.broken = false
		s.mu.Unlock()
		s.until("the gained location", 10*time.Minute, func() bool {
			n, _ := s.live("l2")
			return n == 10 && s.stream(shopStream).State == status.StateRunning
		})
	})
}

// Rows that are there when they are asked for one by one are not gone, whether or
// not they are understood; those in quarantine were seen.
func TestASampleOfRowsThatAreNotUnderstood(t *testing.T) {
	for _, listed := range []bool{true, false} {
		inShop(t, func(t *testing.T, s *shop) {
			s.stock("l1", 460)
			s.open(s.source())
			s.once(Selection{})
			rows := slices.Clone(s.rows["/products"])
			for i := range 60 {
				bad := strings.Replace(rows[i], `"position":1`, `"position":"?"`, 1)
				s.on("/products/"+idOf(bad), func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, bad); return true })
				rows[i] = bad
			}
			if !listed {
				rows = rows[60:]
			}
			s.set("/products", rows...)
			_, err := s.full(Selection{})
			held, isHeld := errors.AsType[*status.SweepHeld](err)
			if listed && err != nil || !listed && (!isHeld || held.Alive != list.SampleSize) {
				t.Errorf("listed %v: error %v", listed, err)
			}
			if n, removed := s.live("l1"); n != 460 {
				t.Errorf("listed %v: %d of 460 rows live, removed %v", listed, n, removed)
			}
		})
	}
}

// Of a list that is walked whole, a source that names locations stores the rows of these, and
// the tombstones of rows that it has.
func TestRowsOfOtherLocationsAreDropped(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		a, b, c := product("a", "l1", stamp(-time.Hour)), product("b", "l2", stamp(-time.Hour)), product("c", "l1", stamp(-time.Hour))
		f.set("/products", a, b, c, tombstoneOf("before", stamp(-time.Minute)))
		shared := strings.Replace(category("b", "B", stamp(-time.Hour)), `"location_id":null`, `"location_id":"l2"`, 1)
		f.set(cats, category("a", "A", stamp(-time.Hour)), shared)
		w.open(w.one(func(s *Source) { s.Locations = []string{"l1"} }))
		w.once(Selection{})
		f.set("/products", a, tombstoneOf("b", stamp(time.Minute)), tombstoneOf("c", stamp(time.Minute)))
		time.Sleep(2 * time.Minute)
		w.once(Selection{})
		stored := func(stream string) (ids []string) {
			for id, r := range w.store.Rows(stream, "b1") {
				ids = append(ids, fmt.Sprint(id, " ", r.Deleted))
			}
			slices.Sort(ids)
			return ids
		}
		if got := stored(shopStream); !slices.Equal(got, []string{"a false", "c true"}) {
			t.Errorf("products %q", got)
		}
		if got := stored("categories"); !slices.Equal(got, []string{"a false"}) {
			t.Errorf("categories %q", got)
		}
	})
}

// A source that was configured for one location, and is for all again, has back what was
// removed meanwhile, without a full pass.
func TestAllLocationsAfterSome(t *testing.T) {
	inShop(t, func(t *testing.T, s *shop) {
		s.stock("l2", 30)
		s.stock("l1", 50)
		s.access("l1", "l2")
		s.open(s.source())
		s.once(Selection{})
		s.close()
		s.open(s.source("l1"))
		time.Sleep(time.Minute)
		s.once(Selection{})
		if n, removed := s.live("l2"); n != 0 || removed[write.ReasonNoAccess] != 30 {
			t.Fatalf("%d rows live, removed %v", n, removed)
		}
		s.close()
		time.Sleep(time.Minute)
		s.run(s.source())
		s.until("its rows", 10*time.Minute, func() bool { n, _ := s.live("l2"); return n == 30 && s.filled() })
		s.quiet(t)
	})
}

// A location that /me names twice is one, in whatever order.
func TestALocationThatIsNamedTwiceIsOne(t *testing.T) {
	inShop(t, func(t *testing.T, s *shop) {
		s.stock("l1", 1)
		s.access("l2", "l1", "l2")
		s.open(s.source())
		s.once(Selection{})
		if got := s.syncer.served()[0].Identity().Locations; !slices.Equal(got, []string{"l1", "l2"}) {
			t.Errorf("locations %q", got)
		}
	})
}

// Categories of a configured location that comes later, or comes back, come with it.
func TestCategoriesOfAConfiguredLocationThatComesLater(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		at := func(id, name, location string, changed time.Duration) string {
			return strings.Replace(category(id, name, stamp(changed)), `"location_id":null`, `"location_id":"`+location+`"`, 1)
		}
		a := at("a", "A", "l1", -time.Minute)
		one := f.me
		both := strings.Replace(one, `["l1"]`, `["l1","l2"]`, 1)
		f.set(cats, a)
		w.run(w.one(func(s *Source) { s.Streams, s.Locations = []string{"categories"}, []string{"l1", "l2"} }))
		time.Sleep(10 * time.Minute)
		sees := func(me string, rows ...string) {
			f.set(cats, rows...)
			f.mu.Lock()
			f.me = me
			f.mu.Unlock()
		}
		sees(both, a, at("b", "B", "l2", -3*time.Hour))
		w.until("gained", 10*time.Minute, func() bool { return strings.Contains(w.store.Row("categories", "b1", "b").Raw, `"B"`) })
		sees(one, a)
		time.Sleep(10 * time.Minute)
		sees(both, a, at("b", "B2", "l2", -2*time.Hour))
		w.until("gained again", 10*time.Minute, func() bool {
			b := w.store.Row("categories", "b1", "b")
			return strings.Contains(b.Raw, `"B2"`) && !b.Deleted
		})
	})
}

// A gained location that is lost again before all of it has come does not leave behind
// what had.
func TestALocationLostWhileItOpens(t *testing.T) {
	for _, killed := range []bool{false, true} {
		inShop(t, func(t *testing.T, s *shop) {
			s.stock("l2", 80)
			s.stock("l1", 150)
			s.access("l1")
			s.schedule = Schedule{Snapshots: "@every 20s"}
			s.run(s.source())
			s.until("filled", time.Hour, s.filled)
			s.mu.Lock()
			s.slow = true
			s.mu.Unlock()
			s.access("l1", "l2")
			s.until("some of it", 10*time.Minute, func() bool { n, _ := s.live("l2"); return n > 10 })
			s.access("l1")
			if killed {
				s.crash(0)
				s.run(s.source())
			}
			s.until("the end of it", 30*time.Minute, func() bool { n, removed := s.live("l2"); return n == 0 && removed[write.ReasonNoAccess] > 10 })
			s.until("rest", 30*time.Minute, s.filled)
			s.quiet(t)
			s.access("l1", "l2")
			s.until("all of it", 30*time.Minute, func() bool { n, _ := s.live("l2"); return n == 80 })
		})
	}
}

// A location that was lost while a walk went past its rows, and that the daemon hears of
// only when the stream is switched off, still brings those rows when both are back.
func TestALocationLostBeforeItsStreamWasSwitchedOff(t *testing.T) {
	inShop(t, func(t *testing.T, s *shop) {
		s.stock("l2", 3)
		s.stock("l1", 3)
		s.access("l1", "l2")
		pass := func(stream string) {
			t.Helper()
			s.close()
			time.Sleep(10 * time.Minute)
			s.open(s.one(func(c *Source) { c.Streams = []string{stream} }))
			s.once(Selection{})
		}
		pass(shopStream)
		rows := slices.Clone(s.rows["/products"])
		rows[0] = strings.Replace(product(idOf(rows[0]), "l2", stamp(2*time.Minute)), `"name":"P"`, `"name":"new"`, 1)
		rows[5] = product(idOf(rows[5]), "l1", stamp(8*time.Minute)) // moves the watermark
		s.set("/products", rows...)
		s.on("/products", func(w http.ResponseWriter, r *http.Request) bool { // lost after /me was asked
			me := s.me
			s.me = strings.Replace(me, `"l2"`, `"l3"`, 1)
			defer func() { s.me = me }()
			return s.list(w, r)
		})
		pass(shopStream)
		s.on("/products", s.list)
		s.access("l1")
		pass("categories")
		s.access("l1", "l2")
		pass("categories")
		pass(shopStream)
		if raw := s.store.Row(shopStream, "b1", idOf(rows[0])).Raw; !strings.Contains(raw, `"name":"new"`) {
			t.Errorf("a change that a walk has passed by is missing: %s", raw)
		}
	})
}

// While only locations that the configuration leaves out change, the watermark moves along:
// walks would begin ever farther back, also after a restart.
func TestTheWatermarkMovesAlongRowsThatAreLeftOut(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		a := product("a", "l1", stamp(-48*time.Hour))
		f.set("/products", a)
		source := w.one(func(s *Source) { s.Streams, s.Locations = []string{shopStream}, []string{"l1"} })
		w.open(source)
		w.once(Selection{})
		time.Sleep(time.Hour)
		moved := stamp(-time.Minute)
		f.set("/products", a, product("b", "l2", moved))
		w.once(Selection{})
		w.close()
		w.open(source) // as it is stored
		w.once(Selection{})
		if mark := clockText(w.stream(shopStream).Watermark); mark != moved {
			t.Errorf("the watermark is %s, the newest row is of %s", mark, moved)
		}
	})
}

// A location that is inactive stands in no answer of /me, and its rows are listed: a
// configuration that leaves it out no more brings them at once.
func TestAnInactiveLocationThatTheConfigurationTakesIn(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/products", product("a", "l1", stamp(-48*time.Hour)), product("b", "l2", stamp(-72*time.Hour)))
		(&shop{fake: f, world: w}).access("l1")
		source := func(locations ...string) Source {
			return w.one(func(s *Source) { s.Streams, s.Locations = []string{shopStream}, locations })
		}
		for _, tt := range []struct {
			configured []string
			live       int
		}{{[]string{"l1"}, 1}, {nil, 2}} {
			w.open(source(tt.configured...))
			w.once(Selection{})
			n := 0
			for _, r := range w.store.Rows(shopStream, "b1") {
				if !r.Deleted {
					n++
				}
			}
			if n != tt.live {
				t.Errorf("locations %q: %d rows", tt.configured, n)
			}
			w.close()
			time.Sleep(time.Minute)
		}
	})
}

// Where the configuration names locations, a tombstone without an id goes to quarantine as
// elsewhere, and one that is listed twice is dropped twice.
func TestTombstonesThatSayLittleWhereLocationsAreNamed(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		gone := tombstoneOf("elsewhere", stamp(-time.Minute))
		f.set("/products", product("a", "l1", stamp(-time.Hour)), gone, gone, tombstoneOf("", stamp(-time.Minute)))
		w.open(w.one(func(s *Source) { s.Streams, s.Locations = []string{shopStream}, []string{"l1"} }))
		w.once(Selection{})
		if rows := w.store.Rows(shopStream, "b1"); len(rows) != 1 {
			t.Errorf("stored are %d rows, want 1", len(rows))
		}
		if n := w.stream(shopStream).Quarantined; n != 1 {
			t.Errorf("%d rows are in quarantine, want 1", n)
		}
	})
}
