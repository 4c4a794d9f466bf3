package list

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/write"
)

func at(walk string, change func(*Checkpoint)) Checkpoint {
	cp := Checkpoint{Checkpoint: sinks.Checkpoint{Stream: "products", Walk: walk}}
	change(&cp)
	return cp
}

func TestIncrementalWalksGoOnFromAFinishedBackfill(t *testing.T) {
	var s state
	s.moved(at(sinks.WalkIncremental, func(cp *Checkpoint) { cp.Watermark = moment(10) }))
	s.moved(at(sinks.WalkBackfill, func(cp *Checkpoint) { cp.Watermark = moment(60) }))
	s.moved(at(sinks.WalkIncremental, func(cp *Checkpoint) { cp.Watermark, cp.last = moment(5), moment(9) })) // it never goes back
	if got := s.read().incr.Watermark; !got.Equal(moment(10)) {
		t.Errorf("beside a backfill under way from %s", got)
	}
	if !s.read().incr.last.IsZero() {
		t.Error("the order of rows goes on from one run of a walk to the next")
	}
	s.moved(at(sinks.WalkBackfill, func(cp *Checkpoint) { cp.Watermark, cp.Done = moment(60), true }))
	if got := s.read().incr.Watermark; !got.Equal(moment(60)) {
		t.Errorf("after the backfill from %s", got)
	}
	s.moved(at(sinks.WalkIncremental, func(cp *Checkpoint) { cp.Watermark = moment(20) }))
	if got := s.read().incr.Watermark; !got.Equal(moment(60)) {
		t.Errorf("the watermark went back to %s", got)
	}
}

// A resync is owed until a long walk has begun above its version. Rows of a location that was
// gained are awaited until that walk has come to its end.
func TestAFullResyncIsOwedUntilALaterLongWalkHasBegun(t *testing.T) {
	filled := at(sinks.WalkBackfill, func(cp *Checkpoint) { cp.FirstVersion, cp.Done = 5, true })
	full := func(version uint64, done, received bool) Checkpoint {
		return at(sinks.WalkFull, func(cp *Checkpoint) {
			cp.FirstVersion, cp.Done, cp.phase.Brought = version, done, received
		})
	}
	for name, c := range map[string]struct {
		full            Checkpoint
		owed            uint64
		gained          bool
		indebted, waits bool
	}{
		"nothing is owed":                          {full(0, false, false), 0, false, false, false},
		"the backfill began after it":              {full(0, false, false), 4, true, false, false},
		"a resync of before is done":               {full(6, true, false), 7, true, true, true},
		"one has begun":                            {full(8, false, false), 7, true, false, true},
		"it is done":                               {full(8, true, false), 7, true, false, false},
		"one begins when the rows were there":      {full(8, false, true), 7, true, false, false},
		"it is owed for a location that was lost":  {full(6, true, false), 7, false, true, false},
		"the one for a lost location is under way": {full(8, false, false), 7, false, false, false},
	} {
		p := position{back: filled, full: c.full, debt: debt{version: c.owed, Gained: c.gained}}
		if p.indebted() != c.indebted || p.awaits() != c.waits {
			t.Errorf("%s: owed %v, want %v; awaited %v, want %v", name, p.indebted(), c.indebted, p.awaits(), c.waits)
		}
	}
	if (position{}).indebted() {
		t.Error("a list that was never walked owes a resync")
	}
}

func TestRestoringTakesOverTheListsOwnCheckpoints(t *testing.T) {
	def := &registry.Definition{Name: "products", Kind: registry.ListKind}
	var s state
	if err := s.restore(def, []sinks.Checkpoint{
		{Stream: "products", Walk: sinks.WalkFull, Position: `{"walked":true}`, FirstVersion: 9},
		{Stream: "ingredients", Walk: sinks.WalkFull, FirstVersion: 1},
		{Stream: "products", Walk: sinks.WalkSnapshot, FirstVersion: 2},
		{Stream: "products", Walk: sinks.WalkOwed, Position: `{"locations":["l1"],"gained":true}`, FirstVersion: 7},
	}); err != nil {
		t.Error(err)
	}
	p := s.read()
	if !p.full.phase.Walked || p.full.FirstVersion != 9 || p.debt.version != 7 || !p.debt.Gained || len(p.debt.Locations) != 1 {
		t.Errorf("%+v", p)
	}
	err := s.restore(def, []sinks.Checkpoint{{Stream: "products", Walk: sinks.WalkOwed, Position: "?", FirstVersion: 8}})
	if d := s.read().debt; d.version != 8 || len(d.Locations) > 0 || err == nil {
		t.Errorf("unreadable: %+v, %v", d, err)
	}
}

// What another version has stored of a walk may say that rows are still to come: a full resync does not
// go on from there, and a backfill owes one.
func TestAWalkOfAnotherVersionIsNotTakenForAWholeOne(t *testing.T) {
	for _, text := range []string{`{"phase":"cursor_lost","at_least":true}`, `{"phase":"again"}`, `{"phase":"walked"}`, `?`} {
		cp := decoded(sinks.Checkpoint{Walk: sinks.WalkFull, FirstVersion: 9, Position: text})
		if cp.FirstVersion != 0 || cp.phase != (phase{}) {
			t.Errorf("%s: %+v", text, cp)
		}
		p := position{debt: debt{version: 1}, back: decoded(sinks.Checkpoint{Walk: sinks.WalkBackfill, FirstVersion: 2, Position: text})}
		if !p.indebted() {
			t.Errorf("%s: a backfill owes nothing", text)
		}
	}
	if cp := decoded(sinks.Checkpoint{FirstVersion: 9, Position: `{"phase":"held","held":{"rows":7}}`}); cp.phase.Held == nil || cp.phase.Held.Rows != 7 {
		t.Errorf("the held sweep is lost: %+v", cp)
	}
	if cp := decoded(sinks.Checkpoint{FirstVersion: 9, Position: `{"at_least":true}`}); cp.FirstVersion != 9 || !cp.phase.AtLeast {
		t.Errorf("what is readable: %+v", cp)
	}
}

func TestAWindowWaitsForItsOldestPage(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	first, second, third := sinks.NewReceipt(nil), sinks.NewReceipt(nil), sinks.NewReceipt(nil)
	w := window{receipts: []*sinks.Receipt{first, second, third}}
	if err := w.wait(ended, 3); err != nil {
		t.Errorf("three of three: %v", err)
	}
	if err := w.wait(ended, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("three of two did not wait: %v", err)
	}
	first.Resolve(nil)
	if err := w.wait(t.Context(), 2); err != nil || len(w.receipts) != 2 {
		t.Errorf("after the first: %d left, %v", len(w.receipts), err)
	}
	refused := errors.New("refused")
	second.Resolve(refused)
	if err := w.wait(t.Context(), 1); !errors.Is(err, refused) {
		t.Errorf("a page that was refused: %v", err)
	}
}

func TestAFastWalkMayHaveMorePagesUnderWay(t *testing.T) {
	w := window{flush: time.Second}
	if w.limit() != maxWindow {
		t.Errorf("before the first page %d", w.limit())
	}
	w.pace = 10 * time.Millisecond
	if w.limit() != 100 {
		t.Errorf("at 10 ms a page %d", w.limit())
	}
	w.pace = time.Minute
	if w.limit() != minWindow {
		t.Errorf("at a minute a page %d", w.limit())
	}
}

// Rows that are also sent are told apart by our clock where that is finer. Where the next walk starts goes
// by the second of the service's.
func TestTheStartOfAWalkGoesByTheDateOfItsFirstAnswer(t *testing.T) {
	w := walk{cp: at(sinks.WalkIncremental, func(cp *Checkpoint) { cp.StartedAt = moment(3600) })}
	p := page{at: moment(61), took: 2 * time.Second}
	p.Date, p.HasMore = moment(60), true
	w.advance(p, &write.Intake{})
	if !w.cp.StartedAt.Equal(moment(58)) {
		t.Errorf("it started at %s", w.cp.StartedAt)
	}
}
