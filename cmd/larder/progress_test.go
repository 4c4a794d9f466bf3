package main

import (
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"

	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

func TestNoMoreBarsThanThereIsRoomFor(t *testing.T) {
	p := &progress{out: io.Discard, room: 2, bars: map[string]*bar{}}
	p.group = mpb.New(mpb.WithOutput(io.Discard), mpb.WithAutoRefresh())
	want := func(names ...string) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(p.bars)); !slices.Equal(got, names) {
			t.Errorf("bars of %v, want %v", got, names)
		}
	}
	p.update(walking("a", "b", "c", "d"))
	want("a sales_orders", "b sales_orders")
	p.update(walking("a", "c", "d")) // a bar whose walk has ended makes room
	want("a sales_orders", "c sales_orders")
	p.update(walking("a", "d"))
	want("a sales_orders", "d sales_orders")
	p.end()
}

func TestBarsOfFewWalksStay(t *testing.T) {
	p := &progress{out: io.Discard, room: barsShown, bars: map[string]*bar{}}
	p.group = mpb.New(mpb.WithOutput(io.Discard), mpb.WithAutoRefresh())
	p.update(walking("a", "b"))
	p.update(walking("b"))
	if len(p.bars) != 2 || p.rest != nil {
		t.Errorf("%d bars", len(p.bars))
	}
	p.end()
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

func TestTheWayBackOfTotalsTellsItsDay(t *testing.T) {
	p := &status.Progress{Walk: "totals", Pages: 2, Rows: 184, Reached: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	if got := forecast(p); got != "184 rows, back to 2026-03-01" {
		t.Error(got)
	}
}

func TestADeepRunTellsItsQuestions(t *testing.T) {
	p := &status.Progress{Walk: status.WalkDeep, Pages: 4, RequestsLeft: 8, ExpectedLeft: status.Seconds(16 * time.Second)}
	if got := forecast(p); got != "deep run: 4 of 12 questions, 16s left" {
		t.Error(got)
	}
	p.Pages, p.RequestsLeft, p.Suspects, p.ExpectedLeft = 12, 2, 1, status.Seconds(130*time.Second)
	if got := forecast(p); got != "deep run: 1 day differs, asked again in 2m10s" {
		t.Error(got)
	}
	s := walking("a")
	s.Sources[0].Streams[1].Progress = p
	if walks := walksOf(s, syncer.Selection{}); len(walks) != 1 {
		t.Errorf("a pass shows the daemon's deep run: %+v", walks)
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
	const text = "full resync: 400 of 1,430 rows, 1h5m left, 12 requests"
	for room, want := range map[int]string{
		0: text, 54: text, 53: "full resync: 400 of 1,430 rows, 1h5m left", 35: "full resync: 400 of 1,430 rows", 10: "full resy…",
	} {
		if got := fit(text, room); got != want {
			t.Errorf("%d: %q, want %q", room, got, want)
		}
	}
}

func TestProgressCountsOneAsOne(t *testing.T) {
	for want, p := range map[string]*status.Progress{
		"1 row":                                      {Rows: 1},
		"0 of 1 row, 1 request left":                 {TotalRows: 1, RequestsLeft: 1},
		"1 row, back to 2026-03-01":                  {Walk: "totals", Rows: 1, Reached: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		"deep run: 0 of 1 question, 0s left":         {Walk: status.WalkDeep, RequestsLeft: 1},
		"deep run: 1 day differs, asked again in 0s": {Walk: status.WalkDeep, Suspects: 1},
	} {
		if got := forecast(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
