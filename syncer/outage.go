package syncer

import (
	"log/slog"

	"github.com/larder-sync/larder/syncer/outage"
)

// logFailure logs that a stream's walks fail, unless that is known, or explained by what
// was said of the source, of its other streams, or of the warehouse.
func (st *stream) logFailure(kind string, t trouble, err error) {
	if st.firstFailure(t.state, outage.OfWarehouse(err)) {
		st.source.log.Warn("a walk failed, it is tried again", "stream", st.def.Name, "walk", kind, "err", err)
		return
	}
	st.source.log.Debug("a walk failed, it is tried again", "stream", st.def.Name, "walk", kind, "err", err)
}

// firstFailure notes that a stream fails, and tells whether that is to be said.
func (st *stream) firstFailure(state string, explained bool) bool {
	s := st.source
	ready := s.isReady()
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.down[st.def.Name]
	o.Begin()
	tell := ready && !explained && o.State != state
	if state == StateUnreachable { // one service: one line
		for name, other := range s.down {
			tell = tell && (name == st.def.Name || other.State != state)
		}
	}
	if tell {
		o.State = state
	}
	s.down[st.def.Name] = o
	return tell
}

// logRecovery logs that a stream's walks go well again, when it was said that they do not.
func (st *stream) logRecovery() {
	s := st.source
	s.mu.Lock()
	o := s.down[st.def.Name]
	delete(s.down, st.def.Name)
	s.mu.Unlock()
	if o.Logged() {
		s.log.Info("the walks of a stream go well again", "stream", st.def.Name, "lasted", o.Lasted())
	}
}

// levelOf is how loud a failure is: what was said of the source or the warehouse explains
// it.
func (s *origin) levelOf(err error) slog.Level {
	if outage.OfWarehouse(err) || !s.isReady() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}
