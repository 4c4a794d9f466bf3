package engine

import "fmt"

// MemoryLimit is how much memory the engine may use, in bytes. All other amounts follow from
// it: what statements, merges and caches may use.
type MemoryLimit int64

const (
	// defaultMemory is the limit of those who set none.
	defaultMemory MemoryLimit = 2 << 30
	// MinMemory is what the engine needs to take in rows and to merge them.
	MinMemory MemoryLimit = 128 << 20
)

// MemoryLimitOf is the limit that a number of bytes means: 0 is the default.
func MemoryLimitOf(bytes int64) (MemoryLimit, error) {
	l := MemoryLimit(bytes)
	if l <= 0 {
		l = defaultMemory
	}
	if l < MinMemory {
		return 0, fmt.Errorf("too little memory for the embedded engine: %d MiB, it needs %d", l>>20, MinMemory>>20)
	}
	return l, nil
}

// engineItself is what the engine counts as its own before any statement runs: 25 MiB
// at the start, 50 when it has been at work for a while.
const engineItself = 48 << 20

// Statement is the limit of one statement: others can run beside the hungriest.
func (l MemoryLimit) Statement() int64 { return (int64(l) - engineItself) / 8 * 5 }

// Merges is beyond what no merge is begun.
func (l MemoryLimit) Merges() int64 { return int64(l) / 4 }

// Cache is the limit of each cache.
func (l MemoryLimit) Cache() int64 { return min(int64(l)/32, 512<<20) }

// Untracked is how much a thread allocates before it is counted: a dozen threads make a
// difference to a small limit.
func (l MemoryLimit) Untracked() int64 { return min(int64(l)>>9, 4<<20) }

// MergeBlock is how much of a table a merge writes at a time.
func (l MemoryLimit) MergeBlock() int64 { return min(int64(l)>>7, 10<<20) }

// MergeThreads is how many merges run at once.
func (l MemoryLimit) MergeThreads() int64 { return min(max(int64(l)>>28, 2), 16) }
