package stream

import (
	"slices"
	"time"
)

// Pace is how fast the pages of a long walk come, whatever holds them: the limits, the
// service, or the work that is done with them. It is the median of the last intervals,
// so that a pause between two pages says nothing about the others.
type Pace struct {
	last      time.Time
	intervals []time.Duration // the last few, in a ring
	next      int
}

// paceOver is how many intervals count.
const paceOver = 15

// Page notes that a page has come.
func (p *Pace) Page(now time.Time) {
	defer func() { p.last = now }()
	if p.last.IsZero() {
		return
	}
	took := now.Sub(p.last)
	if len(p.intervals) < paceOver {
		p.intervals = append(p.intervals, took)
		return
	}
	p.intervals[p.next] = took
	p.next = (p.next + 1) % paceOver
}

// Left is how long so many more pages take at this pace, 0 while it is not known.
func (p *Pace) Left(pages uint64) time.Duration {
	if len(p.intervals) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(p.intervals))
	return time.Duration(pages) * sorted[len(sorted)/2]
}
