package main

import (
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks"
)

func TestADriftIsPrintedWithItsOrdersAndWhy(t *testing.T) {
	v := sinks.Verdict{
		Day: "2026-03-29", Subject: sinks.SubjectDaily, Verdict: sinks.VerdictDrift, Reason: "not healed", OrderIDs: []string{"a", "b"},
		Differences: []sinks.Difference{{Figure: "orders", Service: "2", Mirror: "1"}},
	}
	for verdict, want := range map[string]string{
		sinks.VerdictDrift:  "orders\t2\t1|of orders a, b|not healed",
		sinks.VerdictHealed: "orders\t2\t1",
	} {
		v.Verdict = verdict
		var out strings.Builder
		printVerdict(&out, "bistro", v)
		row := "bistro\t2026-03-29\t-\tdaily\t" + verdict + "\t"
		if got := strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(out.String(), row, "")), "\n", "|"); got != want {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
}
