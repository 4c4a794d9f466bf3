package sinktest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/sinks"
)

func tombstone(id string, version uint64, reason string) sinks.Tombstone {
	return sinks.Tombstone{ID: id, Version: version, FetchedAt: now.Add(time.Hour), Reason: reason,
		DeletedAt: now.Add(30 * time.Minute), UpdatedAt: now.Add(29 * time.Minute),
		Raw: []byte(fmt.Sprintf(`{"id":%q,"deleted":true,"by":"new\ttill"}`, id))}
}

func removal(stones ...sinks.Tombstone) *sinks.Commit {
	return &sinks.Commit{Source: source, Business: business, Stream: "ingredients", Tombstones: stones}
}

func testTombstone(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	const rows = 24
	for _, name := range []string{"products", "ingredients", "sales_orders"} {
		b := extreme(h.Tables[name], rows, 100)
		values, raws := Values(b), b.Rows
		store(t, s, &sinks.Commit{Source: source, Business: business, Stream: name, Batch: b})
		// Twice, and the second time in another way: the values stay all the same.
		for n, reason := range []string{"cancelled", "gone"} {
			c := &sinks.Commit{Source: source, Business: business, Stream: name}
			for _, r := range raws {
				stone := tombstone(r.ID, 1000+uint64(n), reason)
				if n == 1 {
					stone.DeletedAt, stone.UpdatedAt, stone.Raw = time.Time{}, time.Time{}, nil
				}
				c.Tombstones = append(c.Tombstones, stone)
			}
			store(t, s, c)
			for i, g := range h.Rows(name, business) {
				checkTombstone(t, name, g, raws[i], values[i], c.Tombstones[i])
			}
		}
	}
}

func checkTombstone(t *testing.T, table string, got Row, r sinks.Row, values map[string]any, stone sinks.Tombstone) {
	t.Helper()
	want := Row{ID: r.ID, Source: source, Version: stone.Version, FetchedAt: stone.FetchedAt, Raw: string(r.Raw),
		Deleted: true, Reason: stone.Reason, DeletedAt: stone.DeletedAt, UpdatedAt: stone.UpdatedAt, Tombstone: string(stone.Raw), Values: values}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, removed row %q (-want +got):\n%s", table, r.ID, diff)
	}
}

func testLoneTombstone(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	store(t, s, removal(tombstone("never-seen", 7, "unpaid")))
	got := h.Rows("ingredients", business)
	stone := tombstone("never-seen", 7, "unpaid")
	if len(got) != 1 || !got[0].Deleted || got[0].Reason != "unpaid" || got[0].Raw != string(stone.Raw) || got[0].Tombstone != got[0].Raw ||
		!got[0].DeletedAt.Equal(stone.DeletedAt) || !got[0].UpdatedAt.Equal(stone.UpdatedAt) {
		t.Errorf("got %+v", got)
	}
	// An older row that comes late does not live.
	store(t, s, ingredients(h, row("never-seen", 6)))
	expect(t, h, map[string]string{"never-seen": "unpaid 7"})
}

func testResurrection(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	store(t, s, ingredients(h, row("a", 5), row("b", 5)))
	store(t, s, removal(tombstone("a", 6, "deleted"), tombstone("b", 6, "deleted")))
	store(t, s, ingredients(h, row("a", 7)))
	expect(t, h, map[string]string{"a": "live 7", "b": "deleted 6"})
	if a := h.Rows("ingredients", business)[0]; a.Tombstone != "" || !a.UpdatedAt.IsZero() || !a.DeletedAt.IsZero() {
		t.Errorf("the row that lives again keeps the tombstone's values: %+v", a)
	}
	store(t, s, removal(tombstone("a", 8, "gone")))
	expect(t, h, map[string]string{"a": "gone 8", "b": "deleted 6"})
	for _, r := range h.Rows("ingredients", business) {
		if want := map[string]string{"a": rawOf("a", 7), "b": rawOf("b", 5)}[r.ID]; r.Raw != want {
			t.Errorf("row %s: raw %s, want %s: a tombstone keeps the newest values", r.ID, r.Raw, want)
		}
	}
}

func testRowAndTombstone(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	c := ingredients(h, row("row-newer", 10), row("row-older", 5), row("both", 6))
	c.Tombstones = []sinks.Tombstone{
		tombstone("row-newer", 9, "deleted"), tombstone("row-older", 6, "deleted"),
		tombstone("both", 7, "deleted"), tombstone("both", 9, "cancelled"), tombstone("both", 8, "unpaid"),
	}
	store(t, s, c)
	expect(t, h, map[string]string{"row-newer": "live 10", "row-older": "deleted 6", "both": "cancelled 9"})
	for _, r := range h.Rows("ingredients", business) {
		if r.ID == "row-older" && r.Raw != rawOf("row-older", 5) {
			t.Errorf("the tombstone did not keep the row of its own commit: %s", r.Raw)
		}
	}
}

func testManyTombstones(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	const many = 2500
	var rows []sinks.Row
	var stones []sinks.Tombstone
	for n := range many {
		id := fmt.Sprintf("id-%04d", n)
		if n%2 == 0 {
			rows = append(rows, row(id, 1))
		}
		stones = append(stones, tombstone(id, 2, "deleted"))
	}
	c := ingredients(h, rows...)
	c.Tombstones = stones
	store(t, s, c)
	got := h.Rows("ingredients", business)
	if len(got) != many {
		t.Fatalf("%d rows, want %d", len(got), many)
	}
	for n, r := range got {
		known := r.Raw == rawOf(r.ID, 1)
		if !r.Deleted || r.Version != 2 || known != (n%2 == 0) {
			t.Fatalf("row %s: deleted %t, version %d, raw %s", r.ID, r.Deleted, r.Version, r.Raw)
		}
	}
}
