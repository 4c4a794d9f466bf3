package schedule

import (
	"testing"
	"time"
)

func TestWhenAStreamRunsNext(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	turn := func(from time.Time) time.Time { return from.Truncate(time.Minute).Add(time.Minute) }
	for name, c := range map[string]struct {
		s    Situation
		want time.Duration // from now; -1 for not known
		why  Why
	}{
		"by schedule":           {Situation{Turn: turn}, time.Minute, ByTurn},
		"under way":             {Situation{Turn: turn, Running: true, NotBefore: now.Add(time.Hour)}, 0, UnderWay},
		"after a 429":           {Situation{Turn: turn, NotBefore: now.Add(90 * time.Second)}, 2 * time.Minute, Asked},
		"after one that passed": {Situation{Turn: turn, NotBefore: now.Add(-time.Second)}, time.Minute, ByTurn},
		"of a wrong key":        {Situation{Turn: turn, Probe: now.Add(5 * time.Minute), Running: true}, 5 * time.Minute, Probed},
		"off":                   {Situation{Turn: turn, Off: true, Elsewhere: true}, -1, Off},
		"elsewhere":             {Situation{Turn: turn, Elsewhere: true, Probe: now}, -1, Elsewhere},
		"without a daemon":      {Situation{Probe: now}, -1, Unserved},
	} {
		at, why := Next(c.s, now)
		if why != c.why || c.want < 0 != at.IsZero() || c.want >= 0 && at.Sub(now) != c.want {
			t.Errorf("%s: %s, %s", name, at, why)
		}
	}
}

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
