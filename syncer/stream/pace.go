package stream

import (
	"slices"
	"sync"
	"time"
)

// Pace is how fast the pages of a long walk come, whatever holds them: the limits, the
// service, or the work that is done with them. It is the median of the last intervals, of
// two in the middle the shorter: a pause between two pages is no measure of the others.
type Pace struct {
	mu        sync.Mutex
	last      time.Time
	intervals []time.Duration // the last few
}

// paceOver is how many intervals count.
const paceOver = 15

// Page notes that a page has come.
func (p *Pace) Page(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		p.intervals = append(p.intervals, now.Sub(p.last))
		p.intervals = p.intervals[max(0, len(p.intervals)-paceOver):]
	}
	p.last = now
}

// Left is how long so many more pages take at this pace, 0 while it is not known.
func (p *Pace) Left(pages uint64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.intervals) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(p.intervals))
	return time.Duration(pages) * sorted[(len(sorted)-1)/2]
}
