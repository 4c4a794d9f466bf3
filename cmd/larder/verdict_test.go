package main

import (
	"slices"
	"testing"

	"github.com/larder-sync/larder/sinks"
)

func TestADriftIsPrintedWithItsOrdersAndWhy(t *testing.T) {
	v := sinks.Verdict{
		Day: "2026-03-29", Subject: sinks.SubjectDaily, Reason: "not healed", OrderIDs: []string{"a", "b"},
		Differences: []sinks.Difference{{Figure: "orders", Service: "2", Mirror: "1"}},
	}
	for verdict, want := range map[string][]string{
		sinks.VerdictDrift:  {"orders: service 2, mirror 1", "of orders a, b", "not healed"},
		sinks.VerdictHealed: {"orders: service 2, mirror 1"},
	} {
		v.Verdict = verdict
		if got := whatDiffers(v); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
}
