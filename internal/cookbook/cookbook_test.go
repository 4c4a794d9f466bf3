package cookbook

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	page       = "../../docs/cookbook.md"
	dictionary = "../../docs/data-dictionary.md"
)

var update = flag.Bool("update", false, "write the answers into docs/cookbook.md")

// TestTheCookbook asks every question of docs/cookbook.md: the answers that stand
// there are what comes out.
func TestTheCookbook(t *testing.T) {
	r := mirrored(t)
	document, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := Queries(string(document))
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]string, len(queries))
	for i, q := range queries {
		var out strings.Builder
		if err := r.sink.Query(t.Context(), atEvening(q.SQL), "", &out); err != nil {
			t.Errorf("%s:%d: %s: %v", page, q.Line, q.Heading, err)
			continue
		}
		answers[i] = out.String()
		if diff := cmp.Diff(q.Answer, answers[i]); diff != "" && !*update {
			t.Errorf("%s:%d: %s: another answer (-page +mirror); go test ./internal/cookbook -update writes it:\n%s", page, q.Line, q.Heading, diff)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(page, []byte(WithAnswers(string(document), queries, answers)), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
}
