package cookbook

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A query after "larder sql" in a document or in a text of the program.
var command = regexp.MustCompile(`larder sql (?:--format \w+ )?(?:"([^"]*)"|'([^']*)')`)

// testCommands asks what people are told to ask with larder sql, in the documents and in
// what the program itself says.
func testCommands(t *testing.T, r *restaurant) {
	database := r.text(t, "SELECT currentDatabase()")
	found := 0
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/architecture/*.md", "cmd/larder/*.go", "syncer/*.go", "internal/app/*.go"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files: %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range command.FindAllStringSubmatch(strings.ReplaceAll(string(text), `\"`, `"`), -1) {
				found++
				sql := strings.ReplaceAll(m[1]+m[2], "larder_raw.", database+"_raw.")
				var out strings.Builder
				if err := r.sink.Query(t.Context(), sql, "TSV", &out); err != nil {
					t.Errorf("%s: %s: %v", strings.TrimPrefix(file, "../../"), m[0], err)
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d commands were found", found)
	}
}
