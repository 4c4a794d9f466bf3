package clickhouse_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/registry"
)

// TestTablesHoldWhatTheSyncerMaps compares the storage tables with the tables
// that the syncer makes of the API's types: no column may be missing on either
// side, and each must hold what it is given.
func TestTablesHoldWhatTheSyncerMaps(t *testing.T) {
	s, _ := migrated(t, clickhouse.Options{})
	stored := tables(t, s)
	mapped := map[string]*sinks.Table{}
	for _, d := range registry.All() {
		mapped[d.Name] = d.Plan.Table()
	}
	if len(stored) != len(mapped) {
		t.Errorf("%d tables stored, %d mapped", len(stored), len(mapped))
	}
	for name, m := range mapped {
		if diff := cmp.Diff(columnsOf(m), columnsOf(stored[name])); diff != "" {
			t.Errorf("%s (-mapped +stored):\n%s", name, diff)
		}
	}
}

func columnsOf(t *sinks.Table) []string {
	if t == nil {
		return nil
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = fmt.Sprintf("%s %s nullable=%t depth=%d map=%t", c.Name, c.Kind, c.Nullable, c.Depth, c.Map)
	}
	slices.Sort(columns)
	return columns
}
