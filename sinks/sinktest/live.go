package sinktest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/larder-sync/larder/sinks"
)

// placed is a row with what LiveQuery asks about it.
type placed struct {
	id, source, location string // an empty location is none
	version              uint64
}

// place makes a commit of one row. Tables without locations leave it out.
func place(h Harness, table string, p placed) *sinks.Commit {
	t := h.Tables[table]
	b := sinks.NewBatch(t, 1)
	for i := range b.Vectors {
		v := &b.Vectors[i]
		switch {
		case len(v.Offsets) > 0:
			v.EndList(0)
		case v.Column.Name == "location_id" && p.location != "":
			v.AppendText([]byte(p.location))
		default:
			v.AppendZero()
		}
	}
	mustEnd(b, row(p.id, p.version))
	return &sinks.Commit{Source: p.source, Business: business, Stream: table, Batch: b}
}

// testLive reads live rows by combinations of conditions.
func testLive(t *testing.T, h Harness) { askLive(t, h, thinned) }

// RunConditions reads live rows by every combination of conditions.
func RunConditions(t *testing.T, fresh func(t *testing.T) Harness) { askLive(t, fresh(t), 1) }

// askLive runs one of every step combinations, and compares with what their conditions mean.
func askLive(t *testing.T, h Harness, step int) {
	s := open(t, h, Options{})
	for _, table := range []string{"ingredients", "categories", "allergens"} {
		located := h.Tables[table].Column("location_id") >= 0
		live := storePlaced(t, h, s, table)
		for i := range live {
			if !located {
				live[i].location = ""
			}
		}
		slices.SortFunc(live, func(a, b placed) int { return cmp.Compare(a.id, b.id) })
		for n, q := range queries(table) {
			if n%step == 0 {
				expectLive(t, s, q, live, located)
			}
		}
	}
}

// storePlaced stores rows in many flushes and returns those that are live then.
func storePlaced(t *testing.T, h Harness, s sinks.Sink, table string) []placed {
	t.Helper()
	for _, p := range []placed{
		{"moved", "bistro", "l1", 1}, {"aged", "bistro", "l1", 2}, {"buried", "bistro", "l1", 3}, {"revived", "other", "l2", 4},
	} {
		store(t, s, place(h, table, p))
	}
	store(t, s, &sinks.Commit{Source: source, Business: business, Stream: table, Tombstones: []sinks.Tombstone{
		tombstone("buried", 5, "gone"), tombstone("revived", 6, "deleted"), tombstone("lone", 7, "unpaid")}})
	live := []placed{
		{"a/1", "bistro", "l1", 11}, {"a/2", "bistro", "l2", 12}, {"a/3", "other", "l1", 13}, {"b", "other", "l2", 14},
		{"nowhere", "bistro", "", 15}, {"no place", "other", "", 16},
		{"moved", "other", "l2", 17}, {"aged", "bistro", "l1", 30}, {"revived", "bistro", "l1", 31},
	}
	if h.Tables[table].Column("location_id") >= 0 && !nullable(h.Tables[table], "location_id") {
		live = slices.DeleteFunc(live, func(p placed) bool { return p.location == "" })
	}
	for _, p := range live {
		store(t, s, place(h, table, p))
	}
	elsewhere := place(h, table, placed{"a/1", "bistro", "l1", 11})
	elsewhere.Business = "biz-2"
	store(t, s, elsewhere)
	return live
}

// thinned leaves one query of so many; it has no factor in common with the number
// of values of any condition, so that each pair of values is still asked.
const thinned = 7

func nullable(t *sinks.Table, column string) bool { return t.Columns[t.Column(column)].Nullable }

func queries(table string) []sinks.LiveQuery {
	var all []sinks.LiveQuery
	for _, before := range []string{"", "a/b", "0"} {
		for _, below := range []uint64{0, 14, 30} {
			for _, from := range []string{"", "bistro", "nobody"} {
				for _, locations := range [][]string{nil, {}, {"l1"}, {"l2", ""}} {
					for _, except := range [][]string{nil, {"l2"}, {"", "l1"}} {
						all = append(all, sinks.LiveQuery{Table: table, Business: business, Before: before, Below: below,
							Source: from, Locations: locations, Except: except})
					}
				}
			}
		}
	}
	return all
}

// selects says the words of [sinks.LiveQuery] once more.
func selects(q sinks.LiveQuery, p placed, located bool) bool {
	if q.Before != "" && p.id >= q.Before || q.Below > 0 && p.version >= q.Below {
		return false
	}
	if !located {
		return q.Source == "" || p.source == q.Source
	}
	all := q.Source == "" && q.Locations == nil
	return (all || p.source == q.Source || slices.Contains(q.Locations, p.location)) && !slices.Contains(q.Except, p.location)
}

func expectLive(t *testing.T, s sinks.Sink, q sinks.LiveQuery, live []placed, located bool) {
	t.Helper()
	var want []sinks.LiveRow
	for _, p := range live {
		if selects(q, p, located) {
			want = append(want, sinks.LiveRow{ID: p.id, Location: p.location, Version: p.version})
		}
	}
	got, err := s.Live(within(t), q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%+v (-want +got):\n%s", q, diff)
	}
	q.After, q.Limit = "b", 1
	if n, err := s.CountLive(within(t), q); err != nil || n != uint64(len(want)) {
		t.Errorf("count of %+v: %d, want %d: %v", q, n, len(want), err)
	}
}

// testPages reads live rows page by page, of ids that are hard to compare.
func testPages(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	for n, id := range oddIDs {
		store(t, s, ingredients(h, row(id, uint64(n+1))))
	}
	want := slices.Sorted(slices.Values(oddIDs))
	for _, limit := range []int{0, 2, 3, 100} { // pages of one row cannot go on after an empty id
		if got := readPages(t, s, limit); !slices.Equal(got, want) {
			t.Errorf("pages of %d: %q, want %q", limit, got, want)
		}
	}
	for _, before := range []string{"a", "a%", "100%", `\`, "nul\x00", "🍕", `o'`} {
		rows, err := s.Live(within(t), sinks.LiveQuery{Table: "ingredients", Business: business, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(rows)
		for _, id := range oddIDs {
			if has := slices.ContainsFunc(rows, func(r sinks.LiveRow) bool { return r.ID == id }); has != (id < before) {
				t.Errorf("before %q and id %q: %t in %s", before, id, has, got)
			}
		}
	}
}

func readPages(t *testing.T, s sinks.Sink, limit int) (ids []string) {
	t.Helper()
	q := sinks.LiveQuery{Table: "ingredients", Business: business, Limit: limit}
	for rows, err := range sinks.LivePages(within(t), s, q) {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
