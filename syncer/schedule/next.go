package schedule

import (
	"slices"
	"time"
)

// Why is why a stream runs when it does, in a word.
type Why string

// The reasons.
const (
	ByTurn    Why = "turn"      // the turn of one of its walks comes then
	UnderWay  Why = "under_way" // a walk of any kind runs just now
	Asked     Why = "asked"     // the service has asked to wait: the first turn after that
	Probed    Why = "probe"     // its source is in trouble, and is asked again first
	Elsewhere Why = "elsewhere" // another process serves its source
	Off       Why = "off"       // nothing is asked for it and nothing of it is to be removed, or the jobs of its walks are off
	Unserved  Why = ""          // no daemon serves its source
)

// Situation is all that decides when a stream runs next.
type Situation struct {
	Elsewhere bool                           // another process serves its source
	Probe     time.Time                      // when its source in trouble is asked again; zero when it is in none
	NotBefore time.Time                      // what the service has asked for; zero for nothing
	Walks     []Walk                         // that are made of it; none when there is nothing to make
	Turn      func(Job, time.Time) time.Time // the first turn of a job from an instant on, zero when it is off; nil without a daemon
}

// Walk is what decides when one kind of walk of a stream begins.
type Walk struct {
	Running bool
	Jobs    []Job       // it begins at their turns
	Early   []Job       // and at theirs while it is owed
	Owed    func() bool // true for a backfill that is not done, say; asked only where it matters
}

// At is true when it may begin at a job's turn.
func (w Walk) At(j Job) bool { return slices.Contains(w.Jobs, j) || slices.Contains(w.Early, j) }

// Next is when a stream runs next, and why then; zero when that is not known. Status and page
// show it for all walks of a stream. The syncer's loop asks it about each kind of walk when a
// job's turn has come, and begins the walk if the answer is that turn.
func Next(s Situation, now time.Time) (time.Time, Why) {
	switch {
	case len(s.Walks) == 0:
		return time.Time{}, Off
	case s.Elsewhere:
		return time.Time{}, Elsewhere
	case s.Turn == nil:
		return time.Time{}, Unserved
	case !s.Probe.IsZero():
		return s.Probe, Probed
	case slices.ContainsFunc(s.Walks, func(w Walk) bool { return w.Running }):
		return now, UnderWay
	}
	from, why := now, ByTurn
	if s.NotBefore.After(now) {
		from, why = s.NotBefore, Asked
	}
	if at := s.first(from); !at.IsZero() {
		return at, why
	}
	return time.Time{}, Off
}

// first is the first turn of any walk from an instant on.
func (s Situation) first(from time.Time) (first time.Time) {
	consider := func(jobs []Job, owed func() bool) {
		for _, j := range jobs {
			if at := s.Turn(j, from); !at.IsZero() && (first.IsZero() || at.Before(first)) && (owed == nil || owed()) {
				first = at
			}
		}
	}
	for _, w := range s.Walks {
		consider(w.Jobs, nil)
	}
	for _, w := range s.Walks {
		consider(w.Early, w.Owed)
	}
	return first
}
