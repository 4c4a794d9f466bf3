package dashboards

import (
	"os"
	"regexp"
	"testing"
)

// Every health that the program can report has a word in both languages, and a colour.
func TestEveryHealthHasAWord(t *testing.T) {
	source, err := os.ReadFile("../syncer/status/health.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\tHealth\w+ += "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(found) < 10 {
		t.Fatalf("found %v only", found)
	}
	for _, f := range found {
		if w := words["health"][f[1]]; w.ro == "" || w.en == "" || w.color == "" {
			t.Errorf("%s has no word: %+v", f[1], w)
		}
	}
}
