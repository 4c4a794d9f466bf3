package sandbox

// rng is splitmix64: two instructions of state, good enough for invented
// dinners, and as cheap as recomputing an order on every request needs.
type rng struct{ s uint64 }

const golden = 0x9e3779b97f4a7c15

// newRng seeds from any number of parts; the same parts give the same sequence.
func newRng(parts ...uint64) rng {
	s := uint64(golden)
	for _, p := range parts {
		s = mix(s ^ mix(p+golden))
	}
	return rng{s}
}

func (r *rng) next() uint64 {
	r.s += golden
	return mix(r.s)
}

// n is uniform in [0, n).
func (r *rng) n(n int) int { return int((r.next() >> 32) * uint64(n) >> 32) }

// chance is true in the given share of a thousand.
func (r *rng) chance(permille int) bool { return r.n(1000) < permille }

// float is uniform in [0, 1).
func (r *rng) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// between is uniform in [lo, hi].
func (r *rng) between(lo, hi int) int { return lo + r.n(hi-lo+1) }

// pick draws an index by weight.
func (r *rng) pick(weights []int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	x := r.n(total)
	for i, w := range weights {
		if x < w {
			return i
		}
		x -= w
	}
	return len(weights) - 1
}

// mix is splitmix64's finalizer, a bijection of 64 bits; unmix undoes it.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func unmix(z uint64) uint64 {
	z = (z ^ z>>31 ^ z>>62) * 0x319642b2d24d8ec3
	z = (z ^ z>>27 ^ z>>54) * 0x96de1b173f119089
	return z ^ z>>30 ^ z>>60
}
