package stream

import (
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
)

// Pace is how fast the pages of a long walk come, whatever holds them: the limits, the
// service, or the work that is done with them. It is the median of the last intervals, of
// two in the middle the shorter: a pause between two pages is no measure of the others.
type Pace struct {
	mu        sync.Mutex
	last      time.Time
	intervals []time.Duration // the last few, in a ring
	next      int
}

// paceOver is how many intervals count.
const paceOver = 15

// Page notes that a page has come.
func (p *Pace) Page(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.intervals) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(p.intervals))
	return time.Duration(pages) * sorted[(len(sorted)-1)/2]
}

// RequestsLeft is how many pages are still to come when total live rows are known
// to exist, rows of them have come, and removed tombstones between them.
func RequestsLeft(total, rows, removed uint64) uint64 {
	remaining := uint64(1) // the page that says it is the last
	if total > rows {
		remaining = total - rows
	}
	if rows > 0 {
		remaining += remaining * removed / rows
	}
	return (remaining + api.PageLimit - 1) / api.PageLimit
}
