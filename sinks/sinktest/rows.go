package sinktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/sinks"
)

func testExtremes(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	const rows = 24
	for _, name := range slices.Sorted(maps.Keys(h.Tables)) {
		b := extreme(h.Tables[name], rows, 100)
		want, raws := Values(b), slices.Clone(b.Rows)
		store(t, s, &sinks.Commit{Source: source, Business: business, Stream: name, Batch: b})
		got := h.Rows(name, business)
		if len(got) != rows {
			t.Fatalf("%s: %d rows, want %d", name, len(got), rows)
		}
		for i, g := range got {
			checkRow(t, name, g, raws[i], want[i])
		}
	}
}

func checkRow(t *testing.T, table string, got Row, r sinks.Row, values map[string]any) {
	t.Helper()
	want := Row{ID: r.ID, Source: source, Version: r.Version, FetchedAt: r.FetchedAt, Raw: string(r.Raw), Values: values, Copies: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, row %q (-want +got):\n%s", table, r.ID, diff)
	}
}

// testManyBatches writes batches of several sources that are flushed together:
// offsets and dictionaries must be added up right.
func testManyBatches(t *testing.T, h Harness) {
	f := NewFlaky(h.Dial)
	s := open(t, h, Options{Dial: f.Dial})
	f.Down() // so that everything gathers in one or two flushes
	table := h.Tables["products"]
	want := map[string]map[string]any{}
	var receipts []*sinks.Receipt
	for n := range 7 {
		b := sinks.NewBatch(table, n)
		for r := range n {
			(&filler{}).fill(b, 5*n+r)
			mustEnd(b, row(fmt.Sprintf("p-%d-%d", n, r), uint64(1+n)))
		}
		for i, values := range Values(b) {
			want[b.Rows[i].ID] = values
		}
		receipts = append(receipts, write(t, s, &sinks.Commit{Source: fmt.Sprintf("source-%d", n%3), Business: business, Stream: "products", Batch: b}))
	}
	f.Up()
	for _, r := range receipts {
		if err := r.Wait(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	got := h.Rows("products", business)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for _, g := range got {
		if diff := cmp.Diff(want[g.ID], g.Values); diff != "" {
			t.Errorf("row %s (-want +got):\n%s", g.ID, diff)
		}
	}
}

// oddIDs are ids that something on the way may take for something else.
var oddIDs = []string{
	"a", "A", "á", "a b", "a/b", "a%2Fb", "100%", `o'hare`, `"x"`, `back\slash`, `\N`, "tab\tnew\nline", "🍕", "null",
	"", "..", "a,b;c--d/*e*/", "(SELECT 1)", "{x:String}", "?", "@", "$1", strings.Repeat("long", 200), "nul\x00byte",
}

func testIDs(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	for n, b := range []string{"biz-1", "biz-2", `b'i"z\3`} {
		var rows []sinks.Row
		for _, id := range oddIDs {
			rows = append(rows, row(id, uint64(10*(n+1))))
		}
		c := ingredients(h, rows...)
		c.Business = b
		store(t, s, c)
	}
	removal := &sinks.Commit{Source: source, Business: "biz-2", Stream: "ingredients"}
	for _, id := range oddIDs {
		removal.Tombstones = append(removal.Tombstones, tombstone(id, 25, "deleted"))
	}
	store(t, s, removal)
	for n, b := range []string{"biz-1", "biz-2", `b'i"z\3`} {
		got := h.Rows("ingredients", b)
		if len(got) != len(oddIDs) {
			t.Errorf("%s: %d rows, want %d", b, len(got), len(oddIDs))
		}
		for _, g := range got {
			version := uint64(10 * (n + 1))
			if g.Deleted != (n == 1) || !g.Deleted && g.Version != version || g.Raw != rawOf(g.ID, version) || !slices.Contains(oddIDs, g.ID) {
				t.Errorf("%s: row %q: deleted %t, version %d, raw %s", b, g.ID, g.Deleted, g.Version, g.Raw)
			}
		}
		live, err := s.Live(within(t), sinks.LiveQuery{Table: "ingredients", Business: b})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: len(oddIDs)}[n == 1]; len(live) != want {
			t.Errorf("%s: %d live ids, want %d", b, len(live), want)
		}
	}
}

func testVersions(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	store(t, s, ingredients(h, row("a", 5), row("a", 9), row("a", 7), row("b", 5)))
	store(t, s, ingredients(h, row("a", 8), row("b", 6)))
	store(t, s, ingredients(h, row("b", 4)))
	expect(t, h, map[string]string{"a": "live 9", "b": "live 6"})
}

func testAgain(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	for range 3 {
		c := ingredients(h, row("a", 5), row("b", 6))
		c.Tombstones = []sinks.Tombstone{tombstone("b", 7, "deleted")}
		store(t, s, c)
	}
	expect(t, h, map[string]string{"a": "live 5", "b": "deleted 7"})
}

func testEmptyCommit(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	store(t, s, &sinks.Commit{Source: source, Business: business, Stream: "ingredients"})
	store(t, s, ingredients(h))
	expect(t, h, map[string]string{})
}

// expect compares the ingredients of the usual business: "live version" or
// "reason version" by id, and that each is seen as often as it should.
func expect(t *testing.T, h Harness, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, r := range h.Rows("ingredients", business) {
		state := "live"
		if r.Deleted {
			state = r.Reason
		}
		got[r.ID] = fmt.Sprintf("%s %d", state, r.Version)
		if copies := map[bool]int{false: 1}[r.Deleted]; r.Copies != copies {
			t.Errorf("row %q is seen %d times, want %d", r.ID, r.Copies, copies)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
