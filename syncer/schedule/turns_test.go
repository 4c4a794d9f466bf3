package schedule

import (
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
