package syncer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// doneLine is the one line that ends a stream's long walk, by the names of its figures.
func doneLine(t *testing.T, lines []string, what, stream string) map[string]string {
	t.Helper()
	var found []map[string]string
	for _, l := range lines {
		if !strings.Contains(l, `msg="`+what+`"`) || !strings.Contains(l, " stream="+stream+" ") {
			continue
		}
		figures := map[string]string{}
		for _, f := range strings.Fields(l) {
			if name, value, ok := strings.Cut(f, "="); ok {
				figures[name] = value
			}
		}
		found = append(found, figures)
	}
	if len(found) != 1 {
		t.Fatalf("%d lines say %q of %s:\n%s", len(found), what, stream, strings.Join(lines, "\n"))
	}
	return found[0]
}

// A walk that goes on without its cursor says that there may be more rows, though it has them all: the
// full resync that the backfill of such a list owes comes behind it, and its requests count.
func TestAWalkThatBeginsAgainCountsItsRowsOnce(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var log logged
		w.into(&log)
		f.set(cats, manyCategories(1000)...)
		f.on(cats, refuseCursor("600", 1))
		w.open(w.one())
		r := w.once(Selection{Streams: []string{"categories"}})
		// As TestARefusedCursorGoesOnFromTheWatermark tells them, but for the refusal; the report
		// has the full resync and the incremental walks, too.
		figures := doneLine(t, log.take(), "backfill done", "categories")
		if figures["rows"] != "1000" || figures["pages"] != "6" || figures["at_least"] != "true" {
			t.Errorf("%v", figures)
		}
		if c := r.Sources[0].Streams[0].Counts; c.Upserts < 1000 || c.Requests != 3+3+5+1+1 {
			t.Errorf("the report: %+v", c)
		}
	})
}

// What is tried again, and the questions of a sweep, are requests.
func TestARequestIsWhatTheServiceCounts(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 6, Orders: 300, Days: 5, Record: true}, func(t *testing.T, w *world) {
		w.once(Selection{})
		r := w.box.Restaurant(0)
		if err := r.Purge(sandbox.StreamProducts, r.IDs(sandbox.StreamProducts)[:3]...); err != nil {
			t.Fatal(err)
		}
		if err := w.box.AddFault(faults.Fault{Kind: faults.Unavailable, Route: "/products", Probability: 1, Count: 2}); err != nil {
			t.Fatal(err)
		}
		before := len(w.box.Requests())
		report := w.once(Selection{Full: true, Streams: []string{"products"}})
		all := 0
		for _, q := range w.box.Requests()[before:] {
			if strings.Contains(q.URI, "/products") {
				all++
			}
		}
		if n := report.Sources[0].Streams[0].Requests; all < 2+3+1 || int(n) != all {
			t.Errorf("the report counts %d requests, the service %d", n, all)
		}
		// A question of the totals that has failed took some, too.
		if err := w.box.AddFault(faults.Fault{Kind: faults.Unavailable, Route: "/sales/daily", Probability: 1, Count: 5}); err != nil {
			t.Fatal(err)
		}
		before = len(w.box.Requests())
		report, err := w.syncer.RunOnce(t.Context(), Selection{Streams: []string{"sales_daily"}}, nil)
		all = 0
		for _, q := range w.box.Requests()[before:] {
			if strings.Contains(q.URI, "/sales/daily") {
				all++
			}
		}
		if n := report.Sources[0].Streams[0].Requests; err != nil || report.Err() == nil || all < 5 || int(n) != all {
			t.Errorf("the report counts %d requests, the service %d: %v", n, all, errors.Join(err, report.Err()))
		}
	})
}

// Refused cursors here and there, among rows of which many share a stamp, and a process
// that ends: no row counts twice. In the end each has counted, unless the line says "at least".
func TestRowsCountOnceHoweverOftenAWalkBeginsAgain(t *testing.T) {
	notInShort(t)
	refused, atLeast := 0, 0
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				r := rand.New(rand.NewPCG(seed, 7))
				path, stream := sales, registry.Orders
				if seed%2 == 0 {
					path, stream = cats, "categories"
				}
				var rows []string
				at := -3 * time.Hour
				for len(rows) < 1500 {
					for range 1 + r.IntN(1+int(seed)*30) {
						row := order(fmt.Sprintf("o%05d", len(rows)), "1999-12-01", 1, stamp(at))
						if path == cats {
							row = category(fmt.Sprintf("c%05d", len(rows)), "C", stamp(at))
						}
						rows = append(rows, row)
					}
					at += time.Duration(1+r.IntN(9)) * time.Second
				}
				f.set(path, rows...)
				f.on(path, func(rw http.ResponseWriter, q *http.Request) bool {
					if q.URL.Query().Get("cursor") == "" || r.IntN(4) > 0 {
						return false
					}
					refused++
					fakeError(rw, 422, "validation_failed")
					return true
				})
				var log logged
				w.into(&log)
				w.run(w.one())
				counted := func() *status.Progress {
					p := w.stream(stream).Progress
					if p != nil && p.Rows > uint64(len(rows)) {
						t.Fatalf("%d rows of %d", p.Rows, len(rows))
					}
					if p != nil && p.AtLeast {
						atLeast++
					}
					return p
				}
				w.until("some pages", time.Hour, func() bool {
					p := counted()
					return w.filled() || p != nil && p.Pages > 2
				})
				w.crash(0)
				w.run(w.one())
				w.until("filled", 24*time.Hour, func() bool { counted(); return w.filled() })
				figures := doneLine(t, log.take(), "backfill done", stream)
				n, err := strconv.Atoi(figures["rows"])
				if more := figures["at_least"] == "true"; err != nil || n > len(rows) || n < len(rows) && !more {
					t.Errorf("%v of %d", figures, len(rows))
				}
			})
		})
	}
	if refused < 6 || atLeast == 0 {
		t.Errorf("%d refusals in all, %d times that rows are said to be more", refused, atLeast)
	}
}
