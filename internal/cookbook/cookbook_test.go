package cookbook

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = "../../docs/cookbook.md"

var update = flag.Bool("update", false, "write the answers into docs/cookbook.md")

// fixedDay is a day written out.
var fixedDay = regexp.MustCompile(`'20\d\d-|= 20\d\d`)

// TestTheDocuments asks one mirrored restaurant all that the documents show.
func TestTheDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("what the daemon and its sink do at once is raced in their own packages; the queries come one after the other")
	}
	r := mirrored(t)
	t.Run("cookbook", func(t *testing.T) { testCookbook(t, r) })
	t.Run("dictionary", func(t *testing.T) { testDictionary(t, r) })
	t.Run("commands", func(t *testing.T) { testCommands(t, r) })
}

// testCookbook asks every question of docs/cookbook.md by the reading interface, as people
// do: its limits let all of them through, the answers on the page are what comes out, and
// they hold against the truth.
func testCookbook(t *testing.T, r *restaurant) {
	document, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := Queries(string(document))
	if err != nil {
		t.Fatal(err)
	}
	w := r.truth(t)
	shown := make([]string, len(queries))
	asked := map[string]bool{}
	for i, q := range queries {
		if fixedDay.MatchString(q.SQL) && !strings.Contains(q.SQL, "arrayJoin") {
			t.Errorf("%s:%d: %s: a day that stands still: people run it as it stands, on any day", page, q.Line, q.Heading)
		}
		var err error
		if shown[i], err = r.read(t, q.SQL); err != nil {
			t.Errorf("%s:%d: %s: %v", page, q.Line, q.Heading, err)
			continue
		}
		asked[q.Heading] = true
		holdsTrue(t, w, q, shown[i])
		if diff := cmp.Diff(q.Answer, shown[i]); diff != "" && !*update {
			t.Errorf("%s:%d: %s: another answer (-page +mirror); go test ./internal/cookbook -update writes it:\n%s", page, q.Line, q.Heading, diff)
		}
	}
	for heading := range answers {
		if !asked[heading] {
			t.Errorf("%s: the page has no such question", heading)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(page, []byte(withAnswers(string(document), queries, shown)), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
}

// anything stands for a value that the API's JSON does not tell.
const anything = "…"

// holdsTrue compares the table that answers a question with what the truth gives.
func holdsTrue(t *testing.T, w *truth, q Query, table string) {
	t.Helper()
	compute := answers[q.Heading]
	if compute == nil {
		t.Errorf("%s:%d: %s: nothing computes its figures", page, q.Line, q.Heading)
		return
	}
	got := cellsOf(table)
	var want [][]string
	for i, values := range compute(w) {
		var cells []string
		for j, v := range values {
			text := cell(v)
			if v == anything && i < len(got) && j < len(got[i]) {
				text = got[i][j]
			}
			cells = append(cells, text)
		}
		want = append(want, cells)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("%s:%d: %s: other figures than the API's JSON gives (-truth +mirror):\n%s", page, q.Line, q.Heading, diff)
	}
}

// cellsOf are the cells of a table as larder sql prints it.
func cellsOf(table string) (rows [][]string) {
	for line := range strings.Lines(table) {
		_, line, found := strings.Cut(line, "│ ") // a second line of a cell is a row that the truth does not have
		if !found {
			continue // a border
		}
		var cells []string
		for _, text := range strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "│"), "│") {
			text = strings.TrimSpace(text)
			if text == "ᴺᵁᴸᴸ" {
				text = `\N`
			}
			cells = append(cells, plain(text))
		}
		rows = append(rows, cells)
	}
	return rows
}

// withAnswers is the document with other answers. A query that shows none keeps none.
func withAnswers(document string, queries []Query, answers []string) string {
	var out strings.Builder
	at := 0
	for i, q := range queries {
		if q.to == 0 {
			continue
		}
		out.WriteString(document[at:q.from])
		out.WriteString(answers[i])
		at = q.to
	}
	out.WriteString(document[at:])
	return out.String()
}
