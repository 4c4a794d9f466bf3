package main

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

func TestNoMoreBarsThanTheTerminalHasLinesFor(t *testing.T) {
	walks := []walk{{"a products", 50, 100, "50 of 100 rows"}, {"bistro sales_orders", 0, 0, "1,000 rows"}, {"c", 7, 5, "7 of 5 rows"}, {name: "d"}}
	forecast := walk{"bistro sales_orders", 1, 2, "123,456 of 234,567 rows, 10 min left, 1,234 requests"}
	for height, want := range map[int]string{
		24: `a products          ━━━─── 50 of 100 rows
bistro sales_orders ────── 1,000 rows
c                   ━━━━━━ 7 of 5 rows
d
`,
		5: `a products          ━━━─── 50 of 100 rows
bistro sales_orders ────── 1,000 rows
and 2 more
`,
		1: "a products ━━━─── 50 of 100 rows\nand 3 more\n",
	} {
		if got := barsOf(walks, 80, height); got != want {
			t.Errorf("%d lines: got\n%s\nwant\n%s", height, got, want)
		}
	}
	if got := barsOf([]walk{forecast}, 80, 24); got != "bistro sales_orders ━━━─── "+forecast.text+"\n" {
		t.Errorf("80 columns: %q", got)
	}
	if got := barsOf(walks[:1], 100, 24); got != "a products ━━━━━━────── 50 of 100 rows\n" {
		t.Errorf("100 columns: %q", got)
	}
	if got := barsOf(walks[:1], 20, 24); got != "a products ━─ 50 of…\n" {
		t.Errorf("20 columns: %q", got)
	}
}

// Results go to standard output, and log lines to standard error: both above the bars, which are drawn
// on standard error.
func TestBarsAreDrawnBelowWhatIsPrinted(t *testing.T) {
	var out, bars strings.Builder
	p := &progress{globals: &globals{terminal: terminal{out: &out, err: &bars}}, bars: true}
	p.underWay([]walk{{"a", 1, 2, "half"}, {"b", 1, 2, "half"}})
	drawn := strings.TrimPrefix(bars.String(), "\r\x1b[J")
	bars.Reset()
	if _, err := io.WriteString(p.above(&out), "found\n"); err != nil || out.String() != "found\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	if want := "\x1b[1A\x1b[1A\r\x1b[J" + "\r\x1b[J" + drawn; bars.String() != want {
		t.Errorf("around a line: %q, want %q", bars.String(), want)
	}
	bars.Reset()
	if p.end(); bars.String() != "\x1b[1A\x1b[1A\r\x1b[J" {
		t.Errorf("at the end: %q", bars.String())
	}
}

// A log is not filled by a pass that waits: its lines come more seldom the longer it takes.
func TestLinesOfALongPassAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		g := &globals{terminal: terminal{err: &out}}
		if _, err := g.logger(&out, "text", "info"); err != nil {
			t.Fatal(err)
		}
		p := g.newProgress(syncer.Selection{})
		lines := func(during time.Duration) int {
			out.Reset()
			for range during / time.Second {
				time.Sleep(time.Second)
				p.update(walking("a"))
			}
			return strings.Count(out.String(), "\n")
		}
		if n := lines(100 * time.Second); n != 10 {
			t.Errorf("%d lines in the first 100 seconds, want one each 10 seconds", n)
		}
		if n := lines(20 * time.Minute); n < 15 || n > 30 {
			t.Errorf("%d lines in the next 20 minutes", n)
		}
	})
}

func walking(sources ...string) status.Status {
	var s status.Status
	for _, name := range sources {
		s.Sources = append(s.Sources, status.SourceStatus{Name: name, Streams: []status.StreamStatus{
			{Name: "sales_orders", Progress: &status.Progress{Pages: 5, Rows: 1000, TotalRows: 2000, RequestsLeft: 5}},
			{Name: "allergens"},
		}})
	}
	return s
}

func TestAPassShowsNoDeepRun(t *testing.T) {
	s := walking("a")
	s.Sources[0].Streams[1].Progress = &status.Progress{Walk: status.WalkDeep, Pages: 4, RequestsLeft: 8}
	if walks := walksOf(s, syncer.Selection{}); len(walks) != 1 {
		t.Errorf("%+v", walks)
	}
}

func TestOnlyTheWalksOfThePassAreShown(t *testing.T) {
	s := walking("a", "b")
	if walks := walksOf(s, syncer.Selection{Sources: []string{"b"}}); len(walks) != 1 || walks[0].name != "b sales_orders" {
		t.Errorf("of source b: %+v", walks)
	}
	if walks := walksOf(s, syncer.Selection{Streams: []string{"products"}}); len(walks) != 0 {
		t.Errorf("of stream products: %+v", walks)
	}
}
