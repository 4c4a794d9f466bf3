package syncer

import (
	"hash/fnv"
	"strconv"
)

// Shard says which part of the sources a process takes: those whose name has its
// highest rendezvous hash at Index, among Count processes. Changing Count moves
// only the sources that must move.
type Shard struct {
	Index, Count int
}

// Takes tells whether the source belongs to this process. The zero Shard takes
// every source.
func (s Shard) Takes(source string) bool {
	if s.Count <= 1 {
		return true
	}
	best, owner := uint64(0), 0
	for i := range s.Count {
		if h := nameHash(source, strconv.Itoa(i)); i == 0 || h > best {
			best, owner = h, i
		}
	}
	return owner == s.Index
}

// nameHash is stable across processes and releases: shards and the spread of the
// schedule depend on it. FNV alone leaves its high bits much alike for names that
// differ in the last byte, so the result is mixed.
func nameHash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p)) // a hash.Hash never returns an error
		h.Write([]byte{0})
	}
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
