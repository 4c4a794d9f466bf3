package syncer

import (
	"hash/maphash"
	"time"
)

// dedupeCap bounds the rows a stream remembers. What does not fit is written
// again when it repeats, which is harmless.
const dedupeCap = 20_000

// dedupe remembers what was last written of the rows that the next incremental
// walk will bring again, so that a walk over nothing new writes nothing. It is
// not safe for concurrent use; the stream's lock guards it.
type dedupe struct {
	seed maphash.Seed
	rows map[string]written
}

// written is the last written state of a row.
type written struct {
	hash    uint64
	version uint64
	stamp   int64  // updated_at in microseconds; unstamped when unknown
	walk    uint64 // the last walk that saw it
}

// unstamped marks a row or tombstone without updated_at: it repeats in walks for
// as long as the service sends it, whatever their updated_since.
const unstamped = int64(-1 << 63)

func newDedupe() *dedupe {
	return &dedupe{seed: maphash.MakeSeed(), rows: map[string]written{}}
}

func (d *dedupe) hash(raw []byte) uint64 { return maphash.Bytes(d.seed, raw) }

// unchanged tells whether the row was last written with the same bytes, or by a
// newer fetch. It keeps the row from being pruned after this walk.
func (d *dedupe) unchanged(id string, hash, version, walk uint64) bool {
	w, ok := d.rows[id]
	if !ok {
		return false
	}
	w.walk = walk
	d.rows[id] = w
	return w.hash == hash || w.version > version
}

// record notes what has been handed to the sink; an older fetch never replaces
// the note of a newer one.
func (d *dedupe) record(id string, w written) {
	old, ok := d.rows[id]
	if ok && old.version > w.version {
		return
	}
	if !ok && len(d.rows) >= dedupeCap {
		return
	}
	d.rows[id] = w
}

// prune forgets the rows that no coming walk will bring again: older than floor
// and not seen by the given walk or one since.
func (d *dedupe) prune(floor time.Time, walk uint64) {
	limit := floor.UnixMicro()
	for id, w := range d.rows {
		if w.stamp < limit && w.walk < walk {
			delete(d.rows, id)
		}
	}
}
