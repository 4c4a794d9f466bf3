package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestTheNoticesAreCurrent(t *testing.T) {
	want, err := thirdParties(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../" + noticesFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error(noticesFile + " is stale: run `make docs` and commit it")
	}
	// What the binary is sure to contain.
	for _, words := range []string{"github.com/ClickHouse/clickhouse-go/v2 v", "github.com/spf13/cobra v", "Go: its runtime", "Apache License", "system.licenses"} {
		if !strings.Contains(string(got), words) {
			t.Errorf("nothing of %s", words)
		}
	}
	for _, words := range []string{"chromedp", "pgregory.net/rapid"} { // of the tests alone
		if strings.Contains(string(got), words) {
			t.Errorf("%s is not in the binary", words)
		}
	}
}
