package syncer

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
)

// openRaws are the open entries' rows of a stream, in order.
func (w *world) openRaws(stream string) (raws []string) {
	for _, e := range w.store.Entries() {
		if e.Open && e.Stream == stream {
			raws = append(raws, string(e.Raw))
		}
	}
	slices.Sort(raws)
	return slices.Compact(raws)
}

func (w *world) expectOpen(stream string, want ...string) {
	w.t.Helper()
	slices.Sort(want)
	if got := w.openRaws(stream); !slices.Equal(got, want) {
		w.t.Errorf("open entries of %s:\n%s\nwant\n%s", stream, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func withoutID(row string) string {
	_, rest, _ := strings.Cut(row, ",")
	return "{" + rest
}

// An incremental walk closes none, as it does not show whether a row is there as it was: the next full
// resync does.
func TestAFullResyncClosesEntriesOfRowsWithoutAnID(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		unstamped, a := withoutID(category("u", "U", "null")), category("a", "A", stamp(-time.Hour))
		f.set(cats, unstamped, a)
		w.run(w.one())
		w.until("quarantined", time.Minute, func() bool { return len(w.openRaws("categories")) == 1 })
		updated := stamp(0)
		x, y := withoutID(category("x", "X", updated)), withoutID(category("y", "Y", updated))
		f.set(cats, unstamped, a, x, y)
		w.until("more", time.Minute, func() bool { return len(w.openRaws("categories")) == 3 })
		f.set(cats, a, category("x", "X", updated), y)
		time.Sleep(10 * time.Minute)
		w.expectOpen("categories", unstamped, x, y)

		w.halt()
		w.open(w.one())
		if _, err := w.full(Selection{Streams: []string{"categories"}}); err != nil {
			t.Fatal(err)
		}
		w.expectOpen("categories", y)
	})
}

// One of two rows without an id is good again: the other's entry stays.
func TestEntriesOfRowsWithoutAnIDCloseOneByOne(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		one, two := `{"name":"1"}`, `{"name":"2"}`
		f.set("/allergens", one, two, `{"code":"3","name":"3"}`)
		w.open(w.one())
		snapshots := Selection{Streams: []string{"allergens"}}
		w.once(snapshots)
		w.expectOpen("allergens", one, two)
		w.sink.Crash(0)
		w.open(w.one()) // by another process
		f.set("/allergens", `{"code":"1","name":"1"}`, two)
		w.once(snapshots)
		w.expectOpen("allergens", two)
		f.set("/allergens", `{"code":"1","name":"1"}`)
		w.once(snapshots)
		w.expectOpen("allergens")

		const updated = "1999-12-01T00:00:00Z"
		x, y := withoutID(category("x", "X", updated)), withoutID(category("y", "Y", updated))
		f.set(cats, x, y)
		w.once(Selection{Streams: []string{"categories"}})
		f.set(cats, x, category("y", "Y", updated))
		if _, err := w.full(Selection{Streams: []string{"categories"}}); err != nil {
			t.Fatal(err)
		}
		w.expectOpen("categories", x)
	})
}

// Rows of totals that cannot be placed close when all days were asked for again.
func TestRowsOfTotalsThatHaveNoPlaceClose(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		day := func(r *http.Request) string {
			return fmt.Sprintf(`{"currency":"RON","from":"a","to":"b","totals":{},"data":[%s]}`, aDay(schedule.DayOf(time.Now())))
		}
		dateless := strings.Replace(aDay("2000-01-01"), `"date":"2000-01-01"`, `"date":7`, 1)
		unnamed := fmt.Sprintf(`{"date":%q,"product_id":7,"name":"M","category_id":null,"quantity":"2.00","weight_kg":null,"gross":"2.00","line_discounts":"0.00","net":"2.00"}`, schedule.DayOf(time.Now()))
		bad := true
		f.on("/sales/daily", func(rw http.ResponseWriter, r *http.Request) bool {
			answer := day(r)
			if bad {
				answer = strings.Replace(answer, `"data":[`, `"data":[`+dateless+`,`, 1)
			}
			fmt.Fprint(rw, answer)
			return true
		})
		f.set("/sales/products", unnamed)
		w.run(w.one())
		w.until("quarantined", time.Hour, func() bool { return len(w.openRaws("sales_daily")) == 1 && len(w.openRaws("sales_products")) == 1 })
		time.Sleep(20 * time.Minute)
		w.expectOpen("sales_daily", dateless) // still there
		w.expectOpen("sales_products", unnamed)
		f.mu.Lock()
		bad = false
		f.mu.Unlock()
		f.set("/sales/products", strings.Replace(unnamed, `"product_id":7`, `"product_id":"7","orders":{},"refunds":7`, 1))
		time.Sleep(7 * 24 * time.Hour) // past the full resync
		w.expectOpen("sales_daily")
		w.expectOpen("sales_products")
	})
}

// So they do when they were stored by another process.
func TestAFullResyncClosesRowsOfTotalsThatHaveNoPlace(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		dateless := strings.Replace(aDay("2000-01-01"), `"date":"2000-01-01",`, ``, 1)
		f.set("/sales/daily", dateless)
		w.open(w.one())
		daily := Selection{Streams: []string{"sales_daily"}}
		w.once(daily)
		w.expectOpen("sales_daily", dateless)
		resync := func() {
			t.Helper()
			w.sink.Crash(0)
			w.open(w.one())
			if _, err := w.full(daily); err != nil {
				t.Fatal(err)
			}
		}
		resync()
		w.expectOpen("sales_daily", dateless)
		f.set("/sales/daily")
		resync()
		w.expectOpen("sales_daily")
	})
}

// They close where a configured location is not active, and the service answers for it all the same.
func TestRowsOfTotalsCloseBesideAnInactiveLocation(t *testing.T) {
	inShort(t)
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set("/sales/daily", strings.Replace(aDay("2000-01-01"), `"date":"2000-01-01",`, ``, 1))
		me := &shop{fake: f, world: w}
		me.access("l1", "l2")
		w.run(w.one(func(s *Source) { s.Locations = []string{"l1", "l2"} }))
		w.until("quarantined", time.Hour, func() bool {
			return len(w.openRaws("sales_daily")) > 0 && w.stream("sales_daily").State == status.StateRunning
		})
		me.access("l1")
		time.Sleep(2 * time.Hour)
		f.set("/sales/daily")
		if _, err := w.full(Selection{Streams: []string{"sales_daily"}}); err != nil {
			t.Fatal(err)
		}
		w.expectOpen("sales_daily")
	})
}

// aDay is a row of /sales/daily with one order of 10.00 in cash.
func aDay(day types.Date, edit ...string) string {
	row := fmt.Sprintf(`{"date":%q,"orders":1,"net_sales":"10.00","items":"10.00","discounts":"0.00","delivery_fees":"0.00","tips":"0.00",`+
		`"deposits":"0.00","refunds":"0.00","payments":{"cash":"10.00","card":"0.00"},"by_type":{"dine_in":"10.00"},"by_channel":{"pos":"10.00"}}`, day)
	return strings.NewReplacer(edit...).Replace(row)
}
