package sinktest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"github.com/larder-sync/larder/sinks"
)

func checkpoint(walk string, rows uint64) *sinks.Checkpoint {
	return &sinks.Checkpoint{
		Source: source, Stream: "ingredients", Walk: walk, Business: business,
		Watermark: now.Add(-time.Minute), Pending: now, Since: now.Add(-time.Hour), Cursor: "c/'\"\\\t🍕", Position: "2026-11-21",
		Done: true, Pages: 3, Rows: rows, Tombstones: 5, FirstVersion: 1<<63 + 7, StartedAt: now.Add(-2 * time.Hour), UpdatedAt: now.Add(time.Duration(rows) * time.Second),
	}
}

func testState(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	full := checkpoint(sinks.WalkBackfill, 100)
	bare := &sinks.Checkpoint{Source: source, Stream: "products", Walk: sinks.WalkIncremental, Business: business, UpdatedAt: now.Add(time.Hour)}
	status := &sinks.StreamStatus{Source: source, Stream: "products", State: "failing", Detail: "it's broken", ChangedAt: now}
	drift := sinks.Drift{Path: "items.discount_code", Kind: "field", Example: `"X1"`, RowID: "a", SeenAt: now}
	meal := sinks.Drift{Path: "payments.method", Kind: "value", Example: `"meal"`, RowID: "a", SeenAt: now}
	points := sinks.Drift{Path: "payments.method", Kind: "value", Example: `"points"`, RowID: "a", SeenAt: now}
	store(t, s, &sinks.Commit{Source: source, Business: business, Stream: "ingredients", Checkpoint: full,
		Run: &sinks.Run{Source: source, Stream: "ingredients", Walk: sinks.WalkBackfill, StartedAt: now, FinishedAt: now.Add(time.Minute), Pages: 3, Error: "none"}})
	store(t, s, &sinks.Commit{Source: source, Business: business, Stream: "products", Checkpoint: bare, Status: status, Drift: []sinks.Drift{drift, meal, points}})
	store(t, s, &sinks.Commit{Source: "other", Business: "biz-2", Stream: "products", Drift: []sinks.Drift{drift},
		Checkpoint: &sinks.Checkpoint{Source: "other", Stream: "products", Walk: sinks.WalkFull, UpdatedAt: now}})

	store(t, s, &sinks.Commit{Source: "new", Business: "biz-3", Stream: "products",
		Status: &sinks.StreamStatus{Source: "new", Stream: "products", State: "off", ChangedAt: now}})

	want := sinks.State{Business: business, Checkpoints: []sinks.Checkpoint{*full, *bare}, Quarantined: map[string][]string{},
		Drift: []string{"products\x00" + drift.Key(), "products\x00" + meal.Key(), "products\x00" + points.Key()}, Statuses: []sinks.StreamStatus{*status}}
	for name, reader := range map[string]sinks.Sink{"the same sink": s, "another sink": open(t, h, Options{})} {
		got, err := reader.State(within(t), source)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("state read by %s (-want +got):\n%s", name, diff)
		}
	}
	businesses, err := s.Businesses(within(t))
	if diff := cmp.Diff(map[string]string{source: business, "other": "biz-2"}, businesses); diff != "" || err != nil {
		t.Errorf("businesses of the sources (-want +got):\n%s%v", diff, err)
	}
	nobody, err := s.State(within(t), "nobody")
	if err != nil || len(nobody.Checkpoints)+len(nobody.Drift)+len(nobody.Statuses) > 0 {
		t.Errorf("state of an unknown source: %+v, %v", nobody, err)
	}
}

// testTogether has sources that begin together, of which some are of one business, read what is stored
// of each.
func testTogether(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	const sources, businesses = 40, 30
	for i := range sources {
		name, business := fmt.Sprintf("s%d", i), fmt.Sprintf("b%d", i%businesses)
		c := ingredients(h, row("same", uint64(i+1)), row(name, uint64(i+1)))
		c.Source, c.Business = name, business
		c.Drift = []sinks.Drift{{Path: name, Kind: "field", SeenAt: now}}
		c.Quarantine = []sinks.Quarantined{{ID: "bad " + name, Raw: []byte("{}"), Version: 1, FetchedAt: now}}
		c.Checkpoint = &sinks.Checkpoint{Source: name, Stream: c.Stream, Walk: sinks.WalkFull, Business: business, Rows: uint64(i), UpdatedAt: now}
		c.Status = &sinks.StreamStatus{Source: name, Stream: c.Stream, State: "failing", Detail: name, ChangedAt: now}
		write(t, s, c)
		if err := s.Personal().Forget(within(t), business, "order", []string{"forgotten " + name}); err != nil {
			t.Fatal(err)
		}
	}
	store(t, s, &sinks.Commit{Source: "last", Business: business, Stream: "ingredients"})
	var all errgroup.Group
	for i := range sources {
		all.Go(func() error {
			name, business := fmt.Sprintf("s%d", i), fmt.Sprintf("b%d", i%businesses)
			state, err := s.State(within(t), name)
			want := sinks.State{
				Business: business, Quarantined: map[string][]string{"ingredients": {"bad " + name}}, Drift: []string{"ingredients\x00field\x00" + name},
				Checkpoints: []sinks.Checkpoint{{Source: name, Stream: "ingredients", Walk: sinks.WalkFull, Business: business, Rows: uint64(i), UpdatedAt: now}},
				Statuses:    []sinks.StreamStatus{{Source: name, Stream: "ingredients", State: "failing", Detail: name, ChangedAt: now}},
			}
			if diff := cmp.Diff(want, state); diff != "" || err != nil {
				t.Errorf("the state of %s (-want +got):\n%s%v", name, diff, err)
			}
			var names, forgotten []string
			for j := i % businesses; j < sources; j += businesses {
				names, forgotten = append(names, fmt.Sprintf("s%d", j)), append(forgotten, fmt.Sprintf("forgotten s%d", j))
			}
			rows, err := s.Live(within(t), sinks.LiveQuery{Table: "ingredients", Business: business})
			ids := make([]string, len(rows))
			for n, r := range rows {
				ids[n] = r.ID
			}
			if want := slices.Sorted(slices.Values(append(names, "same"))); err != nil || !slices.Equal(ids, want) {
				t.Errorf("live of %s: %q, want %q: %v", business, ids, want, err)
			}
			got, err := s.Personal().Forgotten(within(t), business)
			if got = slices.Sorted(slices.Values(got)); err != nil || !slices.Equal(got, slices.Sorted(slices.Values(forgotten))) {
				t.Errorf("forgotten of %s: %q, want %q: %v", business, got, forgotten, err)
			}
			return nil
		})
	}
	_ = all.Wait()
}

// testCheckpoints writes checkpoints whose times go back: it is the last written
// that counts, and one that returns to an earlier value counts too.
func testCheckpoints(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	for _, rows := range []uint64{1, 9, 4, 9, 9, 2} {
		store(t, s, &sinks.Commit{Source: source, Business: business, Stream: "ingredients", Checkpoint: checkpoint(sinks.WalkFull, rows)})
	}
	var last *sinks.Receipt
	for _, rows := range []uint64{3, 8, 6} {
		last = write(t, s, &sinks.Commit{Source: source, Business: business, Stream: "ingredients", Checkpoint: checkpoint(sinks.WalkTotals, rows)})
	}
	if err := last.Wait(within(t)); err != nil {
		t.Fatal(err)
	}
	state, err := s.State(within(t), source)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, c := range state.Checkpoints {
		got[c.Walk] = c.Rows
	}
	if diff := cmp.Diff(map[string]uint64{sinks.WalkFull: 2, sinks.WalkTotals: 6}, got); diff != "" {
		t.Errorf("rows of the checkpoints (-want +got):\n%s", diff)
	}
}

// expectEntries looks at what is reported of the open entries.
func expectEntries(t *testing.T, s sinks.Sink, ids []string) {
	t.Helper()
	entries, err := s.Quarantine(within(t), source, "ingredients")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Key())
		if e.Field != "items.3.unit_price" || e.Reason != `"abc" is no money` || e.Version == 0 || !e.FetchedAt.Equal(now) || e.Raw != nil {
			t.Errorf("entry %+v", e)
		}
	}
	if diff := cmp.Diff(ids, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	for _, other := range [][2]string{{"other", "ingredients"}, {source, "products"}} {
		if entries, err := s.Quarantine(within(t), other[0], other[1]); err != nil || len(entries) > 0 {
			t.Errorf("%v has %v, %v", other, entries, err)
		}
	}
}

func testQuarantine(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	bad := func(id string, version uint64) sinks.Quarantined {
		return sinks.Quarantined{ID: id, Field: "items.3.unit_price", Reason: `"abc" is no money`, Raw: []byte(rawOf(id, version)), Version: version, FetchedAt: now}
	}
	commit := func(quarantined []sinks.Quarantined, released ...string) *sinks.Commit {
		return &sinks.Commit{Source: source, Business: business, Stream: "ingredients", Quarantine: quarantined, Released: released}
	}
	expectOpen := func(want ...string) {
		t.Helper()
		state, err := open(t, h, Options{}).State(within(t), source)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, state.Quarantined["ingredients"], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("open entries (-want +got):\n%s", diff)
		}
		expectEntries(t, s, want)
	}
	store(t, s, commit([]sinks.Quarantined{bad("a", 1), bad("b'\t", 2), bad("c", 3), bad("a", 4)}))
	expectOpen("a", "b'\t", "c")
	store(t, s, commit(nil, "b'\t", "never-in"))
	expectOpen("a", "c")
	store(t, s, commit([]sinks.Quarantined{bad("b'\t", 5)}, "c"))
	expectOpen("a", "b'\t")

	// In one flush the order of the commits decides.
	f := NewFlaky(h.Dial)
	slow := open(t, h, Options{Dial: f.Dial})
	f.Down()
	write(t, slow, commit(nil, "a"))
	write(t, slow, commit([]sinks.Quarantined{bad("a", 7), bad("d", 8)}))
	last := write(t, slow, commit(nil, "d"))
	f.Up()
	if err := last.Wait(within(t)); err != nil {
		t.Fatal(err)
	}
	expectOpen("a", "b'\t")

	// Rows without an id are told apart by what they hold, and close one by one.
	nameless := func(version uint64) string { return sinks.ContentKey([]byte(rawOf("", version))) }
	both := []string{nameless(9), nameless(10)}
	slices.Sort(both)
	store(t, s, commit([]sinks.Quarantined{bad("", 9), bad("", 10), bad("", 9)}, "a", "b'\t"))
	expectOpen(both...)
	store(t, s, commit([]sinks.Quarantined{bad("a", 11)}, nameless(9), nameless(12), ""))
	expectOpen(nameless(10), "a")
	store(t, s, commit([]sinks.Quarantined{bad("", 9)}, nameless(10)))
	expectOpen(nameless(9), "a")
}

func testBounds(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	version, err := s.MaxVersion(within(t))
	if err != nil || version != 0 {
		t.Errorf("highest version of an empty warehouse: %d, %v", version, err)
	}
	if first, err := s.FirstDay(within(t), business); err != nil || first != "" {
		t.Errorf("first day of an empty warehouse: %q, %v", first, err)
	}
	orders := func(b string, version uint64, days ...int64) *sinks.Commit {
		batch := sinks.NewBatch(h.Tables["sales_orders"], len(days))
		for n, d := range days {
			filled := plain(h.Tables["sales_orders"], row(string(rune('a'+n)), version))
			column := batch.Table.Column("business_day")
			for i := range batch.Vectors {
				if len(batch.Vectors[i].Offsets) > 0 {
					batch.Vectors[i].EndList(0)
				} else if i == column {
					batch.Vectors[i].AppendInt(d)
				} else if batch.Table.Columns[i].Kind == sinks.Text {
					batch.Vectors[i].AppendText([]byte("x"))
				} else {
					batch.Vectors[i].AppendZero()
				}
			}
			mustEnd(batch, filled.Rows[0])
		}
		return &sinks.Commit{Source: source, Business: b, Stream: "sales_orders", Batch: batch}
	}
	store(t, s, orders(business, 1<<60, day(2025, 3, 30), day(2025, 2, 1), day(2026, 1, 1)))
	store(t, s, orders("biz-2", 5, day(2001, 1, 1)))
	store(t, s, &sinks.Commit{Source: source, Business: business, Stream: "sales_orders",
		Tombstones: []sinks.Tombstone{tombstone("b", 1<<60+7, "deleted"), tombstone("never-seen", 3, "unpaid")}})
	if version, err = s.MaxVersion(within(t)); err != nil || version != 1<<60+7 {
		t.Errorf("highest version %d, want %d: %v", version, uint64(1<<60+7), err)
	}
	for b, want := range map[string]string{business: "2025-02-01", "biz-2": "2001-01-01", "biz-3": ""} {
		if first, err := s.FirstDay(within(t), b); err != nil || first != want {
			t.Errorf("first day of %s: %q, want %q: %v", b, first, want, err)
		}
	}
	// A full resync may have taken a version that no row has yet.
	taken := &sinks.Checkpoint{Source: source, Stream: "sales_orders", Walk: sinks.WalkFull, Business: business, FirstVersion: 1<<60 + 9, UpdatedAt: now}
	store(t, s, &sinks.Commit{Source: source, Business: business, Stream: "sales_orders", Checkpoint: taken})
	if version, err = s.MaxVersion(within(t)); err != nil || version != 1<<60+9 {
		t.Errorf("highest version %d, want %d, that of the checkpoint: %v", version, uint64(1<<60+9), err)
	}
}

func testManyQuarantined(t *testing.T, h Harness) {
	const flooded = "flooded"
	c := &sinks.Commit{Source: flooded, Business: business, Stream: "ingredients"}
	for i := range sinks.MaxOpen + 5 {
		c.Quarantine = append(c.Quarantine, sinks.Quarantined{ID: strconv.Itoa(i), Field: "stock", Reason: "missing", Raw: []byte("{}"), Version: uint64(i + 1), FetchedAt: now})
	}
	c2 := &sinks.Commit{Source: flooded, Business: business, Stream: "products", Quarantine: c.Quarantine[:1]}
	s := open(t, h, Options{})
	store(t, s, c)
	store(t, s, c2)
	state, err := s.State(within(t), flooded)
	if err != nil {
		t.Fatal(err)
	}
	if n, other := len(state.Quarantined["ingredients"]), len(state.Quarantined["products"]); n != sinks.MaxOpen+1 || other != 1 {
		t.Errorf("%d and %d open entries are listed, want %d and 1", n, other, sinks.MaxOpen+1)
	}
}
