package world

import (
	"fmt"
	"strings"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// idMaker invents ids. They are opaque to everyone but orderIDs.
type idMaker struct {
	seed    uint64
	strange bool
	next    map[string]int
}

func newIDMaker(seed uint64, strange bool) *idMaker {
	return &idMaker{seed: seed, strange: strange, next: map[string]int{}}
}

func (m *idMaker) make(kind string) string {
	n := m.next[kind]
	m.next[kind]++
	if m.strange {
		return strangeID(kind, n)
	}
	g := seeded.New(m.seed, uint64(n), seeded.Hash(kind))
	return kind + "_" + seeded.Base32(g.Next(), 13)
}

// strangeID makes ids that break clients which parse, trim, fold or forget to
// escape. Two of each eight differ in case only.
func strangeID(kind string, n int) string {
	k := n / 8
	switch n % 8 {
	case 0:
		return fmt.Sprintf("%s/%d/../x", kind, k)
	case 1:
		return fmt.Sprintf("%s%%2F%d%%", kind, k)
	case 2:
		return fmt.Sprintf(`%s"%d'\"`, kind, k)
	case 3:
		return fmt.Sprintf(" %s %d ", kind, k)
	case 4:
		return fmt.Sprintf("%s🍲%dș", kind, k)
	case 5:
		return fmt.Sprintf("%sCase%d", kind, k)
	case 6:
		return fmt.Sprintf("%scASE%d", kind, k)
	default:
		return fmt.Sprintf("%s?a=%d&b=#;+", kind, k)
	}
}

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
