package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// cited matches a citation of rules.md or openapi.yaml, as code and documents write it: with a
// rule's number or with a heading.
var cited = regexp.MustCompile(`docs/(rules\.md|openapi\.yaml)(?: ([RBPWE]\d+)|, ([A-Za-z/][A-Za-z/ ]*[A-Za-z]))`)

// TestCitationsLeadSomewhere finds citations of rules and headings that there are not.
func TestCitationsLeadSomewhere(t *testing.T) {
	texts := map[string][]byte{}
	for _, name := range []string{"rules.md", "openapi.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = text
	}
	n := 0
	for _, dir := range []string{"cmd", "config", "dashboards", "deploy", "docs", "internal", "sinks", "syncer"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !regexp.MustCompile(`\.(go|sql|md)$`).MatchString(path) {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range cited.FindAllSubmatch(text, -1) {
				n++
				if !leads(texts[string(m[1])], string(m[2]), string(m[3])) {
					t.Errorf("%s cites %s, which is not there", path, m[0])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 150 {
		t.Errorf("only %d citations were found", n)
	}
}

// leads reports whether a document has the rule, or a heading, schema or path with which the
// words begin: what a sentence goes on with after a heading is no part of it.
func leads(text []byte, rule, words string) bool {
	if rule != "" {
		return bytes.Contains(text, []byte("**"+rule+"."))
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:## |\s*\*\*|\s*)(/?[A-Za-z][A-Za-z/ ]*?)(?:\*\*|\.\*\*|:| \(|$)`).FindAllSubmatch(text, -1) {
		if heading := string(m[1]); words == heading || len(words) > len(heading) && words[:len(heading)+1] == heading+" " {
			return true
		}
	}
	return false
}
