package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/larder-sync/larder/syncer/verify"
)

func TestAnIDCannotPassForTheRestOfItsLine(t *testing.T) {
	for id, want := range map[string]string{
		"p1": "p1", "": `""`, "p1 (row): API absent": `"p1 (row): API absent"`, `""`: `"\"\""`, "p 1\x1b[2J": `"p 1\x1b[2J"`,
	} {
		var out strings.Builder
		p := &printer{out: &out}
		p.finding(verify.Finding{Kind: verify.FoundDifference, Source: "bistro", Stream: "products", ID: id, Field: "name", API: json.RawMessage(`"a"`), Mirror: json.RawMessage(`"b"`)})
		if want := "difference: bistro products " + want + ` name: API "a", mirror "b"` + "\n"; out.String() != want {
			t.Errorf("got %s want %s", out.String(), want)
		}
	}
}
