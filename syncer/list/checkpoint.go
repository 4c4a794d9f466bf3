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

// Progress moves a checkpoint along the rows of one walk (DESIGN R2, R3).
type Progress struct {
	Cp   sinks.Checkpoint
	last time.Time // newest stamp of this walk so far
}

// stamped takes the updated_at of the next row, zero for none, as answered at
// now by the service's clock. It reports a stamp from the future, which never
// moves the watermark: the walks after it would be blind until then.
func (p *Progress) stamped(updated, now time.Time) (future bool) {
	if updated.IsZero() {
		return false
	}
	if updated.After(now.Add(MaxFutureStamp)) {
		return true
	}
	if updated.Before(p.last) || !p.Cp.Pending.IsZero() {
		p.Cp.Pending = stream.Later(p.Cp.Pending, updated)
	} else {
		p.Cp.Watermark = stream.Later(p.Cp.Watermark, updated)
	}
	p.last = stream.Later(p.last, updated)
	return false
}

// disordered is true when a row came out of order of updated_at.
func (p *Progress) disordered() bool { return !p.Cp.Pending.IsZero() }

// end closes the walk: everything it was to bring has been brought, so the order
// of its pages no longer matters.
func (p *Progress) end() {
	p.Cp.Watermark = stream.Later(p.Cp.Watermark, p.Cp.Pending)
	p.Cp.Pending = time.Time{}
	p.Cp.Cursor = ""
	if !p.Cp.Watermark.IsZero() {
		p.Cp.Since = time.Time{}
	}
}

// Since is where the next incremental walk starts: the watermark minus the
// lookback, or before the first row where the stream began.
func Since(cp sinks.Checkpoint) time.Time {
	if cp.Watermark.IsZero() {
		return cp.Since
	}
	return reached(cp).Add(-Lookback)
}

// reached is up to where a walk saw everything: its watermark, or its own start
// when that is earlier. A change that shows up during the walk, stamped up to two
// minutes back, may stand behind the walk's cursor while newer rows move the
// watermark past it (DESIGN §5, open readings).
func reached(cp sinks.Checkpoint) time.Time {
	return stream.Earlier(cp.Watermark, cp.StartedAt)
}

// began notes when a walk's first answer was made, at the latest: StartedAt was
// guessed with a clock of ours, which may have been moved since it was compared
// with the service's.
func (p *Progress) began(answered time.Time, took time.Duration) {
	p.Cp.StartedAt = stream.Earlier(p.Cp.StartedAt, answered.Add(-took))
}

// Restart is the updated_since with which a walk goes on after the service has
// refused its cursor. Rows of a walk out of order may still be missing behind
// its watermark, so such a walk starts where it started. So does an incremental
// walk that a crash made forget how far it was: the watermark it began with may
// be far ahead of its cursor.
func (p *Progress) Restart() time.Time {
	seen := p.Cp.Watermark
	if p.Cp.Walk == sinks.WalkIncremental {
		seen = p.last
	}
	if p.disordered() || seen.IsZero() {
		return p.Cp.Since
	}
	return stream.Later(p.Cp.Since, stream.Earlier(seen, p.Cp.StartedAt).Add(-Lookback))
}
