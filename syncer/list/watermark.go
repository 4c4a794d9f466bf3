package list

import (
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
)

const (
	// Lookback is subtracted from the watermark to start the next incremental
	// walk (api.md, "Pagination and sync rules" 2).
	Lookback = 2 * time.Minute
	// MaxFutureStamp is how far a stamp may be in front of the service's clock and still
	// move the watermark (DESIGN R2).
	MaxFutureStamp = time.Minute
	// margin is kept in memory below the next walk's start.
	margin = time.Minute
)

// Watermark moves the checkpoint of a walk along its rows, and returns where walks start
// (DESIGN R2, R3). All of the rule is here: what a checkpoint stores is exact, and the lookback
// is subtracted where a start is read.
type Watermark struct {
	Cp   *sinks.Checkpoint
	last time.Time // newest stamp of this run of the walk
}

// observe takes the updated_at of the next row, zero for none, as answered at
// now by the service's clock. It reports a stamp from the future, which never
// moves the watermark: the walks after it would be blind until then.
func (w *Watermark) observe(updated, now time.Time) (future bool) {
	if updated.IsZero() {
		return false
	}
	if updated.After(now.Add(MaxFutureStamp)) {
		return true
	}
	if updated.Before(w.last) || w.disordered() {
		w.Cp.Pending = stream.Later(w.Cp.Pending, updated)
	} else {
		w.Cp.Watermark = stream.Later(w.Cp.Watermark, updated)
	}
	w.last = stream.Later(w.last, updated)
	return false
}

// disordered reports whether a row came out of order of updated_at.
func (w *Watermark) disordered() bool { return !w.Cp.Pending.IsZero() }

// done closes the walk: everything it was to bring has been brought, so the order
// of its pages no longer matters.
func (w *Watermark) done() {
	w.Cp.Watermark = stream.Later(w.Cp.Watermark, w.Cp.Pending)
	w.Cp.Pending = time.Time{}
	w.Cp.Cursor = ""
	if !w.Cp.Watermark.IsZero() {
		w.Cp.Since = time.Time{}
	}
}

// answered notes when a walk's first answer was made, at the latest: StartedAt was
// guessed with a clock of ours, which may have been moved since it was compared
// with the service's.
func (w *Watermark) answered(at time.Time, took time.Duration) {
	w.Cp.StartedAt = stream.Earlier(w.Cp.StartedAt, at.Add(-took))
}

// Next is where the next incremental walk starts: the watermark minus the
// lookback, or before the first row where the stream began. It is no later than the last
// walk's own start minus the lookback: a change that shows up during a walk, stamped up to two
// minutes back, may be behind the walk's cursor while newer rows move the
// watermark past it (DESIGN §5, open readings).
func (w Watermark) Next() time.Time {
	if w.Cp.Watermark.IsZero() {
		return w.Cp.Since
	}
	return stream.Earlier(w.Cp.Watermark, w.Cp.StartedAt).Add(-Lookback)
}

// Restart is the updated_since with which a walk goes on after the service has
// refused its cursor. Rows of a walk out of order may still be missing behind
// its watermark, so such a walk starts where it started. So does a full resync without
// updated_since, as its sweep goes by the version of every row, and an incremental
// walk that a crash made forget how far it was: the watermark it began with may
// be far ahead of its cursor.
func (w Watermark) Restart() time.Time {
	seen := w.Cp.Watermark
	if w.Cp.Walk == sinks.WalkIncremental {
		seen = w.last
	}
	if w.disordered() || seen.IsZero() || w.Cp.Walk == sinks.WalkFull && w.Cp.Since.IsZero() {
		return w.Cp.Since
	}
	return stream.Later(w.Cp.Since, stream.Earlier(seen, w.Cp.StartedAt).Add(-Lookback))
}
