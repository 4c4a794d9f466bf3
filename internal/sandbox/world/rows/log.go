package rows

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// NullStamp is an updated_at of null; such rows come before all others.
const NullStamp = math.MinInt64

// Change says that row N was last changed at Stamp (microseconds). It is stale
// once the row carries another stamp.
type Change struct {
	Stamp int64
	N     uint32
}

// Compare orders changes as lists do.
func (c Change) Compare(d Change) int {
	return cmp.Or(cmp.Compare(c.Stamp, d.Stamp), cmp.Compare(c.N, d.N))
}

// Log holds rows in order of change, the oldest first. A changed row
// gets a new entry; its old one goes stale and is dropped now and then. So a walk
// by position meets an unchanged row exactly once, and a changed one again at its
// new place (docs/openapi.yaml, Lists with a cursor).
type Log struct {
	Entries []Change
	stale   int
}

// Add enters a row at a stamp, nearly always at or near the end.
func (l *Log) Add(c Change) {
	i := len(l.Entries)
	if i > 0 && l.Entries[i-1].Compare(c) >= 0 {
		i = l.behind(c)
		if i > 0 && l.Entries[i-1] == c {
			return
		}
	}
	l.Entries = slices.Insert(l.Entries, i, c)
}

// behind is the index of the first entry behind c.
func (l *Log) behind(c Change) int {
	return sort.Search(len(l.Entries), func(i int) bool { return c.Compare(l.Entries[i]) < 0 })
}

// Since is the index of the first entry at or after a stamp.
func (l *Log) Since(stamp int64) int {
	return sort.Search(len(l.Entries), func(i int) bool { return l.Entries[i].Stamp >= stamp })
}

// Outdated counts an entry gone stale, and drops all of them when they are
// more than half.
func (l *Log) Outdated(current func(Change) bool) {
	l.stale++
	if l.stale < 1024 || l.stale < len(l.Entries)/2 {
		return
	}
	kept := l.Entries[:0]
	for _, c := range l.Entries {
		if current(c) {
			kept = append(kept, c)
		}
	}
	l.Entries, l.stale = kept, 0
}

// Pos is a place in a walk: behind the change of row N at Stamp, in microseconds. The
// zero Pos is the beginning.
type Pos struct {
	Begun bool
	Stamp int64
	N     uint32
}

// Listing is what a walk of a list asks for.
type Listing struct {
	Since      int64 // in microseconds, with Mirror only
	Mirror     bool  // updated_since is set
	Tombstones bool  // include_deleted
	After      Pos
	Limit      int
}

// Emit takes one row, which write appends to what is behind it.
type Emit func(write func(out []byte) []byte)

// Page calls emit for up to q.Limit rows behind q.After that match, those since a stamp and
// those without one. It tells where the page ends and whether there is more.
func (l *Log) Page(q Listing, since int64, match func(Change) (show, stop bool), emit func(n uint32)) (end Pos, more bool) {
	i := 0
	if q.After.Begun {
		i = l.behind(Change{q.After.Stamp, q.After.N})
	}
	for count := 0; i < len(l.Entries); i++ {
		c := l.Entries[i]
		if c.Stamp != NullStamp && c.Stamp < since {
			i = l.Since(since) - 1
			continue
		}
		show, stop := match(c)
		switch {
		case stop:
			return end, false
		case !show:
			continue
		case count == q.Limit:
			return end, true
		}
		emit(c.N)
		end = Pos{Begun: true, Stamp: c.Stamp, N: c.N}
		count++
	}
	return end, false
}
