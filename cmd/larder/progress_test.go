package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vbauerster/mpb/v8"

	"github.com/larder-sync/larder/syncer"
)

// paper is a terminal that keeps everything written to it.
type paper struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func TestNoMoreBarsThanThereIsRoomFor(t *testing.T) {
	var out paper
	p := &progress{out: &out, room: 2, bars: map[string]*bar{}}
	p.group = mpb.New(mpb.WithOutput(&out), mpb.WithAutoRefresh())
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
	for frame := range strings.SplitSeq(out.text.String(), "\x1b[J") {
		if n := strings.Count(frame, "sales_orders"); n > 3 { // two, and one that has just ended
			t.Errorf("%d bars at once:\n%s", n, frame)
		}
	}
}

func TestBarsOfFewWalksStay(t *testing.T) {
	var out paper
	p := &progress{out: &out, room: barsShown, bars: map[string]*bar{}}
	p.group = mpb.New(mpb.WithOutput(&out), mpb.WithAutoRefresh())
	p.update(walking("a", "b"))
	p.update(walking("b"))
	if len(p.bars) != 2 || p.rest != nil {
		t.Errorf("%d bars", len(p.bars))
	}
	p.end()
}

func walking(sources ...string) syncer.Status {
	var s syncer.Status
	for _, name := range sources {
		s.Sources = append(s.Sources, syncer.SourceStatus{Name: name, Streams: []syncer.StreamStatus{
			{Name: "sales_orders", Progress: &syncer.Progress{Pages: 5, Rows: 1000, TotalRows: 2000, RequestsLeft: 5}},
			{Name: "allergens"},
		}})
	}
	return s
}
