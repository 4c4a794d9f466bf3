package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/engine/server"
)

func TestTheDataDictionaryIsCurrent(t *testing.T) {
	engine, err := server.Open(t.Context(), scratchIn(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	want, err := dataDictionary(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "data-dictionary.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/data-dictionary.md is stale: run `make docs` and commit it")
	}
}

// A test that a document names is there; in a command to run, as the beginning of its name.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	var there []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllSubmatch(text, -1) {
			there = append(there, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/architecture/*.md"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(text), -1) {
				named++
				if !slices.ContainsFunc(there, func(test string) bool { return strings.HasPrefix(test, name) }) {
					t.Errorf("%s names %s, which is no test", filepath.Base(file), name)
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d names were found", named)
	}
}
