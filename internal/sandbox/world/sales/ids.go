package sales

import (
	"strings"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// orderIDs turns the number of an order into an id and back, so that a million
// ids need no memory: 48 bits of time, as in a ULID, 16 bits of hash, and 64
// bits that hold the number, scrambled.
type orderIDs struct {
	key     uint64
	strange bool
}

const (
	orderIDLen    = 26
	strangePrefix = `ord/%2F "ă🍕' `
)

// append writes the id of order n, which was opened at created (microseconds).
// In a strange world odd orders have the id of the even one before, in lower
// case.
func (o *orderIDs) append(b []byte, n uint32, created func(uint32) int64) []byte {
	if !o.strange {
		return appendULID(b, created(n), o.key, n)
	}
	b = append(b, strangePrefix...)
	start := len(b)
	even := n &^ 1
	b = appendULID(b, created(even), o.key, even)
	if n&1 == 1 {
		for i := start; i < len(b); i++ {
			if b[i] >= 'A' {
				b[i] |= 0x20
			}
		}
	}
	return b
}

func appendULID(b []byte, us int64, key uint64, n uint32) []byte {
	lo := seeded.Mix(uint64(n) ^ key)
	hi := uint64(us/1000)<<16 | seeded.Mix(lo^seeded.Golden)&0xffff
	for shift := 125; shift >= 0; shift -= 5 {
		var v uint64
		switch {
		case shift >= 64:
			v = hi >> (shift - 64)
		case shift > 59:
			v = hi<<(64-shift) | lo>>shift
		default:
			v = lo >> shift
		}
		b = append(b, seeded.Crockford[v&31])
	}
	return b
}

// number reads the number back; the caller checks that it is that order's id.
func (o *orderIDs) number(id string) (uint32, bool) {
	odd := false
	if o.strange {
		rest, ok := strings.CutPrefix(id, strangePrefix)
		if !ok {
			return 0, false
		}
		id = strings.ToUpper(rest)
		odd = id != rest
	}
	if len(id) != orderIDLen {
		return 0, false
	}
	var lo uint64
	for i := range len(id) {
		v := strings.IndexByte(seeded.Crockford, id[i])
		if v < 0 {
			return 0, false
		}
		lo = lo<<5 | uint64(v)
	}
	n := seeded.Unmix(lo) ^ o.key
	if n > 1<<32-1 {
		return 0, false
	}
	if odd {
		n |= 1
	}
	return uint32(n), true
}
