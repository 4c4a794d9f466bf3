package stream

import (
	"log/slog"

	"github.com/larder-sync/larder/syncer/outage"
	"github.com/larder-sync/larder/syncer/status"
)

// logFailure logs that a stream's walks fail, unless that is known, or explained by what
// was said of the source, of its other streams, or of the warehouse.
func (st *Stream) logFailure(kind string, t Trouble, err error) {
	if st.firstFailure(t.State, outage.OfWarehouse(err)) {
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
		s.down = map[string]outage.Outage{}
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
	if outage.OfWarehouse(err) || !s.IsReady() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}
