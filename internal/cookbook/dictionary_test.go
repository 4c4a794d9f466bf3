package cookbook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// testDictionary holds what the data dictionary says of each view against a restaurant
// in which everything has happened: its query brings something to those who read, its key tells rows
// apart, and a join brings names, not more rows.
func testDictionary(t *testing.T, r *restaurant) {
	for view, g := range schema.Guides() {
		// No order contradicts the API, and the source is of all locations.
		mayBeEmpty := view == "data_quality" || view == "sales_products_by_location"
		if answer, err := r.read(t, g.Query); err != nil || answer == "" && !mayBeEmpty {
			t.Errorf("%s: nothing comes of %s: %v", view, g.Query, err)
		}
		keys := strings.Join(g.Key, ", ")
		rows, apart, _ := strings.Cut(r.text(t, fmt.Sprintf("SELECT count(), uniqExact(tuple(%s)) FROM %s", keys, view)), "\t")
		if apart != rows {
			t.Errorf("%s: %s rows, and %s keys (%s)", view, rows, apart, keys)
		}
		for _, j := range g.Joins {
			on := "a.business_id = b.business_id"
			for i, column := range j.Columns {
				on += fmt.Sprintf(" AND a.%s = b.%s", column, j.On[i])
			}
			found := r.text(t, fmt.Sprintf("SELECT count(), countIf(b.business_id != '') FROM %s AS a LEFT JOIN %s AS b ON %s", view, j.View, on))
			if joined, met, _ := strings.Cut(found, "\t"); joined != rows || met == "0" && rows != "0" {
				t.Errorf("%s: %s rows, joined with %s %s, of which %s have met one", view, rows, j.View, joined, met)
			}
		}
	}
}

// text is the answer of a query, as tabs and lines.
func (r *restaurant) text(t *testing.T, sql string) string {
	t.Helper()
	var out strings.Builder
	if err := r.sink.Query(t.Context(), sql, "TSV", &out); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
	return strings.TrimSpace(out.String())
}
