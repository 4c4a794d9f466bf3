package cookbook

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// documented are the queries that the documents show, by heading or view.
func documented(t *testing.T) map[string]string {
	t.Helper()
	document, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := Queries(string(document))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, q := range queries {
		all[q.Heading] = q.SQL
	}
	for view, g := range schema.Guides() {
		all[view] = g.Query
	}
	return all
}

// testReaders asks every question of docs/cookbook.md, and the query of each view in the
// dictionary, by the reading interface, as those do who read the documents: its limits let
// all of them through.
func testReaders(t *testing.T, r *restaurant) {
	address := enginetest.Reading(t, enginetest.Engine(t), r.database)
	asked := 0
	for heading, sql := range documented(t) {
		query := url.Values{"database": {r.database}, "default_format": {"JSON"}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/?"+query.Encode(), strings.NewReader(sql))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatalf("%s: %v", heading, err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Errorf("%s: %v", heading, err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Errorf("%s: %v", heading, err)
		}
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", heading, answer.Status, text[:min(len(text), 500)])
		}
		asked++
	}
	if asked < 40 {
		t.Errorf("only %d queries were asked", asked)
	}
}
