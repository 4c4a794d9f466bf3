package world

import "sync"

// Pos is a place in a walk: behind the change of row N at Stamp, in microseconds. The
// zero Pos is the beginning.
type Pos struct {
	Begun bool
	Stamp int64
	N     uint32
}

func behind(c change) Pos { return Pos{Begun: true, Stamp: c.stamp, N: c.n} }

// from is where a walk goes on in a log.
func (p Pos) from(log *changeLog) int {
	if !p.Begun {
		return 0
	}
	return log.after(change{p.Stamp, p.N})
}

// row is a row of a list that is kept whole (categories, products, ingredients).
type row[T any] struct {
	id        string
	n         uint32
	loc       int // index of the location, or sharedLocation
	stamp     int64
	created   int64
	deletedAt int64 // 0 while it lives
	purged    bool  // permanently deleted: it left without a tombstone
	val       T
	json      []byte // as served, dropped with every change
	raw       []byte // served instead, set by tests
}

// sharedLocation is the location of a row that every location shares.
const sharedLocation = -1

func (r *row[T]) deleted() bool { return r.deletedAt != 0 }

// table is one list of one restaurant. The business' lock guards it.
type table[T any] struct {
	name   string
	rows   []*row[T]
	byID   map[string]*row[T]
	log    changeLog
	encode func(*row[T]) []byte
	cached sync.Mutex // guards the json of rows among readers
}

func newTable[T any](name string, encode func(*row[T]) []byte) *table[T] {
	return &table[T]{name: name, byID: map[string]*row[T]{}, encode: encode}
}

func (t *table[T]) add(id string, loc int, created, stamp int64, val T) *row[T] {
	r := &row[T]{id: id, n: uint32(len(t.rows)), loc: loc, created: created, stamp: stamp, val: val}
	t.rows = append(t.rows, r)
	t.byID[id] = r
	t.log.add(change{stamp, r.n})
	return r
}

// touch moves a row to its new place in the order of change.
func (t *table[T]) touch(r *row[T], stamp int64) {
	r.json = nil
	if r.stamp == stamp {
		return
	}
	r.stamp = stamp
	t.log.add(change{stamp, r.n})
	t.log.outdated(t.current)
}

func (t *table[T]) purge(r *row[T]) {
	r.purged = true
	delete(t.byID, r.id)
}

func (t *table[T]) current(c change) bool {
	r := t.rows[c.n]
	return r.stamp == c.stamp && !r.purged
}

// live is the row of an id, or nil when there is none or only a tombstone.
func (t *table[T]) live(id string) *row[T] {
	if r := t.byID[id]; r != nil && !r.deleted() {
		return r
	}
	return nil
}

func (t *table[T]) bytes(r *row[T]) []byte {
	if r.raw != nil {
		return r.raw
	}
	t.cached.Lock()
	defer t.cached.Unlock()
	if r.json == nil {
		r.json = t.encode(r)
	}
	return r.json
}

// page calls emit for up to q.Limit rows behind q.After, and tells where the
// page ends and whether there is more.
func (t *table[T]) page(q Listing, match func(*row[T]) bool, emit func(*row[T])) (end Pos, more bool) {
	i := q.After.from(&t.log)
	for count := 0; i < len(t.log.entries); i++ {
		c := t.log.entries[i]
		if q.Mirror && c.stamp != nullStamp && c.stamp < q.Since {
			i = t.log.since(q.Since) - 1
			continue
		}
		r := t.rows[c.n]
		if !t.current(c) || !q.shows(r.deleted(), c.stamp) || !match(r) {
			continue
		}
		if count == q.Limit {
			return end, true
		}
		emit(r)
		end = behind(c)
		count++
	}
	return end, false
}

// shows tells whether a row belongs to the walk. A live row without updated_at
// was not changed "at or after" anything; a tombstone without one comes anyway.
func (q *Listing) shows(deleted bool, stamp int64) bool {
	if deleted {
		return q.Mirror || q.Tombstones
	}
	return !q.Mirror || stamp != nullStamp
}
