package config

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// Takes tells whether this shard takes the source: rendezvous hashing, so that
// changing the count moves as few sources as can be.
func (s Shard) Takes(source string) bool {
	best, winner := uint64(0), 0
	for i := range s.Count {
		sum := sha256.Sum256([]byte(source + "\x00" + strconv.Itoa(i)))
		if w := binary.BigEndian.Uint64(sum[:]); i == 0 || w > best {
			best, winner = w, i
		}
	}
	return winner == s.Index
}
