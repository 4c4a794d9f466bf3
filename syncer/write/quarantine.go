package write

import (
	"log/slog"
	"time"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// entry is an open quarantine entry (docs/rules.md R8).
type entry struct {
	hash    uint64    // of the bad row, 0 when not known
	updated time.Time // its updated_at; zero when that is missing, cannot be read, or is not known
	seen    time.Time // when it came last, by this machine's steady clock; zero when not in this process
}

// remember notes that an entry is open. The walks of a list stop in front of a page when there are
// [sinks.MaxOpen], and a page has no more rows than that. A report of the totals and a warehouse that
// refuses rows can have more: those beyond twice as many are stored again when they repeat, over their
// own entries.
func (w *Writer) remember(key string, e entry) {
	if _, open := w.entries[key]; open || len(w.entries) < 2*sinks.MaxOpen {
		w.entries[key] = e
	} else {
		w.beyond = true
	}
}

// mayBeOpen is true when an entry of the row is open, or may be. The caller holds the lock.
func (w *Writer) mayBeOpen(id string) bool {
	_, open := w.entries[id]
	return open || w.beyond
}

// badRow is a row that could not be understood.
type badRow struct {
	key, id, field, reason string // key: of its entry
	entry                  entry
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

// ReleaseRest closes the entries of rows without an id that were not seen since an
// instant. Everything that the stream has must have been asked for since: a bad row without
// an id cannot be told from a good one that came in its place.
func (in *Intake) ReleaseRest(since time.Time) {
	w := in.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, e := range w.entries {
		if _, nameless := sinks.ContentHash(key); nameless && e.seen.Before(since) {
			in.Release(key)
		}
	}
}

// unlogged is what the log does not have yet about the quarantine.
type unlogged struct {
	opened, closed int
	first          badRow // of the opened
}

func (u *unlogged) open(r badRow) {
	if u.opened++; u.opened == 1 {
		u.first = r
	}
}

// LogQuarantine logs how many rows have entered quarantine since it was called last, with the
// first of them as an example, and how many have left it. A service that sends one bad row sends
// many: so it is called at the end of each walk. What stands in a row is not said: it may be
// personal, and is from outside.
func (w *Writer) LogQuarantine() {
	w.mu.Lock()
	u, open := w.unlogged, len(w.entries)
	w.unlogged = unlogged{}
	w.mu.Unlock()
	const longest = 100
	log, stream := w.opts.Logger, w.opts.Table.Name
	if u.opened > 0 {
		log.Warn("rows cannot be understood: they are kept in quarantine, and the walk goes on", "stream", stream, "rows", u.opened,
			slog.Group("first", "id", text.Short(u.first.id, longest), "field", text.Short(u.first.field, longest), "reason", text.Short(u.first.reason, longest)), "open", open)
	}
	if u.closed > 0 {
		log.Info("rows have left the quarantine: they are understood now, or the service has them no more", "stream", stream, "rows", u.closed, "open", open)
	}
}
