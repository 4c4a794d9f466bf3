package main

import (
	"strings"
	"testing"
)

// Every command that opens an engine keeps its threads to the data folder. That needs a
// kernel with Landlock (Linux 5.13); what there is without it, the log says in its place.
func TestTheEngineIsConfined(t *testing.T) {
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	for _, command := range [][]string{
		{"sync", "--stream", "allergens", "--log-format", "json"},
		{"demo", "--once", "--days", "2", "--orders-per-day", "10", "--set", "log.level=info", "--set", "log.format=json", "--set", "web.listen="},
	} {
		if r := h.want(0, "", command...); !strings.Contains(r.errors, `"confined":true`) {
			t.Errorf("%s: not confined:\n%s", command[0], r.errors)
		}
	}
}
