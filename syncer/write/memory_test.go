package write

import (
	"fmt"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
)

func TestVersionsGrowThroughClockStepsAndRestarts(t *testing.T) {
	v := NewVersionClock(time.Now)
	future := uint64(time.Now().Add(24 * time.Hour).UnixMicro())
	v.StartAbove(future)
	last := future
	for i := range 1000 {
		first := v.Take(i % 3)
		if first <= last {
			t.Fatalf("version %d after %d", first, last)
		}
		last = first + uint64(max(i%3, 1)) - 1
	}
}

func TestMemoryKeepsTheNewestFetch(t *testing.T) {
	d := newMemory()
	a, b := d.hash([]byte("a")), d.hash([]byte("b"))
	d.record("id", written{hash: a, version: 10, stamp: 5, walk: 1})
	d.record("id", written{hash: b, version: 9, stamp: 5, walk: 1})
	switch {
	case !d.unchanged("id", a, 11, 2):
		t.Error("the same bytes count as changed")
	case d.unchanged("id", b, 11, 2):
		t.Error("other bytes count as unchanged")
	case !d.unchanged("id", b, 9, 2):
		t.Error("an older fetch would be written over a newer one")
	}
	d.prune(time.UnixMicro(100), 2)
	if _, ok := d.rows["id"]; !ok {
		t.Error("a row seen by the last walk was forgotten")
	}
	d.prune(time.UnixMicro(100), 3)
	if len(d.rows) != 0 {
		t.Error("an old row was kept")
	}
	for i := range memoryCap + 10 {
		d.record(fmt.Sprint(i), written{hash: 1, version: 1})
	}
	if len(d.rows) != memoryCap {
		t.Errorf("%d rows remembered, the cap is %d", len(d.rows), memoryCap)
	}
}

func TestOpenEntriesAreBounded(t *testing.T) {
	w := NewWriter(Options{})
	for i := range 3 * sinks.MaxOpen {
		w.remember(fmt.Sprint(i), entry{hash: 7})
	}
	if n := w.QuarantinedCount(); n != 2*sinks.MaxOpen || !w.Full() {
		t.Errorf("%d entries are remembered", n)
	}
	if w.remember("5", entry{hash: 8}); w.entries["5"].hash != 8 {
		t.Error("a known entry is not replaced")
	}
	delete(w.entries, "5")
	if w.remember("one more", entry{hash: 7}); !w.MaybeQuarantined("one more") {
		t.Error("none is remembered after one was closed")
	}
}
