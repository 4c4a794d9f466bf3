package lease

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// lease is what this process knows about the claims to one source.
type lease struct {
	since  time.Time // of the own claim
	stored time.Time // when it was seen to be stored
	beatAt time.Time // the first own beat after that, by the warehouse's clock
	clear  time.Time // since when nobody stands in the way
	free   bool      // it may be held
	held   bool
	holder sinks.Claim // the earliest claim when it is another process's
	alive  bool        // the holder has beaten since it was first seen
}

// read takes in the claims to the source, as they were between began and now.
//
// The earliest claim counts, of equally early ones that of the lower process id.
// The own one does not count at once: another process may have read the claims
// just before it was stored, and hold the source. So it is read again after a
// pause, and every other process that claims the source must have beaten since it
// was seen to be stored.
func (s *lease) read(own sinks.Process, claims []sinks.Claim, began, now time.Time) {
	i := slices.IndexFunc(claims, func(c sinks.Claim) bool { return c.Process.ID == own.ID })
	if i < 0 {
		*s = lease{}
		return
	}
	mine, first := claims[i], slices.MinFunc(claims, func(a, b sinks.Claim) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Process.ID, b.Process.ID))
	})
	if !s.since.Equal(mine.Since) { // made anew, or counted anew after a silence
		*s = lease{since: mine.Since, stored: now}
	} else if s.beatAt.IsZero() {
		s.beatAt = mine.BeatAt
	}
	if first.Process.ID != own.ID {
		s.alive = s.holder.Process.ID == first.Process.ID && (s.alive || first.BeatAt.After(s.holder.BeatAt))
		s.holder, s.clear, s.free, s.held = first, time.Time{}, false, false
		return
	}
	s.holder, s.alive = sinks.Claim{}, false
	if s.held {
		return
	}
	unseen := slices.ContainsFunc(claims, func(c sinks.Claim) bool {
		return c.Process.ID != own.ID && (s.beatAt.IsZero() || !c.BeatAt.After(s.beatAt))
	})
	if s.clear.IsZero() && !unseen {
		s.clear = now
	}
	s.free = !s.clear.IsZero() && began.Sub(s.stored) >= settle && (len(claims) == 1 || began.Sub(s.clear) >= settle)
}

// why the source is not held; err is that of the last beat.
func (s *lease) why(err error) error {
	return &WaitingError{Holder: s.holder.Process.Name, Since: s.holder.Since, Err: err, alive: s.alive}
}

// WaitingError says that this process must not serve a source now.
type WaitingError struct {
	Holder string    // the process that serves it; empty when none is known
	Since  time.Time // since when it claims it
	Err    error     // why it cannot be known, when that is so
	alive  bool      // Holder has beaten since it was first seen
}

func (e *WaitingError) Error() string {
	switch {
	case e.Holder != "":
		return fmt.Sprintf("held by %s since %s: one process serves a source; stop that one, or take the source out of its configuration",
			e.Holder, e.Since.UTC().Format("2006-01-02 15:04:05 UTC"))
	case e.Err != nil:
		return "it cannot be known whether another process serves the source: " + e.Err.Error()
	default:
		return "it is not known yet whether another process serves the source"
	}
}

func (e *WaitingError) Unwrap() error { return e.Err }

// IsWaiting is true for an error that says that another process may hold the source.
func IsWaiting(err error) bool {
	_, waiting := errors.AsType[*WaitingError](err)
	return waiting
}
