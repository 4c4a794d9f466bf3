package syncer

import (
	"strconv"

	"github.com/larder-sync/larder/syncer/schedule"
)

// Shard says which part of the sources a process takes: those whose name has its
// highest rendezvous hash at Index, among Count processes. Changing Count moves
// only the sources that must move.
type Shard struct {
	Index, Count int
}

// Takes is true when the source belongs to this process. The zero Shard takes
// every source.
func (s Shard) Takes(source string) bool {
	if s.Count <= 1 {
		return true
	}
	best, owner := uint64(0), 0
	for i := range s.Count {
		if h := schedule.Hash(source, strconv.Itoa(i)); i == 0 || h > best {
			best, owner = h, i
		}
	}
	return owner == s.Index
}
