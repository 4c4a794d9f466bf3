package memory

import (
	"errors"
	"fmt"
)

// Limit is how much memory the engine may use, in bytes. All other amounts follow from it.
type Limit int64

// Default is the limit of those who set none.
const Default Limit = 2 << 30

// Min is what the engine needs to take in rows and to merge them.
const Min Limit = 128 << 20

// ErrTooLittle is what errors.Is finds when an engine is given too little memory.
var ErrTooLittle = errors.New("too little memory for the embedded engine")

// Of is the limit that a number of bytes means: 0 is Default.
func Of(bytes int64) (Limit, error) {
	l := Limit(bytes)
	if l <= 0 {
		l = Default
	}
	if l < Min {
		return 0, fmt.Errorf("%w: %d MiB, it needs %d", ErrTooLittle, l>>20, Min>>20)
	}
	return l, nil
}

// engineItself is what the engine counts as its own before any statement runs: 25 MiB
// at the start, 50 when it has been at work for a while.
const engineItself = 48 << 20

// Statement is the limit of one statement: beside the hungriest there is room for others.
func (l Limit) Statement() int64 { return (int64(l) - engineItself) / 8 * 5 }

// Merges is beyond what no merge is begun.
func (l Limit) Merges() int64 { return int64(l) / 4 }

// Cache is the limit of each cache.
func (l Limit) Cache() int64 { return min(int64(l)/32, 512<<20) }

// Untracked is how much a thread allocates before it is counted: a dozen threads make a
// difference to a small limit.
func (l Limit) Untracked() int64 { return min(int64(l)>>9, 4<<20) }

// MergeBlock is how much of a table a merge writes at a time.
func (l Limit) MergeBlock() int64 { return min(int64(l)>>7, 10<<20) }

// MergeThreads is how many merges run at once.
func (l Limit) MergeThreads() int64 { return min(max(int64(l)>>28, 2), 16) }
