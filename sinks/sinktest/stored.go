package sinktest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/sinks"
)

// testStored reads rows of extreme values back, live ones, removed ones, and those
// that live again.
func testStored(t *testing.T, h Harness) { readStored(t, h, ofEveryType(h.Tables)...) }

// ofEveryType are few tables whose columns have all types that columns of any table have.
func ofEveryType(tables map[string]*sinks.Table) (few []string) {
	seen := map[sinks.Column]bool{}
	byColumns := func(a, b string) int {
		return cmp.Or(cmp.Compare(len(tables[b].Columns), len(tables[a].Columns)), cmp.Compare(a, b))
	}
	for _, name := range slices.SortedFunc(maps.Keys(tables), byColumns) {
		known := len(seen)
		for _, c := range tables[name].Columns {
			c.Name = ""
			seen[c] = true
		}
		if len(seen) > known {
			few = append(few, name)
		}
	}
	return few
}

// RunStored proves of all tables what the suite proves of few that have all types of columns.
func RunStored(t *testing.T, fresh func(t *testing.T) Harness) {
	h := fresh(t)
	readStored(t, h, slices.Sorted(maps.Keys(h.Tables))...)
}

func readStored(t *testing.T, h Harness, tables ...string) {
	t.Helper()
	s := open(t, h, Options{})
	const rows = 24
	for _, name := range tables {
		b := extreme(h.Tables[name], rows, 100)
		ids := []string{"not stored"}
		var want []sinks.StoredRow
		for i, r := range b.Rows {
			ids = append(ids, r.ID)
			want = append(want, sinks.StoredRow{ID: r.ID, Version: r.Version, Raw: r.Raw, Columns: Columns(b, i)})
		}
		store(t, s, &sinks.Commit{Source: source, Business: business, Stream: name, Batch: b})
		expectStored(t, s, name, ids, want)

		removal := &sinks.Commit{Source: source, Business: business, Stream: name}
		for i := 0; i < rows; i += 2 {
			want[i].Version, want[i].Removed, want[i].Reason, want[i].DeletedAt = 1000, true, "gone", now.Add(30*time.Minute)
			removal.Tombstones = append(removal.Tombstones, tombstone(want[i].ID, 1000, "gone"))
		}
		store(t, s, removal)
		again := extreme(h.Tables[name], 1, 2000)
		store(t, s, &sinks.Commit{Source: source, Business: business, Stream: name, Batch: again})
		want[0] = sinks.StoredRow{ID: want[0].ID, Version: 2000, Raw: again.Rows[0].Raw, Columns: Columns(again, 0)}
		expectStored(t, s, name, ids, want)
		expectStored(t, s, name, ids[3:4], want[2:3])
		expectStored(t, s, name, nil, nil)
	}
	expectLone(t, s)
	if _, err := s.Rows(within(t), "ingredients", business, make([]string, sinks.MaxRowIDs+1)); err == nil {
		t.Error("more ids than one call may ask for are no error")
	}
}

// testHashes reads the newest version of rows by a hash, of a range and by ids.
func testHashes(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	ids := []string{"2026-01-01", "2026-01-01/l1", "2026-01-02/p/1", "2026-01-03", "o'hare", "removed"}
	for n, id := range ids {
		c := ingredients(h, row(id, 1), row(id, uint64(n+2)))
		store(t, s, c)
		c.Business = "biz-2"
		store(t, s, c)
	}
	store(t, s, removal(tombstone("removed", 100, "deleted"), tombstone("lone", 101, "unpaid")))
	for name, q := range map[string]sinks.HashQuery{
		"a range": {From: "2026-01-01", Before: "2026-01-03"}, "an empty range": {From: "2027-01-01", Before: "2027-01-02"},
		"ids": {IDs: []string{"o'hare", "removed", "lone", "none", "2026-01-02/p/1"}},
	} {
		var want []sinks.RowHash
		for n, id := range append(slices.Clone(ids), "lone") {
			hash := sinks.RowHash{ID: id, Version: uint64(n + 2), Hash: sinks.HashOf(row(id, uint64(n+2)).Raw)}
			if t := tombstone(id, 0, ""); id == "removed" || id == "lone" {
				hash = sinks.RowHash{ID: id, Version: 100, Removed: true, Hash: sinks.HashOf(t.Raw)}
				if id == "lone" {
					hash.Version++
				}
			}
			if slices.Contains(q.IDs, id) || q.IDs == nil && q.From <= id && id < q.Before {
				want = append(want, hash)
			}
		}
		q.Table, q.Business = "ingredients", business
		got, err := s.Hashes(within(t), q)
		byID := func(a, b sinks.RowHash) int { return cmp.Compare(a.ID, b.ID) }
		slices.SortFunc(got, byID)
		slices.SortFunc(want, byID)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v: %v", name, got, want, err)
		}
	}
}

// expectLone looks at tombstones of rows never seen: what they hold is no row.
func expectLone(t *testing.T, s sinks.Sink) {
	t.Helper()
	for _, table := range []string{"ingredients", "products", "sales_orders"} {
		c := removal(tombstone("never seen", 7, "unpaid"))
		c.Stream = table
		store(t, s, c)
		got, err := s.Rows(within(t), table, business, []string{"never seen"})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || !got[0].Removed || got[0].Reason != "unpaid" || got[0].Version != 7 || got[0].Raw != nil {
			t.Errorf("%s: a tombstone of a row never seen: %+v", table, got)
		}
	}
}

func expectStored(t *testing.T, s sinks.Sink, table string, ids []string, want []sinks.StoredRow) {
	t.Helper()
	got, err := s.Rows(within(t), table, business, ids)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d stored rows, want %d", table, len(got), len(want))
	}
	slices.SortFunc(got, func(a, b sinks.StoredRow) int { return cmp.Compare(a.ID, b.ID) })
	for i, w := range want {
		if diff := gocmp.Diff(meant(t, w), meant(t, got[i])); diff != "" {
			t.Errorf("%s, stored row %q (-want +got):\n%s", table, w.ID, diff)
		}
	}
}

// meant is a stored row with its JSON decoded; numbers keep their digits.
func meant(t *testing.T, r sinks.StoredRow) any {
	t.Helper()
	columns := map[string]any{}
	for name, text := range r.Columns {
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber()
		var value any
		if err := in.Decode(&value); err != nil {
			t.Fatalf("column %s of row %q: %s: %v", name, r.ID, text, err)
		}
		columns[name] = value
	}
	raw := string(r.Raw)
	r.Columns, r.Raw = nil, nil
	return []any{r, raw, columns}
}

func testStoredIDs(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	var rows []sinks.Row
	var stones []sinks.Tombstone
	for n, id := range oddIDs {
		rows = append(rows, row(id, uint64(n+1)))
		if n%3 == 0 {
			stones = append(stones, tombstone(id, 100, "deleted"))
		}
	}
	store(t, s, ingredients(h, rows...))
	store(t, s, removal(stones...))
	got, err := s.Rows(within(t), "ingredients", business, oddIDs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		n := slices.Index(oddIDs, r.ID)
		if n < 0 || r.Removed != (n%3 == 0) || string(r.Raw) != rawOf(r.ID, uint64(n+1)) {
			t.Errorf("stored row %q: removed %t, raw %s", r.ID, r.Removed, r.Raw)
		}
	}
	if len(got) != len(oddIDs) {
		t.Errorf("%d stored rows, want %d", len(got), len(oddIDs))
	}
	if elsewhere, err := s.Rows(within(t), "ingredients", "biz-2", oddIDs); err != nil || len(elsewhere) > 0 {
		t.Errorf("rows of another business: %v, %v", elsewhere, err)
	}
}
