package main

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vbauerster/mpb/v8"

	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

func TestNoMoreBarsThanTheTerminalHasLinesFor(t *testing.T) {
	p := &progress{out: io.Discard, most: 2, bars: map[string]*bar{}}
	p.group = mpb.New(mpb.WithOutput(io.Discard), mpb.WithAutoRefresh())
	want := func(names ...string) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(p.bars)); !slices.Equal(got, names) {
			t.Errorf("bars of %v, want %v", got, names)
		}
	}
	p.update(walking("a", "b", "c", "d"))
	want("a sales_orders", "b sales_orders")
	p.update(walking("a", "c", "d")) // a bar whose walk has ended makes way
	want("a sales_orders", "c sales_orders")
	if p.rest == nil {
		t.Error("the walk without a bar is not counted")
	}
	p.update(walking("a", "d"))
	if want("a sales_orders", "d sales_orders"); p.rest != nil {
		t.Error("every walk has a bar, and some are counted as without")
	}
	p.end()
}

// What a daemon reports of a pass may arrive after its interruption.
func TestAnInterruptedCommandDrawsNoMoreBars(t *testing.T) {
	p := &progress{out: io.Discard, most: 1, bars: map[string]*bar{}}
	p.group = mpb.New(mpb.WithOutput(io.Discard), mpb.WithAutoRefresh())
	p.group.Wait()
	p.update(walking("a", "b"))
	if len(p.bars) != 0 {
		t.Errorf("%d bars", len(p.bars))
	}
}

// A log is not filled by a pass that waits: its lines come more seldom the longer it takes.
func TestLinesOfALongPassAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := newProgress(t.Context(), &globals{terminal: terminal{err: &out}}, syncer.Selection{})
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

// What does not fit beside the bar is left out from its end, part by part.
func TestProgressFitsItsLine(t *testing.T) {
	const text = "full resync: 400 of 1,430 rows, 1 h 5 min left, 12 requests"
	for width, want := range map[int]string{
		0: text, 59: text, 58: "full resync: 400 of 1,430 rows, 1 h 5 min left", 40: "full resync: 400 of 1,430 rows", 10: "full resy…",
	} {
		if got := fit(text, width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}
