package syncer

import "time"

// agenda is when each job of a source is due next.
type agenda struct {
	source string
	times  timetable
	due    [jobCount]time.Time
}

// newAgenda makes every job due at once: what is missing comes first.
func newAgenda(source string, times timetable, now time.Time) *agenda {
	a := &agenda{source: source, times: times}
	a.rush(now)
	return a
}

// rush makes every job due but those that have their own hour.
func (a *agenda) rush(now time.Time) {
	for j := range jobCount {
		a.due[j] = now
	}
	for _, j := range []job{jobTotalsDeep, jobFull} {
		a.due[j] = a.times.next(j, a.source, now)
	}
}

// follow takes over a changed timetable: what is due stays due, the rest gets its
// time by the new one.
func (a *agenda) follow(times timetable, now time.Time) {
	before := a.times
	a.times = times
	for j := range jobCount {
		if before[j] != times[j] && a.due[j].After(now) {
			a.due[j] = times.next(j, a.source, now)
		}
	}
}

// next is when the earliest job is due.
func (a *agenda) next() time.Time {
	first := a.due[0]
	for _, t := range a.due[1:] {
		if t.Before(first) {
			first = t
		}
	}
	return first
}

// take returns the jobs that are due and puts them down for their next time. A
// time that was slept through is not made up for: one walk brings everything.
func (a *agenda) take(now time.Time) []job {
	var due []job
	for j := range jobCount {
		if !a.due[j].After(now) {
			due = append(due, j)
			a.due[j] = a.times.next(j, a.source, now)
		}
	}
	return due
}
