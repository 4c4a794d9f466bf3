package list

import "hash/maphash"

// cycle finds a cursor that comes back, in constant memory (Brent's method): the
// next one is compared with the present one and with one remembered at growing
// distances.
type cycle struct {
	kept  string
	steps int
	reach int
}

// repeats is true when following next would go in circles.
func (c *cycle) repeats(current, next string) bool {
	if next == current || next == c.kept {
		return true
	}
	c.steps++
	if c.steps > c.reach {
		c.kept, c.steps, c.reach = next, 0, 2*c.reach+1
	}
	return false
}

// maxRepeats is how many pages of a walk may be like ones before them.
const maxRepeats = 20

// repetition finds a list without an end: pages that come again and again under
// cursors that are always new. A row comes once in a walk, unless it has changed
// (api.md, "Pagination and sync rules" 1); some repeats, empty pages among them, are
// taken. It looks as [cycle] does.
type repetition struct {
	seed        maphash.Seed
	last, kept  uint64
	steps, wide int
	repeats     int
}

// endless takes the rows of the next page, and reports whether it has seen enough.
func (r *repetition) endless(rows [][]byte) bool {
	if r.wide == 0 {
		r.seed, r.wide = maphash.MakeSeed(), 1
	}
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, row := range rows {
		_, _ = h.Write(row) // a maphash never fails
	}
	page := h.Sum64()
	if page == r.last || page == r.kept {
		r.repeats++
	}
	r.last = page
	if r.steps++; r.steps >= r.wide {
		r.kept, r.steps, r.wide = page, 0, 2*r.wide
	}
	return r.repeats >= maxRepeats
}
