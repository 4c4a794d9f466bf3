package syncer

import (
	"sync"
	"time"
)

// versions is the process-wide version clock (DESIGN R4): microseconds of the
// wall clock while it runs forward, the last version plus one while it does not.
// It starts above everything stored, so versions grow across restarts and clock
// steps too.
//
// When a version is taken decides which of two overlapping answers about one row
// wins. Incremental walks take theirs when the answer has arrived, all other
// walks before they ask. A row that an incremental walk brought while a backfill
// page was in flight therefore always wins; had it been the older of the two, the
// change in between is newer than that incremental answer, and the next
// incremental walk brings it.
type versions struct {
	wall func() time.Time
	mu   sync.Mutex
	last uint64
}

// startAbove moves the clock above the highest stored version.
func (v *versions) startAbove(stored uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = max(v.last, stored)
}

// take reserves n consecutive versions and returns the first.
func (v *versions) take(n int) uint64 {
	now := uint64(max(v.wall().UnixMicro(), 0))
	v.mu.Lock()
	defer v.mu.Unlock()
	first := max(v.last+1, now)
	v.last = first + uint64(max(n, 1)) - 1
	return first
}
