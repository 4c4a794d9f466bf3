package schedule

import (
	"testing"
	"time"
)

func TestWhenAStreamRunsNext(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	turn := func(j Job, from time.Time) time.Time { // one in each minute, hour or day
		every := map[Job]time.Duration{Incremental: time.Minute, Reconcile: time.Hour, FullResync: 24 * time.Hour}[j]
		return from.Truncate(every).Add(every)
	}
	owed := func(is bool) func() bool { return func() bool { return is } }
	recent, free := Walk{Jobs: []Job{Incremental}}, Walk{Jobs: []Job{Reconcile}}
	long := func(is bool) Walk { return Walk{Jobs: []Job{FullResync}, Early: []Job{Incremental}, Owed: owed(is)} }
	running := func(w Walk) Walk { w.Running = true; return w }
	unasked := Walk{Jobs: []Job{FullResync}, Early: []Job{Reconcile}, Owed: func() bool { t.Error("asked in vain"); return false }}
	for name, c := range map[string]struct {
		s    Situation
		want time.Duration // from now; -1 for not known
		why  Why
	}{
		"by schedule":                    {Situation{Turn: turn, Walks: []Walk{recent}}, time.Minute, ByTurn},
		"under way":                      {Situation{Turn: turn, Walks: []Walk{running(recent)}, NotBefore: now.Add(time.Hour)}, 0, UnderWay},
		"a backfill under way":           {Situation{Turn: turn, Walks: []Walk{recent, running(long(true))}}, 0, UnderWay},
		"a walk without turns under way": {Situation{Turn: turn, Walks: []Walk{recent, {Running: true}}}, 0, UnderWay},
		"the first of several walks":     {Situation{Turn: turn, Walks: []Walk{long(false), free, recent}}, time.Minute, ByTurn},
		"a backfill that is owed":        {Situation{Turn: turn, Walks: []Walk{long(true), free}}, time.Minute, ByTurn},
		"none that is owed":              {Situation{Turn: turn, Walks: []Walk{long(false), free}}, time.Hour, ByTurn},
		"a full resync by schedule":      {Situation{Turn: turn, Walks: []Walk{long(false)}}, 12 * time.Hour, ByTurn},
		"owed, and no sooner":            {Situation{Turn: turn, Walks: []Walk{unasked, recent}}, time.Minute, ByTurn},
		"after a 429":                    {Situation{Turn: turn, Walks: []Walk{recent}, NotBefore: now.Add(90 * time.Second)}, 2 * time.Minute, Asked},
		"owed, after a 429":              {Situation{Turn: turn, Walks: []Walk{long(true), free}, NotBefore: now.Add(90 * time.Second)}, 2 * time.Minute, Asked},
		"after one that passed":          {Situation{Turn: turn, Walks: []Walk{recent}, NotBefore: now.Add(-time.Second)}, time.Minute, ByTurn},
		"of a wrong key":                 {Situation{Turn: turn, Walks: []Walk{running(recent)}, Probe: now.Add(5 * time.Minute)}, 5 * time.Minute, Probed},
		"off by schedule":                {Situation{Turn: func(Job, time.Time) time.Time { return time.Time{} }, Walks: []Walk{recent, long(true)}}, -1, Off},
		"one of two off by schedule": {Situation{Turn: func(j Job, from time.Time) time.Time {
			if j == Reconcile {
				return time.Time{}
			}
			return turn(j, from)
		}, Walks: []Walk{free, long(false)}}, 12 * time.Hour, ByTurn},
		"off":              {Situation{Turn: turn, Elsewhere: true}, -1, Off},
		"elsewhere":        {Situation{Turn: turn, Walks: []Walk{running(recent)}, Elsewhere: true, Probe: now}, -1, Elsewhere},
		"without a daemon": {Situation{Walks: []Walk{running(recent)}, Probe: now}, -1, Unserved},
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
