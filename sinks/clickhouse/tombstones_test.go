package clickhouse_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/sinktest"
)

// TestTombstonesOfRowsNeverSeenGoWithTheRows stores history, as a backfill does: a thousand orders, with tombstones of an order
// that is stored, of one among them, and of orders never seen. The last are no INSERT of their own, and are stored as
// those beside few rows are.
func TestTombstonesOfRowsNeverSeenGoWithTheRows(t *testing.T) {
	notInShort(t)
	s, database := migrated(t, clickhouse.Options{FlushInterval: time.Millisecond})
	table := tables(t, s)["sales_orders"]
	alter(t, database, table.Name, "MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1") // no merges
	t.Cleanup(func() { alter(t, database, table.Name, "RESET SETTING max_bytes_to_merge_at_max_space_in_pool") })
	stone := func(id string) sinks.Tombstone {
		at := time.Date(2026, 3, 1, 10, 0, 0, 123456000, time.UTC)
		return sinks.Tombstone{ID: id, Version: 1 << 40, FetchedAt: at, Reason: "cancelled", DeletedAt: at.Add(-time.Hour), UpdatedAt: at.Add(-time.Minute),
			Raw: []byte(`{"id":"\t` + "\t" + `ș"}`)}
	}
	write := func(source, business string, batch *sinks.Batch, stones ...sinks.Tombstone) {
		t.Helper()
		receipt, err := s.Write(t.Context(), &sinks.Commit{Source: source, Business: business, Stream: table.Name, Batch: batch, Tombstones: stones})
		if err == nil {
			err = receipt.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	parts := func() string {
		return query(t, s, fmt.Sprintf("SELECT count() FROM system.parts WHERE database = '%s_raw' AND table = 'sales_orders' AND active", database), "TSV")
	}
	page := orderPage(table, rand.New(rand.NewPCG(1, 1)), 1001)
	write("few", "few", page.Slice(1000, 1001), stone("lone"), stone("lone too")) // a row, and tombstones in a statement of their own
	write("many", "many", page.Slice(0, 1))
	if got := parts(); got != "3\n" {
		t.Fatalf("%s parts before", got)
	}
	write("many", "many", page.Slice(1, 1000), stone("lone"), stone("lone too")) // still not many
	if got := parts(); got != "5\n" {
		t.Errorf("few rows and tombstones: %s parts", got)
	}
	write("all", "all", page.Slice(0, 1000), stone("lone"), stone("lone too"))
	if got := parts(); got != "6\n" {
		t.Errorf("a thousand rows and tombstones of rows never seen: %s parts, want one more", got)
	}
	write("all", "all", page.Slice(0, 1000), stone("lone"), stone("new"), stone("order-7"), stone("order-1000"))
	if got := parts(); got != "8\n" {
		t.Errorf("a thousand rows and tombstones of stored rows, too: %s parts", got)
	}
	byID := map[string]sinktest.Row{}
	for _, r := range readRows(t, s, database, table.Name, "all") {
		byID[r.ID] = r
	}
	want := readRows(t, s, database, table.Name, "few")[0]
	for _, id := range []string{"lone", "lone too", "new", "order-1000"} {
		want.ID, want.Source = id, "all"
		if got := byID[id]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is\n%+v, and beside few rows\n%+v", id, got, want)
		}
	}
	seven := byID["order-7"]
	if !seven.Deleted || seven.Raw != string(page.Rows[7].Raw) || seven.Reason != "cancelled" || len(byID) != 1004 {
		t.Errorf("%d rows; a tombstone of a row that is stored: %+v", len(byID), seven)
	}
}

// TestAFenceIsAskedAfterTheLookForStoredRows loses the source while it is looked which of the removed rows are stored.
func TestAFenceIsAskedAfterTheLookForStoredRows(t *testing.T) {
	s, database := migrated(t, clickhouse.Options{FlushInterval: time.Millisecond})
	table := tables(t, s)["sales_orders"]
	lost, asked := errors.New("another process serves the source"), 0
	receipt, err := s.Write(t.Context(), &sinks.Commit{
		Source: "a", Business: "a", Stream: table.Name, Batch: orderPage(table, rand.New(rand.NewPCG(1, 1)), 1000),
		Tombstones: []sinks.Tombstone{{ID: "lone", Version: 1 << 40, Reason: "cancelled"}},
		Fence: func() error {
			if asked++; asked > 2 { // as the flush begins, and before the look
				return lost
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := receipt.Wait(t.Context()); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	if rows := readRows(t, s, database, table.Name, "a"); len(rows) > 0 {
		t.Errorf("%d rows were inserted, though the source was lost by then", len(rows))
	}
}
