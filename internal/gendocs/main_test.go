package main

import (
	"bytes"
	"os"
	"path/filepath"
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
