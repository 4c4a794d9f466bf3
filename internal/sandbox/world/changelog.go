package world

import (
	"math"
	"sort"
)

// nullStamp is an updated_at of null; such rows come before all others.
const nullStamp = math.MinInt64

// change says that row n was last changed at stamp (microseconds). It is stale
// once the row carries another stamp.
type change struct {
	stamp int64
	n     uint32
}

func (c change) less(d change) bool {
	return c.stamp < d.stamp || c.stamp == d.stamp && c.n < d.n
}

// changeLog holds rows in order of change: "oldest change first". A changed row
// gets a new entry; its old one goes stale and is dropped now and then. So a walk
// by position meets an unchanged row exactly once, and a changed one again at its
// new place (api.md, "Pagination and sync rules" 1).
type changeLog struct {
	entries []change
	stale   int
}

// add enters a row at a stamp, nearly always at or near the end.
func (l *changeLog) add(c change) {
	i := len(l.entries)
	if i > 0 && !l.entries[i-1].less(c) {
		i = l.after(c) // first entry > c
		if i > 0 && l.entries[i-1] == c {
			return
		}
	}
	l.entries = append(l.entries, change{})
	copy(l.entries[i+1:], l.entries[i:])
	l.entries[i] = c
}

// after is the index of the first entry behind c.
func (l *changeLog) after(c change) int {
	return sort.Search(len(l.entries), func(i int) bool { return c.less(l.entries[i]) })
}

// since is the index of the first entry at or after a stamp.
func (l *changeLog) since(stamp int64) int {
	return sort.Search(len(l.entries), func(i int) bool { return l.entries[i].stamp >= stamp })
}

// outdated counts an entry gone stale, and drops all of them when they are
// more than half.
func (l *changeLog) outdated(current func(change) bool) {
	l.stale++
	if l.stale < 1024 || l.stale < len(l.entries)/2 {
		return
	}
	kept := l.entries[:0]
	for _, c := range l.entries {
		if current(c) {
			kept = append(kept, c)
		}
	}
	l.entries, l.stale = kept, 0
}
