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
	s, database := migrated(t, clickhouse.Options{})
	guides := schema.Guides()
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
		query(t, s, "SELECT "+strings.Join(g.Key, ", ")+" FROM "+view, "TSV")
		if !strings.Contains(g.Query, "FROM "+view) {
			t.Errorf("%s: its query asks another view: %s", view, g.Query)
		}
	}
	for view := range guides {
		t.Errorf("a guide of %s, which is no view", view)
	}
}
