package write

import (
	"log/slog"
	"time"

	"github.com/larder-sync/larder/internal/text"
)

// A service that sends one bad row sends many. So the log has them once a walk, and once a
// minute of a long one: how many there were, and the first of them as an example. What
// stands in a row is not said: it may be personal, and is from outside.

// tellEvery is how often a walk that goes on tells of bad rows.
const tellEvery = time.Minute

// pendingLog is what was not logged yet about the quarantine. The writer's lock guards it.
type pendingLog struct {
	walks  int // under way, that tell at their end
	opened int
	first  badRow // of the opened
	closed int
	since  time.Time // when the oldest of it came about, or zero
}

// badRow is a row that could not be understood.
type badRow struct {
	key, id, field, reason string // key: of its entry
	entry                  entry
}

func (t *pendingLog) open(r badRow) {
	if t.opened++; t.opened == 1 {
		t.first = r
	}
}

// Walking has what a walk brings into quarantine, or out of it, logged together at its end.
func (w *Writer) Walking() (end func()) {
	w.mu.Lock()
	w.pending.walks++
	w.mu.Unlock()
	return func() {
		w.mu.Lock()
		w.pending.walks--
		w.mu.Unlock()
		w.tell()
	}
}

// tell logs what there is to tell, unless a walk is under way that will soon.
func (w *Writer) tell() {
	w.mu.Lock()
	if w.pending.opened+w.pending.closed > 0 && w.pending.since.IsZero() {
		w.pending.since = time.Now()
	}
	t := w.pending
	if w.opts.Logger == nil || t.since.IsZero() || t.walks > 0 && time.Since(t.since) < tellEvery {
		w.mu.Unlock()
		return
	}
	w.pending = pendingLog{walks: t.walks}
	open := len(w.entries.known) + w.entries.others
	w.mu.Unlock()
	const longest = 100
	log := w.opts.Logger.With("stream", w.opts.Table.Name)
	if t.opened > 0 {
		log.Warn("rows cannot be understood: they are kept in quarantine, and the walk goes on", "rows", t.opened,
			slog.Group("first", "id", text.Short(t.first.id, longest), "field", text.Short(t.first.field, longest), "reason", text.Short(t.first.reason, longest)), "open", open)
	}
	if t.closed > 0 {
		log.Info("rows have left the quarantine: they are understood now, or the service has them no more", "rows", t.closed, "open", open)
	}
}
