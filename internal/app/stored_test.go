package app

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/status"
)

func TestStoredStatusTellsABackfillThatWasCutOff(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := now.Add(-time.Minute)
	checkpoint := func(stream, walk string, done bool) sinks.Checkpoint {
		return sinks.Checkpoint{Stream: stream, Walk: walk, Done: done, Business: "b", UpdatedAt: at}
	}
	state := sinks.State{Business: "b", Checkpoints: []sinks.Checkpoint{
		checkpoint("allergens", sinks.WalkSnapshot, true),
		checkpoint("categories", sinks.WalkIncremental, false), checkpoint("categories", sinks.WalkBackfill, true),
		checkpoint("products", sinks.WalkIncremental, false), // killed before the first page of its backfill
		checkpoint("ingredients", sinks.WalkOwed, true),      // killed before anything else
		checkpoint("sales_orders", sinks.WalkBackfill, false), checkpoint("sales_orders", sinks.WalkIncremental, false),
		checkpoint("sales_daily", sinks.WalkTotals, false), // and sales_products have rows, and no checkpoint yet
	}}
	counts := []clickhouse.Count{{Business: "b", Stream: "sales_products", Rows: 3}}
	unfinished := map[string]bool{"products": true, "sales_orders": true, "sales_daily": true, "sales_products": true}
	for _, st := range storedSource(now, "bistro", state, counts).Streams {
		if got := st.Detail == "backfill not finished"; got != unfinished[st.Name] || st.State != status.StateStopped {
			t.Errorf("%s: %s, %q", st.Name, st.State, st.Detail)
		}
		if st.Name == "ingredients" && st.Lag != status.Seconds(time.Minute) {
			t.Errorf("lag %s", st.Lag)
		}
	}
}
