package write

import (
	"sync"
	"time"
)

// VersionClock is the process-wide version clock (docs/rules.md R4): microseconds of the wall clock
// while it runs forward, the last version plus one while it does not. It starts above
// everything stored, so versions grow across restarts and clock steps too.
//
// When a version is taken decides which of two overlapping answers about one row wins.
// Incremental walks take theirs when the answer has arrived, all other walks before they
// ask. A row that an incremental walk brought while a backfill page was in flight
// therefore always wins. Had it been the older of the two, the change in between is
// newer than that incremental answer, and the next incremental walk brings it.
//
// Where the service also sends rows by itself, incremental walks take theirs before they ask,
// too: what was sent meanwhile and acknowledged is not undone by an answer that was older.
// Had it been the older of the two, the next walk brings the newer.
type VersionClock struct {
	wall func() time.Time
	mu   sync.Mutex
	last uint64
}

// NewVersionClock makes a clock that follows wall.
func NewVersionClock(wall func() time.Time) *VersionClock { return &VersionClock{wall: wall} }

// StartAbove moves the clock above the highest stored version.
func (c *VersionClock) StartAbove(stored uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, stored)
}

// Take reserves n consecutive versions and returns the first.
func (c *VersionClock) Take(n int) uint64 {
	now := uint64(max(c.wall().UnixMicro(), 0))
	c.mu.Lock()
	defer c.mu.Unlock()
	first := max(c.last+1, now)
	c.last = first + uint64(max(n, 1)) - 1
	return first
}
