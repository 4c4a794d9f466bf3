package stream

import (
	"errors"
	"log/slog"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// Outage is a stretch of time in which something fails, which is logged once when it begins and
// once when it ends. The zero Outage is none.
//
// An outage of hours fails at every probe and at every turn of every stream, and a log
// full of it hides everything else. So what a source's outage explains is not logged for its
// streams, and what the warehouse's outage explains is logged by the sink.
type Outage struct {
	Since time.Time // zero while nothing fails
	State string    // the one that was logged; empty while none was
}

// Logged reports whether its beginning was logged.
func (o Outage) Logged() bool { return o.State != "" }

// Lasted is how long it has lasted, for the log.
func (o Outage) Lasted() time.Duration { return time.Since(o.Since).Round(time.Millisecond) }

// News notes that the failure goes on in a state. It is true when that is to be logged.
func (o *Outage) News(state string) bool {
	o.Begin()
	if o.State == state {
		return false
	}
	o.State = state
	return true
}

// Begin notes that something fails.
func (o *Outage) Begin() {
	if o.Since.IsZero() {
		o.Since = time.Now()
	}
}

// ofWarehouse reports an error of the warehouse, which the sink logs.
func ofWarehouse(err error) bool { return errors.Is(err, sinks.ErrUnreachable) }

// logFailure logs that a stream's walks fail, unless that is known, or explained by what
// was said of the source, of its other streams, or of the warehouse.
func (st *Stream) logFailure(kind string, t Trouble, err error) {
	if st.firstFailure(t.State, ofWarehouse(err)) {
		st.Source.Log.Warn("a walk failed, it is tried again", "stream", st.Def.Name, "walk", kind, "err", err)
		return
	}
	st.Source.Log.Debug("a walk failed, it is tried again", "stream", st.Def.Name, "walk", kind, "err", err)
}

// firstFailure notes that a stream fails, and reports whether that is to be said.
func (st *Stream) firstFailure(state string, explained bool) bool {
	s := st.Source
	ready := s.IsReady()
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.down[st.Def.Name]
	o.Begin()
	tell := ready && !explained && o.State != state
	if state == status.StateUnreachable { // one service: one line
		for name, other := range s.down {
			tell = tell && (name == st.Def.Name || other.State != state)
		}
	}
	if tell {
		o.State = state
	}
	if s.down == nil {
		s.down = map[string]Outage{}
	}
	s.down[st.Def.Name] = o
	return tell
}

// logRecovery logs that a stream's walks go well again, when it was said that they do not.
func (st *Stream) logRecovery() {
	s := st.Source
	s.mu.Lock()
	o := s.down[st.Def.Name]
	delete(s.down, st.Def.Name)
	s.mu.Unlock()
	if o.Logged() {
		s.Log.Info("the walks of a stream go well again", "stream", st.Def.Name, "lasted", o.Lasted())
	}
}

// LevelOf is how loud a failure is: what was said of the source or the warehouse explains
// it.
func (s *Source) LevelOf(err error) slog.Level {
	if ofWarehouse(err) || !s.IsReady() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}
