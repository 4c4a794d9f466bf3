package schedule

import (
	"sync"
	"time"
)

// Turns is when each job of one source is due next; zero for one that is off.
type Turns struct {
	source string

	mu    sync.Mutex // guards what follows
	times Timetable
	due   [Jobs]time.Time
}

// NewTurns makes every job due at once but those that have their own time ([Turns.AllDue]): what is
// missing comes first.
func NewTurns(source string, times Timetable, now time.Time) *Turns {
	t := &Turns{source: source, times: times}
	t.AllDue(now)
	return t
}

// AllDue makes every job due but those that have their own hour, and yesterday and today where their own turn
// comes within an hour: nothing is missing until then.
func (t *Turns) AllDue(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for j := range Jobs {
		own := t.times.Next(j, t.source, now)
		if t.due[j] = now; t.times.Off(j) || j == ReconcileDeep || j == FullResync || j == Reconcile && own.Sub(now) <= MaxSpread {
			t.due[j] = own
		}
	}
}

// MakeDue makes a job due that is not off.
func (t *Turns) MakeDue(j Job, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.times.Off(j) {
		t.due[j] = now
	}
}

// Follow takes over a changed timetable. What is due stays due, the rest gets its time by the new
// one.
func (t *Turns) Follow(times Timetable, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times == times {
		return
	}
	t.times = times
	for j := range Jobs {
		if !isDue(t.due[j], now) {
			t.due[j] = times.Next(j, t.source, now)
		}
	}
}

// Next is when the earliest job is due.
func (t *Turns) Next() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.due[Incremental] // which is never off
	for _, at := range t.due {
		if !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}

// Take returns the jobs that are due and puts them down for their next time. A time that
// was slept through is not made up for: one walk brings everything.
func (t *Turns) Take(now time.Time) []Job {
	t.mu.Lock()
	defer t.mu.Unlock()
	var due []Job
	for j := range Jobs {
		if isDue(t.due[j], now) {
			due = append(due, j)
			t.due[j] = t.times.Next(j, t.source, now)
		}
	}
	return due
}

// From is the first turn of a job from an instant on.
func (t *Turns) From(j Job, at time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.due[j].Before(at) {
		return t.due[j]
	}
	return t.times.Next(j, t.source, at)
}
