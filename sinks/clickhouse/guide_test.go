package clickhouse_test

import (
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// Every view has a guide, its comment begins with the grain, and what the guide says
// can be asked of a warehouse in which nothing is yet.
func TestEveryViewHasAGuide(t *testing.T) {
	notInShort(t)
	s, database := migrated(t, clickhouse.Options{})
	guides, columns := schema.Guides(), map[string]bool{}
	for column := range strings.Lines(query(t, s, "SELECT concat(table, '.', name) FROM system.columns WHERE database = "+sqlText(database), "TSVRaw")) {
		columns[strings.TrimSpace(column)] = true
	}
	for line := range strings.Lines(query(t, s, "SELECT name, comment FROM system.tables WHERE database = "+sqlText(database), "TSVRaw")) {
		view, comment, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if !strings.HasPrefix(comment, "One row per ") {
			t.Errorf("%s: its comment does not begin with the grain: %s", view, comment)
		}
		g, ok := guides[view]
		if !ok {
			t.Errorf("%s has no guide", view)
			continue
		}
		delete(guides, view)
		query(t, s, g.Query, "TSV")
		for _, key := range g.Key {
			if !columns[view+"."+key] {
				t.Errorf("%s has no column %s, which its guide calls a key", view, key)
			}
		}
		if !strings.Contains(g.Query, "FROM "+view) {
			t.Errorf("%s: its query asks another view: %s", view, g.Query)
		}
	}
	for view := range guides {
		t.Errorf("a guide of %s, which is no view", view)
	}
}
