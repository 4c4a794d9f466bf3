package write

import (
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// entriesCap bounds the open quarantine entries that a writer remembers. A bad row
// beyond it is stored again when it repeats, over its own entry.
const entriesCap = sinks.MaxOpen

// MaxEntries is how many entries of a stream may be open before its walks stop. A
// service that sends nothing but bad rows would else fill the warehouse with them.
const MaxEntries = 100_000

// entries are the open quarantine entries of a stream (DESIGN R8), by
// [sinks.Quarantined.Key]. The writer's lock guards them.
type entries struct {
	known map[string]entry
	// beyond: there may be entries that did not fit, so any row that turns out good may
	// close one.
	beyond bool
	others int // about how many of those there are
	// sightings are where the rows without an id were seen last, by key.
	sightings map[string]Sighting
}

func newEntries() entries {
	return entries{known: map[string]entry{}, sightings: map[string]Sighting{}}
}

// entry is what is remembered of an open entry.
type entry struct {
	hash    uint64    // of the bad row, 0 when not known
	updated time.Time // its updated_at; zero when that is missing, cannot be read, or is not known
}

// full is true when no more entries are to be opened.
func (e *entries) full() bool { return len(e.known)+e.others >= MaxEntries }

func (e *entries) put(key string, of entry) {
	if _, ok := e.known[key]; !ok && len(e.known) >= entriesCap {
		e.beyond = true
		e.others++
		return
	}
	e.known[key] = of
}

// restore takes over what the sink has stored.
func (e *entries) restore(keys []string) {
	for _, key := range keys {
		e.put(key, entry{})
	}
	e.beyond = e.beyond || len(keys) > entriesCap
}

// same is true when the entry holds the same bad row.
func (e *entries) same(key string, hash uint64) bool { return e.known[key].hash == hash }

// maybe is true when an entry of the row may be open.
func (e *entries) maybe(key string) bool {
	_, ok := e.known[key]
	return ok || e.beyond
}

// close forgets an entry.
func (e *entries) close(key string) {
	if _, ok := e.known[key]; !ok {
		e.others = max(e.others-1, 0)
	}
	delete(e.known, key)
	delete(e.sightings, key)
}

// A bad row without an id cannot be told from a good one that came in its place. So its
// entry closes when the row as it was is not there any more: when a whole walk that would
// bring it has not. A full resync and a list that is replaced as a whole bring
// everything. An answer of the totals tells of the days that were asked for.

// Sighting is where and when a bad row without an id was seen last.
type Sighting struct {
	From, To string    // the days that were asked for, of totals
	Location string    // of totals: empty for all locations together
	At       time.Time // by this machine's steady clock
}

// UpdatedAt is a row's updated_at, zero when it has none that can be read.
func UpdatedAt(raw []byte) time.Time {
	var row struct {
		UpdatedAt string `json:"updated_at"`
	}
	if mapping.Unmarshal(raw, &row) != nil {
		return time.Time{}
	}
	return mapping.Instant(row.UpdatedAt)
}

// Sighted notes where the page's rows without an id were seen.
func (in *Intake) Sighted(where Sighting) {
	w := in.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &w.entries
	for _, key := range in.nameless {
		if _, known := e.sightings[key]; known || len(e.sightings) < entriesCap {
			where.At = time.Now()
			e.sightings[key] = where
		}
	}
}

// ReleaseUnseen closes the entries of rows without an id that were seen last before an
// instant, and that would have been seen since.
func (in *Intake) ReleaseUnseen(before time.Time, comes func(Sighting) bool) {
	w := in.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &w.entries
	for key, s := range e.sightings {
		if !s.At.Before(before) {
			continue
		}
		switch _, open := e.known[key]; {
		case !open && !e.beyond:
			delete(e.sightings, key)
		case comes(s):
			in.Release(key)
		}
	}
}

// ReleaseRest closes the entries of rows without an id that were not seen since an
// instant. Everything that the stream has must have been asked for since.
func (in *Intake) ReleaseRest(since time.Time) {
	w := in.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range w.entries.known {
		if _, nameless := sinks.ContentHash(key); nameless && w.entries.sightings[key].At.Before(since) {
			in.Release(key)
		}
	}
}
