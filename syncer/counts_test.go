package syncer

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
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

func wantFigures(t *testing.T, figures map[string]string, rows, requests int) {
	t.Helper()
	if figures["rows"] != strconv.Itoa(rows) || figures["requests"] != strconv.Itoa(requests) {
		t.Errorf("rows=%s requests=%s, want %d and %d", figures["rows"], figures["requests"], rows, requests)
	}
}

// requestsOf is how many requests of a long walk a log of a list has: incremental walks ask for
// what has changed since the backfill began.
func requestsOf(log []string, began time.Time) (n int) {
	for _, l := range log {
		since, err := time.Parse(time.RFC3339Nano, query(l, "updated_since"))
		if err != nil || since.Before(began) {
			n++
		}
	}
	return n
}

// What a walk asks for again is a request, and no row.
func TestAWalkThatBeginsAgainCountsItsRowsOnce(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var log logged
		w.into(&log)
		// What a backfill remembers depends on when it begins, to the second, and it begins
		// when what comes before it is durable. Which flush that takes part in is chance.
		w.flush = time.Millisecond
		f.set(cats, manyCategories(1000)...)
		f.on(cats, refuseCursor("600", 1))
		w.open(w.one())
		r := w.once(Selection{Streams: []string{"categories"}})
		// As TestARefusedCursorGoesOnFromTheWatermark tells them; the report has the incremental
		// walk, too, which writes the two rows that were not remembered.
		wantFigures(t, doneLine(t, log.take(), "backfill done", "categories"), 1000, 4+3+5)
		if c := r.Sources[0].Streams[0].Counts; c.Upserts != 1000+2 || c.Requests != 4+3+5+1 {
			t.Errorf("the report: %+v", c)
		}

		f.on(cats, refuseCursor("400", 1))
		f.asked(cats)
		began := time.Now().Add(-time.Minute)
		w.once(Selection{Full: true, Streams: []string{"categories"}})
		wantFigures(t, doneLine(t, log.take(), "full resync done", "categories"), 1000, requestsOf(f.asked(cats), began))
	})
}

// What fails and is tried again, the questions of a sweep and the probes are requests.
func TestARequestIsWhatTheServiceCounts(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 6, Orders: 300, Days: 5, Record: true}, func(t *testing.T, w *world) {
		var log logged
		w.into(&log)
		w.once(Selection{})
		log.take()
		time.Sleep(10 * time.Minute) // so that /me is asked again
		r := w.box.Restaurant(0)
		if err := r.Purge(sandbox.StreamProducts, r.IDs(sandbox.StreamProducts)[:3]...); err != nil {
			t.Fatal(err)
		}
		if err := w.box.AddFault(faults.Fault{Kind: faults.Unavailable, Route: "/products", Probability: 1, Count: 2}); err != nil {
			t.Fatal(err)
		}
		before := len(w.box.Requests())
		report := w.once(Selection{Full: true, Streams: []string{"products"}})
		whole, probes, all := 0, 0, 0 // of the resync, and with those of the walks beside it
		for _, q := range w.box.Requests()[before:] {
			switch {
			case strings.HasSuffix(q.URI, "/me") && whole > 0: // whether the key still has what the sweep is about
				probes++
			case !strings.Contains(q.URI, "/products"):
			default:
				if all++; !strings.Contains(q.URI, "updated_since") {
					whole++
				}
			}
		}
		wantFigures(t, doneLine(t, log.take(), "full resync done", "products"), len(r.IDs(sandbox.StreamProducts)), whole+probes)
		if n := report.Sources[0].Streams[0].Requests; whole < 2+3+1 || int(n) != all {
			t.Errorf("the report counts %d requests, the service %d, %d of the resync", n, all, whole)
		}
	})
}

// Refused cursors here and there, among rows of which many share a stamp, and a process
// that ends: every row counts once.
func TestRowsCountOnceHoweverOftenAWalkBeginsAgain(t *testing.T) {
	refused := 0
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				r := rand.New(rand.NewPCG(seed, 7))
				var rows []string
				at := -3 * time.Hour
				for len(rows) < 1500 {
					for range 1 + r.IntN(1+int(seed)*30) {
						rows = append(rows, category(fmt.Sprintf("c%05d", len(rows)), "C", stamp(at)))
					}
					at += time.Duration(1+r.IntN(9)) * time.Second
				}
				f.set(cats, rows...)
				f.on(cats, func(rw http.ResponseWriter, q *http.Request) bool {
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
				w.until("some pages", time.Hour, func() bool {
					p := w.stream("categories").Progress
					return w.filled() || p != nil && p.Pages > 2
				})
				w.crash(0)
				w.run(w.one())
				w.until("filled", 24*time.Hour, w.filled)
				if figures := doneLine(t, log.take(), "backfill done", "categories"); figures["rows"] != strconv.Itoa(len(rows)) {
					t.Errorf("rows=%s of %d", figures["rows"], len(rows))
				}
			})
		})
	}
	if refused < 6 {
		t.Errorf("%d refusals in all", refused)
	}
}
