package syncer

import (
	"errors"
	"log/slog"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// A source or stream that fails is told of once when that begins, and once when it is
// over, with how long it lasted: an outage of hours fails at every probe and at every
// turn of every stream, and a log full of it hides what else there is. What a source's
// outage explains is not said of its streams, and what the warehouse's explains is the
// sink's to say.

// outage is a stretch of time in which something fails.
type outage struct {
	since time.Time // zero: it does not
	state string    // that was told; empty: nothing was
}

// told tells whether the log has it.
func (o outage) told() bool { return o.state != "" }

// lasted is how long it has, for the log.
func (o outage) lasted() time.Duration { return time.Since(o.since).Round(time.Millisecond) }

// news notes that it goes on in a state, and tells whether that is to be said.
func (o *outage) news(state string) bool {
	if o.since.IsZero() {
		o.since = time.Now()
	}
	if o.state == state {
		return false
	}
	o.state = state
	return true
}

// isAway tells whether an error is the warehouse's, which the sink tells of.
func isAway(err error) bool { return errors.Is(err, sinks.ErrAway) }

// tellFailure logs that a stream's walks fail, unless that is known, or explained by what
// was said of the source, of its other streams, or of the warehouse.
func (st *stream) tellFailure(kind string, t trouble, err error) {
	if st.firstFailure(t.state, isAway(err)) {
		st.source.log.Warn("a walk failed, it is tried again", "stream", st.def.name, "walk", kind, "err", err)
		return
	}
	st.source.log.Debug("a walk failed, it is tried again", "stream", st.def.name, "walk", kind, "err", err)
}

// firstFailure notes that a stream fails, and tells whether that is to be said.
func (st *stream) firstFailure(state string, explained bool) bool {
	s := st.source
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.down[st.def.name]
	if o.since.IsZero() {
		o.since = time.Now()
	}
	tell := s.ready && !explained && o.state != state
	if state == StateUnreachable { // one service: one line
		for name, other := range s.down {
			tell = tell && (name == st.def.name || other.state != state)
		}
	}
	if tell {
		o.state = state
	}
	s.down[st.def.name] = o
	return tell
}

// tellRecovery logs that a stream's walks go well again, when it was said that they do not.
func (st *stream) tellRecovery() {
	s := st.source
	s.mu.Lock()
	o := s.down[st.def.name]
	delete(s.down, st.def.name)
	s.mu.Unlock()
	if o.told() {
		s.log.Info("the walks of a stream go well again", "stream", st.def.name, "lasted", o.lasted())
	}
}

// levelOf is how loud a failure is: what was said of the source or the warehouse explains
// it.
func (s *source) levelOf(err error) slog.Level {
	if isAway(err) || !s.isReady() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}
