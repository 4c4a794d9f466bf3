package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestATurnThatIsWaitedForIsTheFirstAfterIt(t *testing.T) {
	times, err := New(Spec{Incremental: "@every 30s"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	turns := NewTurns("bistro", times, now)
	if at := turns.From(Incremental, now); !at.Equal(now) {
		t.Errorf("the first turn is at %s", at)
	}
	turns.Take(now)
	next, later := turns.From(Incremental, now), turns.From(Incremental, now.Add(time.Hour))
	if next.Sub(now) <= 0 || next.Sub(now) > 30*time.Second {
		t.Errorf("the next turn is at %s", next)
	}
	if wait := later.Sub(now.Add(time.Hour)); wait < 0 || wait > 30*time.Second || later.Sub(next)%(30*time.Second) != 0 {
		t.Errorf("after an hour it is at %s, after %s", later, next)
	}
}

// TestAStartHasNoTurnOfAllSources: yesterday and today come at their own turns, or at once where those are hours away.
func TestAStartHasNoTurnOfAllSources(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC)
	for spec, want := range map[string]struct{ least, most int }{
		"*/15 * * * *": {30, 120}, "@every 15m": {30, 120}, "@every 1h": {5, 40}, "0 6 * * *": {1000, 1000}, "off": {0, 0},
	} {
		times, err := New(Spec{Reconcile: spec})
		if err != nil {
			t.Fatal(err)
		}
		soon := 0
		for i := range 1000 {
			turns := NewTurns(fmt.Sprint("source", i), times, now)
			if at := turns.From(Reconcile, now); spec != "off" && at.Before(now.Add(90*time.Second)) {
				soon++
			}
			if !slices.Contains(turns.Take(now), Incremental) {
				t.Fatalf("%s: no list is walked at the start", spec)
			}
		}
		if soon < want.least || soon > want.most {
			t.Errorf("%s: %d of 1000 sources have a turn in the first 90 seconds, want %+v", spec, soon, want)
		}
	}
}
