package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
)

func TestMain(m *testing.M) { embeddedtest.Main(m) }

func TestTheDataDictionaryIsCurrent(t *testing.T) {
	want, err := dataDictionary(t.Context(), embeddedtest.Engine(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/data-dictionary.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/data-dictionary.md is stale: run `make docs` and commit it")
	}
}
