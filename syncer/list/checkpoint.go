package list

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

const (
	// Lookback is subtracted from the watermark to start the next incremental
	// walk (docs/openapi.yaml, Lists with a cursor).
	Lookback = 2 * time.Minute
	// MaxFutureStamp is how far a stamp may be in front of the service's clock and still
	// move the watermark (docs/rules.md R2).
	MaxFutureStamp = time.Minute
	// margin is kept in memory below the next walk's start.
	margin = time.Minute
)

// Checkpoint is where a walk of the list is. Its watermark moves along the rows, and it returns where
// walks start (docs/rules.md R2, R3). All of that rule is here: what is stored is exact, and the lookback is
// subtracted where a start is read.
type Checkpoint struct {
	sinks.Checkpoint
	phase phase     // decoded
	last  time.Time // newest stamp of this run of the walk
}

// phase is where a long walk is beside its cursor. It is stored as JSON in
// [sinks.Checkpoint.Position].
type phase struct {
	// Walked: the walk of a full resync has reached the end of the list, and its sweep is still to come.
	Walked bool `json:"walked,omitempty"`
	// Held is the sweep that waits for a person, also while the full resync after it walks.
	Held *status.SweepHeld `json:"held,omitempty"`
	// AtLeast: the walk goes on from an instant, since the service has refused its cursor. Rows
	// that are not newer than the watermark are not counted: they may have come before.
	AtLeast bool `json:"at_least,omitempty"`
	// Brought: no rows of a location that was gained were to come when the full resync began.
	Brought bool `json:"brought,omitempty"`
}

// decoded is a stored checkpoint with its phase. What is not readable, as another version has stored
// it, may say that rows are still to come: of the phase only a held sweep is kept, and the first version is
// zero. A full resync then begins anew, and a backfill owes one.
func decoded(stored sinks.Checkpoint) Checkpoint {
	cp := Checkpoint{Checkpoint: stored}
	if stored.Position == "" {
		return cp
	}
	from := json.NewDecoder(strings.NewReader(stored.Position))
	from.DisallowUnknownFields()
	if from.Decode(&cp.phase) != nil {
		cp.FirstVersion, cp.phase = 0, phase{Held: cp.phase.Held}
	}
	return cp
}

// encoded is the checkpoint as it is stored.
func (cp *Checkpoint) encoded() sinks.Checkpoint {
	stored := cp.Checkpoint
	stored.Position = ""
	if cp.phase != (phase{}) {
		text, err := json.Marshal(cp.phase)
		if err != nil {
			panic(err) // it holds texts, numbers and a time
		}
		stored.Position = string(text)
	}
	return stored
}

// underWay reports whether the walk has begun and not ended, its sweep included.
func (cp *Checkpoint) underWay() bool { return !cp.StartedAt.IsZero() && !cp.Done }

// observe takes the updated_at of the next row, zero for none, as answered at
// now by the service's clock. It reports a stamp from the future, which never
// moves the watermark: the walks after it would be blind until then.
func (cp *Checkpoint) observe(updated, now time.Time) (future bool) {
	if updated.IsZero() {
		return false
	}
	if updated.After(now.Add(MaxFutureStamp)) {
		return true
	}
	if updated.Before(cp.last) || cp.disordered() {
		cp.Pending = stream.Later(cp.Pending, updated)
	} else {
		cp.Watermark = stream.Later(cp.Watermark, updated)
	}
	cp.last = stream.Later(cp.last, updated)
	return false
}

// disordered reports whether a row came out of order of updated_at.
func (cp *Checkpoint) disordered() bool { return !cp.Pending.IsZero() }

// ended closes the walk: everything it was to bring has been brought, so the order
// of its pages no longer matters.
func (cp *Checkpoint) ended() {
	cp.Watermark = stream.Later(cp.Watermark, cp.Pending)
	cp.Pending = time.Time{}
	cp.Cursor = ""
	if !cp.Watermark.IsZero() {
		cp.Since = time.Time{}
	}
}

// answered notes when a walk's first answer was made, at the latest: StartedAt was
// guessed with a clock of ours, which may have been moved since it was compared
// with the service's.
func (cp *Checkpoint) answered(at time.Time, took time.Duration) {
	cp.StartedAt = stream.Earlier(cp.StartedAt, at.Add(-took))
}

// Next is where the next incremental walk starts: the watermark minus the
// lookback, or before the first row where the stream began. It is no later than the last
// walk's own start minus the lookback: a change that shows up during a walk, stamped up to two
// minutes back, may be behind the walk's cursor while newer rows move the
// watermark past it (docs/rules.md, Open readings).
func (cp Checkpoint) Next() time.Time {
	if cp.Watermark.IsZero() {
		return cp.Since
	}
	return stream.Earlier(cp.Watermark, cp.StartedAt).Add(-Lookback)
}

// Restart is the updated_since with which a walk goes on after the service has
// refused its cursor. Rows of a walk out of order may still be missing behind
// its watermark, so such a walk starts where it started. So does a full resync without
// updated_since, as its sweep goes by the version of every row, and an incremental
// walk that a crash made forget how far it was: the watermark it began with may
// be far ahead of its cursor.
func (cp Checkpoint) Restart() time.Time {
	seen := cp.Watermark
	if cp.Walk == sinks.WalkIncremental {
		seen = cp.last
	}
	if cp.disordered() || seen.IsZero() || cp.Walk == sinks.WalkFull && cp.Since.IsZero() {
		return cp.Since
	}
	return stream.Later(cp.Since, stream.Earlier(seen, cp.StartedAt).Add(-Lookback))
}
