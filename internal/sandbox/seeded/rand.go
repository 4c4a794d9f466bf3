package seeded

import (
	"fmt"
	"strings"
)

// RNG is splitmix64: two instructions of state, good enough for invented
// dinners, and as cheap as recomputing an order on every request needs.
type RNG struct{ S uint64 }

// Golden is the step of splitmix64, 2^64 over the golden ratio.
const Golden = 0x9e3779b97f4a7c15

// New seeds from any number of parts; the same parts give the same sequence.
func New(parts ...uint64) RNG {
	s := uint64(Golden)
	for _, p := range parts {
		s = Mix(s ^ Mix(p+Golden))
	}
	return RNG{s}
}

// Next is uniform over 64 bits.
func (r *RNG) Next() uint64 {
	r.S += Golden
	return Mix(r.S)
}

// N is uniform in [0, n).
func (r *RNG) N(n int) int { return int((r.Next() >> 32) * uint64(n) >> 32) }

// Chance is true in the given share of a thousand.
func (r *RNG) Chance(permille int) bool { return r.N(1000) < permille }

// Float is uniform in [0, 1).
func (r *RNG) Float() float64 { return float64(r.Next()>>11) / (1 << 53) }

// Between is uniform in [lo, hi].
func (r *RNG) Between(lo, hi int) int { return lo + r.N(hi-lo+1) }

// Pick draws an index by weight.
func (r *RNG) Pick(weights []int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	x := r.N(total)
	for i, w := range weights {
		if x < w {
			return i
		}
		x -= w
	}
	return len(weights) - 1
}

// Mix is splitmix64's finalizer, a bijection of 64 bits.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Unmix undoes Mix.
func Unmix(z uint64) uint64 {
	z = (z ^ z>>31 ^ z>>62) * 0x319642b2d24d8ec3
	z = (z ^ z>>27 ^ z>>54) * 0x96de1b173f119089
	return z ^ z>>30 ^ z>>60
}

// Crockford is the alphabet of ULIDs.
const Crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// Base32 writes the lowest digits of a number, five bits each.
func Base32(v uint64, digits int) string {
	var b [13]byte
	for i := digits - 1; i >= 0; i-- {
		b[i] = Crockford[v&31]
		v >>= 5
	}
	return string(b[:digits])
}

// Hash is FNV-1a, mixed.
func Hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return Mix(h)
}

// ShortHash is 12 hexadecimal digits of the parts, for the ids that the API's description
// makes deterministic (v_, g_, x_).
func ShortHash(parts ...string) string {
	return fmt.Sprintf("%012x", Hash(strings.Join(parts, "\x00"))>>16)
}
