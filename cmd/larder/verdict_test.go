package main

import (
	"slices"
	"testing"

	"github.com/larder-sync/larder/sinks"
)

func TestAVerdictIsPrintedWithItsOrdersAndWhy(t *testing.T) {
	v := sinks.Verdict{
		Day: "2026-03-29", Subject: sinks.SubjectDaily, Reason: "not healed", OrderIDs: []string{"a", "b"},
		Differences: []sinks.Difference{{Figure: "orders", Service: "2", Mirror: "1"}},
	}
	want := []string{"orders: service 2, mirror 1", "of orders a, b", "not healed"}
	if got := whatDiffers(v); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
