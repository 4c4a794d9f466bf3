package syncer

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// manyCategories are n rows, a second apart, the last a minute ago.
func manyCategories(n int) []string {
	var rows []string
	for i := range n {
		rows = append(rows, category(fmt.Sprintf("c%04d", i), "C", stamp(-time.Minute-time.Duration(n-i)*time.Second)))
	}
	return rows
}

// sales is the list of orders, which is walked with updated_since from its start.
const sales = "/sales/orders"

// manyOrders are as many orders as [manyCategories] are categories.
func manyOrders(n int) []string {
	var rows []string
	for i := range n {
		rows = append(rows, order(fmt.Sprintf("o%04d", i), "1999-12-01", 1, stamp(-time.Minute-time.Duration(n-i)*time.Second)))
	}
	return rows
}

// refuseCursor answers 422 to one cursor, as often as n says.
func refuseCursor(cursor string, n int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("cursor") != cursor || n == 0 {
			return false
		}
		n--
		fakeError(w, 422, "validation_failed")
		return true
	}
}

func TestARefusedCursorGoesOnFromTheWatermark(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		rows := manyOrders(1000)
		f.set(sales, rows...)
		f.on(sales, refuseCursor("600", 1))
		w.open(w.one())
		w.once(Selection{Streams: []string{registry.Orders}})
		if n := len(w.store.Rows(registry.Orders, "b1")); n != 1000 {
			t.Fatalf("%d rows, want 1000", n)
		}
		asked := f.asked(sales)
		// Three pages, the refusal, then from the watermark on; then the incremental walk.
		restarted := asked[4]
		since := stampIn(`{"updated_at":"` + query(restarted, "updated_since") + `"}`)
		if want := stampIn(rows[599]).Add(-list.Lookback); !since.Equal(want) {
			t.Errorf("went on from %s, want %s", since, want)
		}
		if got := len(asked); got != 4+3+1 {
			t.Errorf("%d requests: %q", got, asked)
		}
	})
}

func query(logged, name string) string {
	_, raw, _ := strings.Cut(logged, "?")
	q, err := url.ParseQuery(raw)
	if err != nil {
		return err.Error()
	}
	return q.Get(name)
}

// No walk with updated_since brings them, and a backfill goes on with it: it owes a full resync.
func TestRowsWithoutAStampComeAfterALostCursorToo(t *testing.T) {
	for refusals := 1; refusals <= list.MaxRefusals; refusals++ {
		inFake(t, func(t *testing.T, f *fake, w *world) {
			rows := append(manyCategories(500), category("null", "N", "null"))
			f.set(cats, rows...)
			f.on(cats, refuseCursor("400", refusals))
			w.open(w.one())
			w.once(Selection{Streams: []string{"categories"}})
			if _, ok := w.store.Rows("categories", "b1")["null"]; !ok {
				t.Errorf("%d refusals: the row without updated_at is missing", refusals)
			}
			cp, _ := w.store.Checkpoint("s", "categories", sinks.WalkBackfill)
			if !cp.Done || cp.Position != `{"at_least":true}` {
				t.Errorf("%d refusals: checkpoint %+v", refusals, cp)
			}
		})
	}
}

// A service that refuses every third cursor is walked to the end all the same: each
// restart brings the walk further. That holds without updated_since and with every cursor refused, too,
// where the full resync that is owed then fails.
func TestRefusedCursorsDoNotEndAWalkThatComesFurther(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(sales, manyOrders(4000)...)
		pages, refused := 0, 0
		f.on(sales, func(rw http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Query().Get("cursor") == "":
				pages = 0
			case pages == 2:
				refused++
				fakeError(rw, 422, "validation_failed")
				return true
			}
			pages++
			return false
		})
		w.open(w.one())
		w.once(Selection{Streams: []string{registry.Orders}})
		if n := len(w.store.Rows(registry.Orders, "b1")); n != 4000 || refused < 10 {
			t.Errorf("%d rows, %d refusals", n, refused)
		}
	})
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, manyCategories(4000)...)
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			refused := r.URL.Query().Get("cursor") != ""
			if refused {
				fakeError(rw, 422, "validation_failed")
			}
			return refused
		})
		w.run(w.one())
		w.until("all rows", time.Hour, func() bool { return len(w.store.Rows("categories", "b1")) == 4000 })
		w.until("failing", time.Hour, func() bool { return w.stream("categories").State == status.StateFailing })
	})
}

func TestACursorThatIsAlwaysRefusedFailsTheWalk(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, manyCategories(500)...)
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("cursor") == "" {
				return false
			}
			fakeError(rw, 422, "validation_failed")
			return true
		})
		w.open(w.one())
		r := w.tryOnce(Selection{Streams: []string{"categories"}})
		if r.Err() == nil {
			t.Fatal("no error")
		}
		if n := len(f.asked(cats)); n > 30 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestCursorsThatGoInCirclesAreNoticed(t *testing.T) {
	for _, length := range []int{1, 2, 7} {
		inFake(t, func(t *testing.T, f *fake, w *world) {
			n := 0
			f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
				n++
				fmt.Fprintf(rw, `{"data":[],"next_cursor":"x%d","has_more":true}`, n%length)
				return true
			})
			w.open(w.one())
			r := w.tryOnce(Selection{Streams: []string{"categories"}})
			if r.Err() == nil || !api.LeadsNowhere(r.Err()) {
				t.Errorf("circle of %d: %v", length, r.Err())
			}
			if n > 60 {
				t.Errorf("circle of %d noticed after %d requests", length, n)
			}
		})
	}
}

// A service that filters what it has read sends pages without rows, each under a new cursor:
// no walk ends there, and no row behind them is missed.
func TestPagesWithoutRowsEndNoWalk(t *testing.T) {
	opts := sandbox.Options{Seed: 5, Orders: 450, Record: true, Readings: sandbox.Readings{EmptyPages: 25}}
	inWorld(t, opts, func(t *testing.T, w *world) {
		w.run()
		w.until("backfill", 30*time.Minute, w.filled)
		r := w.box.Restaurant(0)
		if err := r.Touch(sandbox.StreamProducts, r.IDs(sandbox.StreamProducts)[0]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		w.equal()
		for _, st := range w.syncer.Status().Sources[0].Streams {
			if st.LastError != "" {
				t.Errorf("%s: %s", st.Name, st.LastError)
			}
		}
	})
}

// A service that stops answering is noticed after one turn that was missed, before any request
// has failed. Neither a backfill nor the limits alone make a stream look like that.
func TestASilentServiceIsSeenAfterOneMissedTurn(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("mirrored", time.Minute, w.filled)
		time.Sleep(10 * time.Minute)
		f.on(cats, func(_ http.ResponseWriter, r *http.Request) bool {
			f.mu.Unlock()
			defer f.mu.Lock()
			<-r.Context().Done()
			return true
		})
		ended := w.stream("categories").LastSuccess
		w.until("behind", 2*time.Minute, func() bool { return w.stream("categories").Behind })
		st := w.stream("categories")
		if after := time.Since(ended); after < time.Minute || after > 95*time.Second || st.LastError != "" {
			t.Errorf("behind %s after the last walk: %q", after, st.LastError)
		}
		src := w.source()
		if c := src.Health(); c.Kind != status.HealthBehind || len(src.StreamNotes(time.Now(), &st)) == 0 {
			t.Errorf("%+v, note %q", c, src.StreamNotes(time.Now(), &st))
		}
		f.on(cats, nil)
		w.until("up to date", 10*time.Minute, func() bool { return !w.stream("categories").Behind })
	})
	inWorld(t, sandbox.Options{Seed: 8, Orders: 25_000, Pace: 20}, func(t *testing.T, w *world) {
		defer w.alive()()
		w.run()
		for began := time.Now(); !w.filled() && time.Since(began) < time.Hour; time.Sleep(time.Second) {
			for _, st := range w.syncer.Status().Sources[0].Streams {
				if st.Behind {
					t.Fatalf("%s after %s: %s", st.Name, time.Since(began), w.describe())
				}
			}
		}
	})
}

func TestABackfillGoesOnFromItsStoredCursor(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, manyCategories(4000)...)
		w.run(w.one())
		w.until("some pages", time.Minute, func() bool {
			cp, _ := w.store.Checkpoint("s", "categories", sinks.WalkBackfill)
			return cp.Pages >= 5
		})
		w.crash(0)
		cp, _ := w.store.Checkpoint("s", "categories", sinks.WalkBackfill)
		f.asked(cats)
		w.run(w.one())
		w.until("backfill", 5*time.Minute, func() bool { return w.stream("categories").State == status.StateRunning })
		for _, a := range f.asked(cats) {
			if query(a, "updated_since") == "" {
				if got := query(a, "cursor"); got != cp.Cursor {
					t.Errorf("went on from cursor %q, stored is %q", got, cp.Cursor)
				}
				break
			}
		}
		if n := len(w.store.Rows("categories", "b1")); n != 4000 {
			t.Errorf("%d rows, want 4000", n)
		}
	})
}

func TestTheStoredWatermarkNeverRunsAhead(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, category("a", "A", stamp(-time.Hour)))
		w.run(w.one())
		w.until("mirrored", time.Minute, func() bool { return w.stream("categories").State == status.StateRunning })
		w.sink.SetDown(true)
		f.set(cats, category("a", "A", stamp(-time.Hour)), category("b", "B", stamp(0)))
		time.Sleep(5 * time.Minute)
		cp, _ := w.store.Checkpoint("s", "categories", sinks.WalkIncremental)
		if cp.Watermark.After(time.Now().Add(-30 * time.Minute)) {
			t.Fatalf("the stored watermark is %s while row b is not stored", cp.Watermark)
		}
		w.crash(1) // the row got through, its checkpoint did not
		w.run(w.one())
		w.until("b", time.Minute, func() bool {
			cp, _ := w.store.Checkpoint("s", "categories", sinks.WalkIncremental)
			return cp.Watermark.Equal(stampIn(f.row(cats, 1)))
		})
	})
}

func TestPagesOutOfOrderHoldTheWatermarkUntilTheEnd(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, category("a", "A", stamp(-time.Hour)))
		w.run(w.one())
		w.until("backfill", time.Minute, func() bool { return w.stream("categories").State == status.StateRunning })
		base := w.stream("categories").Watermark
		late := stamp(time.Minute)
		var rows []string
		for i := range 400 {
			rows = append(rows, category(fmt.Sprintf("n%d", i), "N", late))
		}
		rows = append(rows, category("early", "E", stamp(time.Second)))
		time.Sleep(time.Minute)
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("cursor") == "400" {
				cp, _ := w.store.Checkpoint("s", "categories", sinks.WalkIncremental)
				if cp.Watermark.IsZero() {
					t.Error("no checkpoint within the walk")
				}
			}
			return false
		})
		f.set(cats, rows...)
		w.until("walked", 2*time.Minute, func() bool { return len(w.store.Rows("categories", "b1")) == 402 })
		time.Sleep(time.Minute)
		cp, _ := w.store.Checkpoint("s", "categories", sinks.WalkIncremental)
		if !cp.Watermark.After(base) || !cp.Pending.IsZero() || cp.Cursor != "" {
			t.Errorf("checkpoint %+v", cp)
		}
	})
}

func TestTombstonesBuryAndMoveTheWatermark(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, category("a", "A", stamp(-time.Hour)), tombstoneOf("never", "null"))
		w.run(w.one())
		w.until("mirrored", time.Minute, func() bool { return w.stream("categories").State == status.StateRunning })
		f.set(cats, tombstoneOf("a", stamp(0)), tombstoneOf("never", "null"))
		w.until("removed", time.Minute, func() bool { return w.store.Rows("categories", "b1")["a"].Deleted })
		rows := w.store.Rows("categories", "b1")
		if a := rows["a"]; a.Raw == "" || a.Reason != "deleted" || a.DeletedAt.IsZero() {
			t.Errorf("the tombstone lost the row's values: %+v", a)
		}
		if !rows["never"].Deleted {
			t.Error("a tombstone of a row never seen is not stored")
		}
		if mark := w.stream("categories").Watermark; !mark.Equal(stampIn(f.row(cats, 0))) {
			t.Errorf("watermark %s", mark)
		}
		f.set(cats, category("a", "A", stamp(0)))
		w.until("alive again", time.Minute, func() bool { return !w.store.Rows("categories", "b1")["a"].Deleted })
	})
}

// Where the configuration names locations, a tombstone may come while its row is on its way to the
// warehouse, and is dropped. It comes again.
func TestATombstoneOfARowOnItsWayComesAgain(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.flush = 45 * time.Second // the second walk of what has changed comes before, whichever walk is the first
		f.set("/products", product("p", "l1", stamp(-time.Hour)))
		asked, turned := false, false
		f.on("/products", func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("updated_since") == "" {
				asked = true
			} else if asked && !turned {
				turned = true
				f.rows["/products"] = []string{tombstoneOf("p", stamp(0))}
				if w.store.Row("products", "b1", "p").Raw != "" {
					t.Error("the row is stored: this shows nothing")
				}
			}
			return false
		})
		w.run(w.one(func(s *Source) { s.Locations = []string{"l1"} }))
		w.until("stored", 3*time.Minute, func() bool { return w.store.Row("products", "b1", "p").Raw != "" })
		w.until("removed", 2*time.Minute, func() bool { return w.store.Row("products", "b1", "p").Deleted })
	})
}

// endlessBackfill answers walks without updated_since with pages of old rows.
func endlessBackfill(n int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		q := r.URL.Query()
		if q.Get("updated_since") != "" {
			return false
		}
		from, _ := strconv.Atoi(q.Get("cursor"))
		var rows []string
		for i := from; i < from+200; i++ {
			rows = append(rows, category(fmt.Sprintf("old%d", i), "O", "1999-06-01T00:00:00Z"))
		}
		fmt.Fprintf(w, `{"data":[%s],"next_cursor":"%d","has_more":%v}`, strings.Join(rows, ","), from+200, from+200 < n)
		return true
	}
}

func TestIncrementalWalksAreNotHeldUpByABackfill(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.on(cats, endlessBackfill(100_000)) // 500 pages: minutes at the limits
		w.run(w.one())
		time.Sleep(time.Minute)
		var slowest time.Duration
		for i := range 5 {
			id := fmt.Sprintf("new%d", i)
			f.set(cats, category(id, "N", stamp(0)))
			changed := time.Now()
			w.until("fresh row", time.Minute, func() bool { return w.store.Row("categories", "b1", id).Raw != "" })
			slowest = max(slowest, time.Since(changed))
			time.Sleep(7 * time.Second)
		}
		if w.stream("categories").State != status.StateBackfill {
			t.Fatalf("the backfill ended too early to prove anything: %s", w.describe())
		}
		if slowest > 33*time.Second {
			t.Errorf("a change took %s to be mirrored, with walks every 30s", slowest)
		}
	})
}

func TestChangesBetweenBackfillAndRestartAreNotLost(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, category("a", "A", stamp(-time.Hour)))
		w.open(w.one())
		w.once(Selection{Streams: []string{"categories"}})
		w.sink.Crash(0)
		time.Sleep(10 * time.Minute)
		f.set(cats, category("a", "A", stamp(-70*time.Minute)), category("b", "B", stamp(-5*time.Minute)))
		time.Sleep(24 * time.Hour)
		w.open(w.one())
		w.once(Selection{Streams: []string{"categories"}})
		if len(w.store.Rows("categories", "b1")) != 2 {
			t.Error("what changed while nothing ran is missing")
		}
	})
}

func TestARowOfASlowBackfillPageDoesNotReplaceANewerOne(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		old, fresh := category("a", "old", stamp(-time.Hour)), ""
		asked, release := make(chan struct{}), make(chan struct{})
		ask := sync.OnceFunc(func() { close(asked) })
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			q := r.URL.Query()
			if q.Get("updated_since") != "" {
				return false
			}
			// The backfill's answer was made before the change and arrives after it.
			f.mu.Unlock()
			ask()
			<-release
			f.mu.Lock()
			fmt.Fprintf(rw, `{"data":[%s],"next_cursor":null,"has_more":false}`, old)
			return true
		})
		w.schedule.Incremental = "@every 1m" // the walk after the next would mend it
		w.run(w.one())
		<-asked
		time.Sleep(time.Second)
		fresh = category("a", "new", clockText(time.Now().Truncate(time.Second)))
		f.set(cats, fresh)
		w.until("the change", 2*time.Minute, func() bool { return w.store.Row("categories", "b1", "a").Raw == fresh })
		close(release)
		w.until("backfill", time.Minute, func() bool { return w.stream("categories").State == status.StateRunning })
		time.Sleep(time.Second)
		if got := w.store.Row("categories", "b1", "a").Raw; got != fresh {
			t.Errorf("the mirror holds %s", got)
		}
	})
}

// The same where the incremental walk asked first, and its answer was made last.
func TestARowOfAPageAskedForLaterDoesNotReplaceANewerOne(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		old, fresh := category("a", "old", stamp(-time.Hour)), category("a", "new", stamp(time.Minute))
		f.set(cats, old)
		var changed atomic.Bool
		w.store.Watch(func(c *sinks.Commit, _ bool) {
			if got := w.store.Row("categories", "b1", "a").Raw; changed.Load() && got != fresh {
				t.Errorf("behind a commit of %s the mirror holds %s", c.Stream, got)
			}
		})
		w.schedule.Incremental = "@every 1m"
		w.run(w.one())
		w.until("backfill", time.Minute, func() bool { return w.stream("categories").State == status.StateRunning })
		asked, whole, answer, release := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
		ask, askWhole := sync.OnceFunc(func() { close(asked) }), sync.OnceFunc(func() { close(whole) })
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			f.mu.Unlock()
			defer f.mu.Lock()
			if r.URL.Query().Get("updated_since") != "" {
				ask()
				<-answer
				return false
			}
			askWhole()
			<-release
			fmt.Fprintf(rw, `{"data":[%s],"next_cursor":null,"has_more":false}`, old)
			return true
		})
		<-asked
		go func() {
			if _, err := w.syncer.RunOnce(t.Context(), Selection{Streams: []string{"categories"}, Full: true}, nil); err != nil {
				t.Error(err)
			}
		}()
		<-whole
		f.set(cats, fresh)
		close(answer)
		w.until("the change", time.Minute, func() bool { return w.store.Row("categories", "b1", "a").Raw == fresh })
		changed.Store(true)
		close(release)
		w.until("the full resync", time.Minute, func() bool { return !w.stream("categories").LastResync.IsZero() })
	})
}

func TestABackfillThatFailsIsNotHiddenByTheWalksBesideIt(t *testing.T) {
	inShort(t)
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("updated_since") != "" {
				return false
			}
			fakeError(rw, 404, "not_found")
			return true
		})
		w.run(w.one())
		w.until("failing", 10*time.Minute, func() bool { return w.stream("categories").State == status.StateFailing })
		for range 120 {
			time.Sleep(time.Second)
			if got := w.stream("categories").State; got != status.StateFailing {
				t.Fatalf("the state is %s while the backfill fails", got)
			}
		}
		if n := len(w.store.Runs()); n > 20 {
			t.Errorf("%d runs stored, want the first failure only", n)
		}
		f.on(cats, nil)
		w.until("well again", 10*time.Minute, func() bool { return w.stream("categories").State == status.StateRunning })
	})
}
