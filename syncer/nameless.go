package syncer

import (
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// A bad row without an id cannot be told from a good one that came in its place, so
// its quarantine entry closes when the row as it was is not there any more: when a
// whole walk that would bring it has not. A full resync and a list that is replaced as
// a whole bring everything; an incremental walk brings what has changed since its
// updated_since, so it tells of rows with a later updated_at; an answer of the totals
// tells of the days that were asked for.

// nameless is a bad row without an id, by key.
type nameless struct {
	key     string
	updated time.Time // zero when it has none that can be read
}

// sighting is where and when such a row was seen last.
type sighting struct {
	list    string // the track's name
	days    span   // of totals
	updated time.Time
	at      time.Time // by this machine's steady clock
}

// updatedAt is a row's updated_at, zero when it has none that can be read.
func updatedAt(raw []byte) time.Time {
	var row struct {
		UpdatedAt string `json:"updated_at"`
	}
	if unmarshal(raw, &row) != nil {
		return time.Time{}
	}
	return mapping.Instant(row.UpdatedAt)
}

// sighted notes the rows without an id of a page.
func (st *stream) sighted(in *intake, list string, days span) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, n := range in.nameless {
		if st.bad.seen == nil {
			st.bad.seen = map[string]sighting{}
		}
		if _, known := st.bad.seen[n.key]; known || len(st.bad.seen) < openCap {
			st.bad.seen[n.key] = sighting{list, days, n.updated, time.Now()}
		}
	}
}

// releaseUnseen closes the entries of rows that were seen last before an instant, and
// that would have been seen since.
func (st *stream) releaseUnseen(in *intake, before time.Time, comes func(sighting) bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for key, s := range st.bad.seen {
		if !s.at.Before(before) {
			continue
		}
		switch _, open := st.bad.known[key]; {
		case !open && !st.bad.beyond:
			delete(st.bad.seen, key)
		case comes(s):
			in.release(key)
		}
	}
}

// holds tells whether what was seen among some days would be seen among these.
func (sp span) holds(s sighting) bool {
	return s.days.from != "" && s.days.location == sp.location && sp.from <= s.days.from && s.days.to <= sp.to
}

// releaseRest closes the entries of rows without an id that were not seen since an
// instant, when everything that the stream has was asked for since.
func (st *stream) releaseRest(in *intake, since time.Time) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for key := range st.bad.known {
		if _, nameless := sinks.ContentHash(key); nameless && st.bad.seen[key].at.Before(since) {
			in.release(key)
		}
	}
}

// cure closes the entries of rows that the walk, whose last page is at hand, has not
// brought again.
func (w *walk) cure(in *intake) {
	st, since := w.track.stream, w.progress.cp.Since
	if w.begun.IsZero() {
		return // it began in another run, which saw its first pages
	}
	st.releaseUnseen(in, w.begun, func(s sighting) bool {
		return s.list == w.track.name() && (since.IsZero() || !s.updated.IsZero() && !s.updated.Before(since))
	})
}
