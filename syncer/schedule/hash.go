package schedule

import "hash/fnv"

// Hash is stable across processes and releases: shards and the spread of turns depend on
// it. FNV alone leaves its high bits much alike for names that differ in the last byte,
// so the result is mixed.
func Hash(parts ...string) uint64 {
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
