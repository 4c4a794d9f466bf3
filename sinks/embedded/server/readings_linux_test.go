package server

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// What the lists of the tree do not have is refused: these forms of a statement, which
// change nothing, are taken. testdata/readings.sql holds one to a line.
func TestTheTreeHasAllThatReadersAsk(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	content, err := os.ReadFile("testdata/readings.sql")
	if err != nil {
		t.Fatal(err)
	}
	statements := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(statements) < 95 {
		t.Fatalf("%d statements", len(statements))
	}
	for _, sql := range statements {
		w := b.ask(engine, http.MethodPost, sql, url.Values{"param_fmt": {"CSV"}})
		if w.Code != http.StatusOK {
			t.Errorf("%q: %d %q", sql, w.Code, w.Body)
		}
		b.untouched(sql)
	}
}
