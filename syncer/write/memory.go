package write

import (
	"hash/maphash"
	"time"
)

// memoryCap bounds the rows a writer remembers. What does not fit is written again when
// it repeats, which is harmless.
const memoryCap = 20_000

// memory is what was last written of the rows that the next incremental walk will bring
// again, so that a walk over nothing new writes nothing. The writer's lock guards it.
type memory struct {
	seed maphash.Seed
	rows map[string]written
	// forgotten is the highest version that was written and is not remembered.
	forgotten uint64
}

// written is the last written state of a row.
type written struct {
	hash    uint64 // 0: it may have lost to a state that is forgotten, and whatever comes next is written
	version uint64
	stamp   int64  // updated_at in microseconds; unstamped when unknown
	walk    uint64 // the last walk that saw it
}

// unstamped marks a row or tombstone without updated_at. It repeats in walks for as long
// as the service sends it, whatever their updated_since.
const unstamped = int64(-1 << 63)

func newMemory() *memory {
	return &memory{seed: maphash.MakeSeed(), rows: map[string]written{}}
}

func (m *memory) hash(raw []byte) uint64 { return maphash.Bytes(m.seed, raw) }

// unchanged is true when the row was last written with the same bytes, or by a newer
// fetch. It keeps the row from being pruned after this walk.
func (m *memory) unchanged(id string, hash, version, walk uint64) bool {
	w, ok := m.rows[id]
	if !ok {
		return false
	}
	w.walk = walk
	m.rows[id] = w
	return w.hash == hash || w.version > version
}

// newer is true when a newer fetch of the row was written.
func (m *memory) newer(id string, version uint64) bool { return m.rows[id].version > version }

// record notes what the sink has taken. An older fetch never replaces the note of a
// newer one.
func (m *memory) record(id string, w written) {
	old, ok := m.rows[id]
	if ok && old.version > w.version {
		return
	}
	if !ok && len(m.rows) >= memoryCap {
		m.forget(w.version)
		return
	}
	m.rows[id] = w
}

func (m *memory) forget(version uint64) { m.forgotten = max(m.forgotten, version) }

// prune forgets the rows that no coming walk will bring again: older than floor and not
// seen by the given walk or one since.
func (m *memory) prune(floor time.Time, walk uint64) {
	limit := floor.UnixMicro()
	for id, w := range m.rows {
		if w.stamp < limit && w.walk < walk {
			m.forget(w.version)
			delete(m.rows, id)
		}
	}
}
