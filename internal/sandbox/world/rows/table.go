package rows

import (
	"errors"
	"sync"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// ErrNoRow is for an id that is no row's.
var ErrNoRow = errors.New("no such row")

// Row is a row of a list that is kept whole (categories, products, ingredients).
type Row[T any] struct {
	ID        string
	N         uint32
	Loc       int // index of the location, or Shared
	Stamp     int64
	Created   int64
	deletedAt int64 // 0 while it lives
	purged    bool  // permanently deleted: it left without a tombstone
	Val       T
	json      []byte // as served, dropped with every change
	raw       []byte // served instead, set by tests
}

// Shared is the location of a row that every location shares.
const Shared = -1

// Live is true of a row that is neither deleted nor purged.
func (r *Row[T]) Live() bool { return r.deletedAt == 0 && !r.purged }

// Purged is true of a row that was deleted permanently.
func (r *Row[T]) Purged() bool { return r.purged }

// Table is one list of one restaurant.
type Table[T any] struct {
	Rows []*Row[T] // in the order they were made
	// OnEdit is called with each row that Edit has changed; nil for nobody.
	OnEdit func(r *Row[T], e Edit)

	*Common
	kind   string // of its ids
	byID   map[string]*Row[T]
	log    Log
	encode func(*Row[T]) []byte // of a live row
	cached sync.Mutex           // guards the json of rows among readers
}

// NewTable makes an empty list. kind is what its ids begin with.
func NewTable[T any](c *Common, kind string, encode func(*Row[T]) []byte) *Table[T] {
	return &Table[T]{Common: c, kind: kind, byID: map[string]*Row[T]{}, encode: encode}
}

// Add makes a row.
func (t *Table[T]) Add(loc int, created, stamp int64, val T) *Row[T] {
	r := &Row[T]{ID: t.IDs.Make(t.kind), N: uint32(len(t.Rows)), Loc: loc, Created: created, Stamp: stamp, Val: val}
	t.Rows = append(t.Rows, r)
	t.byID[r.ID] = r
	t.log.Add(Change{stamp, r.N})
	return r
}

// AddPast makes a row of the first world, the i-th of its kind.
func (t *Table[T]) AddPast(g *seeded.RNG, loc, i int, val T) *Row[T] {
	created, stamp := t.pastStamps(g)
	return t.Add(loc, created, t.maybeNull(stamp, i), val)
}

// Touch moves a changed row to its new place in the order of change.
func (t *Table[T]) Touch(r *Row[T], stamp int64) {
	r.json = nil
	if r.Stamp == stamp {
		return
	}
	r.Stamp = stamp
	t.log.Add(Change{stamp, r.N})
	t.log.Outdated(t.current)
}

func (t *Table[T]) current(c Change) bool {
	r := t.Rows[c.N]
	return r.Stamp == c.Stamp && !r.purged
}

// Live is the row of an id, or nil when there is none or only a tombstone.
func (t *Table[T]) Live(id string) *Row[T] {
	if r := t.byID[id]; r != nil && r.Live() {
		return r
	}
	return nil
}

// JSON is a row as it is served.
func (t *Table[T]) JSON(r *Row[T]) []byte {
	if r.raw != nil {
		return r.raw
	}
	t.cached.Lock()
	defer t.cached.Unlock()
	switch {
	case r.json != nil:
	case r.deletedAt != 0:
		r.json = t.tombstone(r.ID, r.Stamp, r.deletedAt)
	default:
		r.json = t.encode(r)
	}
	return r.json
}

// Page lists rows that match.
func (t *Table[T]) Page(q Listing, match func(*Row[T]) bool, emit func(*Row[T])) (end Pos, more bool) {
	since := int64(NullStamp)
	if q.Mirror {
		since = q.Since
	}
	return t.log.Page(q, since, func(c Change) (show, stop bool) {
		r := t.Rows[c.N]
		return t.current(c) && q.shows(r.deletedAt != 0, c.Stamp) && match(r), false
	}, func(n uint32) { emit(t.Rows[n]) })
}

// shows is true when a row belongs to the walk. A live row without updated_at
// was not changed "at or after" anything; a tombstone without one comes anyway.
func (q *Listing) shows(deleted bool, stamp int64) bool {
	if deleted {
		return q.Mirror || q.Tombstones
	}
	return !q.Mirror || stamp != NullStamp
}

// Edit is a change of a row of any list; the zero Edit stamps it anew without another.
type Edit struct {
	Location string // id of where it moves; "" for nowhere
	Remove   bool   // it gets a tombstone
	Restore  bool
	Purge    bool // it leaves without a tombstone, and nothing is stamped
	SetRaw   bool
	Raw      []byte // served in place of the row
}

// Edit changes the row of an id, which may be a tombstone.
func (t *Table[T]) Edit(id string, e Edit, stamp int64) error {
	r := t.byID[id]
	if r == nil {
		return ErrNoRow
	}
	if err := t.edit(r, e, stamp); err != nil {
		return err
	}
	if t.OnEdit != nil {
		t.OnEdit(r, e)
	}
	return nil
}

func (t *Table[T]) edit(r *Row[T], e Edit, stamp int64) error {
	switch {
	case e.Purge:
		r.purged = true
		delete(t.byID, r.ID)
		return nil
	case e.Remove:
		r.deletedAt = stamp
		if t.Readings.NullTombstones {
			stamp = NullStamp
		}
	case e.Restore:
		r.deletedAt = 0
	case e.SetRaw:
		r.raw = e.Raw
	case e.Location != "":
		loc, err := t.Locations.Find(e.Location)
		if err != nil {
			return err
		}
		r.Loc = loc
	}
	t.Touch(r, stamp)
	return nil
}

// LiveIDs are the ids of the rows that live, in the order they were made.
func (t *Table[T]) LiveIDs() []string {
	var ids []string
	for _, r := range t.Rows {
		if r.Live() {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Truth yields what a mirror must hold of the locations that it sees.
func (t *Table[T]) Truth(sees func(loc int) bool, yield func(TruthRow) error) error {
	for _, r := range t.Rows {
		if !sees(r.Loc) {
			continue
		}
		row := TruthRow{ID: r.ID}
		switch {
		case r.purged:
			row.Reason = ReasonGone
		case r.deletedAt != 0:
			row.Reason = ReasonDeleted
		default:
			row.Row = t.JSON(r)
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

// Stamps are those of the rows that a walk shows, tombstones included, by id. Those without
// one are left out.
func (t *Table[T]) Stamps(sees func(loc int) bool) map[string]Stamp {
	all := make(map[string]Stamp, len(t.Rows))
	for _, r := range t.Rows {
		if r.Stamp != NullStamp && !r.purged && sees(r.Loc) {
			all[r.ID] = t.Stamp(r.Stamp, r.Loc, r.deletedAt != 0)
		}
	}
	return all
}
