package syncer

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/larder-sync/larder/internal/api"
)

// TestAnyInterleavingEndsInTheRightRows drives the daemon over a list that changes
// between any two of its pages, with everything that the API's description leaves open and every
// fault that a walk has to bear, and compares the mirror with the list when both
// have come to rest (docs/rules.md, Open readings).
func TestAnyInterleavingEndsInTheRightRows(t *testing.T) {
	notInShort(t)
	for name, c := range map[string]struct{ silent, resyncs bool }{
		"with Date headers": {}, "without Date headers": {silent: true}, "with full resyncs": {resyncs: true},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				rapid.SyncTest(t, func(t *rapid.T) { interleave(t, c.silent, c.resyncs) })
			})
		})
	}
}

// play is one case: the list, the mirror, and what is done to them.
type play struct {
	*model
	w       *world
	source  Source
	spoiled map[string]bool // rows that were bad once
	purged  map[string]bool // rows that left the list without a tombstone
}

func interleave(t *rapid.T, silent, resyncs bool) {
	f := newFake()
	f.silent = silent
	f.skew = rapid.SampledFrom([]time.Duration{0, -3 * time.Hour, -10 * time.Minute, 10 * time.Minute, 3 * time.Hour}).Draw(t, "service clock ahead")
	m := newModel(f)
	m.size = rapid.SampledFrom([]int{1, 2, 1, 3, 1, 200}).Draw(t, "page size")
	m.nullsLast = rapid.Bool().Draw(t, "nulls last")
	p := &play{model: m, w: newWorld(t, m), spoiled: map[string]bool{}, purged: map[string]bool{}}
	actions := map[string]func(*rapid.T){
		"answer": p.answer, "answer on": p.answer, "flow": p.flow, "wait": p.wait, "change": p.change, "crowd": p.crowd,
		"refuse": p.refuseCursors, "fail": p.failRequests, "upset": p.upsetPages, "crash": p.crash,
	}
	if resyncs {
		p.w.schedule.FullResync = "@every 15m"
		actions["purge"] = p.purge
	}
	p.source = p.w.one(func(s *Source) { s.Streams = []string{"categories"} })
	p.begin(t)
	p.w.run(p.source)
	t.Repeat(actions)
	p.rest(t)
	if resyncs {
		time.Sleep(20 * time.Minute)
	}
	p.compare(t)
	if !resyncs {
		p.idle(t)
	}
}

// begin fills the list before anything is asked.
func (p *play) begin(t *rapid.T) {
	for i := range rapid.SampledFrom([]int{4, 0, 1, 9}).Draw(t, "rows at first") {
		p.put(record{id: fmt.Sprintf("r%d", i), stamp: p.now().Add(-time.Duration(i) * 47 * time.Second)})
	}
	for i := range rapid.SampledFrom([]int{1, 0, 3}).Draw(t, "rows without updated_at") {
		p.put(record{id: fmt.Sprintf("n%d", i)})
	}
}

// answer lets some requests in, one after the other, with changes between them.
func (p *play) answer(t *rapid.T) {
	for range rapid.IntRange(1, 8).Draw(t, "requests") {
		if rapid.Bool().Draw(t, "a change first") {
			p.change(t)
		}
		synctest.Wait()
		for waited := 0; p.visitors() == 0 && waited < 60; waited++ {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		p.admit(rapid.Bool().Draw(t, "of the walk over everything"))
		pause()
	}
}

// flow answers whatever comes for a while.
func (p *play) flow(t *rapid.T) {
	p.gate(true)
	p.wait(t)
	p.gate(false)
}

func (p *play) wait(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, 10 * time.Second, time.Minute, 3 * time.Minute, 20 * time.Minute}).Draw(t, "wait"))
}

// id is one of a few, so that rows change again and again; n0 has no updated_at
// at first.
func id(t *rapid.T) string {
	return rapid.SampledFrom(strings.Fields("r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 n0")).Draw(t, "row")
}

// stamp is the updated_at of a change made now.
func (p *play) stamp(t *rapid.T) time.Time {
	now := p.now()
	late := time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds late")) * time.Second
	// Without a Date header nobody knows what the future is.
	if p.fake.silent || rapid.IntRange(0, 9).Draw(t, "dated ahead") < 8 {
		return now.Add(-late)
	}
	return now.Add(rapid.SampledFrom([]time.Duration{30 * time.Second, 10 * 365 * 24 * time.Hour}).Draw(t, "ahead"))
}

// change changes, removes, revives or spoils a row.
func (p *play) change(t *rapid.T) {
	r := record{id: id(t), stamp: p.stamp(t)}
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 6, 7:
		r.deleted = true
	case 8:
		r.deleted, r.stamp = true, time.Time{}
	case 9:
		r.bad, p.spoiled[r.id] = true, true
	}
	p.put(r)
}

// purge takes a row out of the list without a trace: only a full resync notices. A
// row that was bad once may be in quarantine, and is not removed on a suspicion.
func (p *play) purge(t *rapid.T) {
	gone := id(t)
	if p.spoiled[gone] {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.rows, gone)
	p.purged[gone] = true
}

// crowd changes many rows in one instant.
func (p *play) crowd(t *rapid.T) {
	at := p.stamp(t)
	for i := range rapid.IntRange(2, min(3*p.size, 450)+1).Draw(t, "rows") {
		p.put(record{id: fmt.Sprintf("r%d", i), stamp: at})
	}
}

// everything draws a kind of walk: over everything, or from an updated_since.
func everything(t *rapid.T) bool { return rapid.Bool().Draw(t, "walks over everything") }

func (p *play) refuseCursors(t *rapid.T) {
	n := rapid.IntRange(1, 3).Draw(t, "times")
	p.trouble(everything(t), func(f *troubles) { f.refuse = n })
}

func (p *play) failRequests(t *rapid.T) {
	n := rapid.IntRange(1, 6).Draw(t, "times")
	p.trouble(everything(t), func(f *troubles) { f.fail = n })
}

func (p *play) upsetPages(t *rapid.T) {
	n := upsetting(rapid.IntRange(0, int(upsettings)-1).Draw(t, "kind"))
	p.trouble(everything(t), func(f *troubles) { f.upset = append(f.upset, n) })
}

// crash kills the daemon and starts another, at once or later.
func (p *play) crash(t *rapid.T) {
	p.w.crash(rapid.IntRange(0, 3).Draw(t, "commits half stored"))
	time.Sleep(rapid.SampledFrom([]time.Duration{0, 5 * time.Second, 10 * time.Minute}).Draw(t, "down"))
	p.w.run(p.source)
}

// rest ends all trouble and waits until the mirror must have caught up.
func (p *play) rest(t *rapid.T) {
	p.calm()
	p.mu.Lock()
	p.size = api.PageLimit // fewer requests from here on
	p.mu.Unlock()
	p.gate(true)
	for range 60 {
		time.Sleep(5 * time.Minute)
		if p.w.filled() {
			time.Sleep(5 * time.Minute)
			return
		}
	}
	t.Fatalf("not at rest after five hours\n%s\n%s", p.story(), p.w.describe())
}

// compare compares list and mirror.
func (p *play) compare(t *rapid.T) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	stored := p.w.store.Rows("categories", "b1")
	for id, r := range p.rows {
		got, ok := stored[id]
		switch {
		case r.bad:
			if !p.quarantined(r) {
				t.Errorf("row %s is bad, and not in quarantine: %s", id, r.raw)
			}
		case !ok:
			t.Errorf("row %s is missing: %s", id, r.raw)
		case r.deleted != got.Deleted:
			t.Errorf("row %s: removed is %v, want %v: %s", id, got.Deleted, r.deleted, r.raw)
		case !r.deleted && got.Raw != r.raw:
			t.Errorf("row %s differs:\n mirror  %s\n service %s", id, got.Raw, r.raw)
		case r.deleted && got.Reason == "deleted" && got.Tombstone != r.raw, !r.deleted && got.Tombstone != "":
			t.Errorf("row %s has the tombstone\n mirror  %s\n service %s", id, got.Tombstone, r.raw)
		}
	}
	for id, r := range stored {
		if _, ok := p.rows[id]; !ok && (!p.purged[id] || !r.Deleted) {
			t.Errorf("row %s is not there any more, or never was: %+v", id, r)
		}
	}
	for _, e := range p.w.store.Entries() {
		if e.Open && !p.rows[e.ID].bad {
			t.Errorf("row %s is good, and its quarantine entry is open: %s", e.ID, e.Raw)
		}
	}
	if t.Failed() {
		t.Log(p.story())
	}
}

func (p *play) quarantined(r record) bool {
	for _, e := range p.w.store.Entries() {
		if e.Open && e.ID == r.id && string(e.Raw) == r.raw {
			return true
		}
	}
	return false
}

// idle checks that a mirror that is up to date writes nothing.
func (p *play) idle(t *rapid.T) {
	before := p.w.store.Commits()
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	if n := p.w.store.Commits() - before; n > 0 {
		t.Errorf("%d commits while nothing changed", n)
	}
}

// story is what the list was asked and answered.
func (p *play) story() string { return "the list's answers:\n " + strings.Join(p.answers, "\n ") }
