package syncer

import "errors"

// standBy tells whether the source must wait: this process does not hold it.
func (s *source) standBy() bool {
	err := s.syncer.leases.check(s.cfg.Name)
	if err == nil {
		s.held()
		return false
	}
	s.enter(StateWaiting, err.Error())
	return true
}

// held ends the waiting. From now on the source asks and writes only while it is
// held.
func (s *source) held() {
	s.leased.Store(true)
	if s.stateNow() == StateWaiting {
		s.enter(StateStarting, "")
	}
}

// awaits tells whether the source may be waiting to be held.
func (s *source) awaits() bool {
	state := s.stateNow()
	return state == StateWaiting || state == StateStarting
}

// fence is nil while this process holds the source. A source that was lost stays
// fenced, also when its successor is held again.
func (s *source) fence() error {
	if why := s.lost.Load(); why != nil {
		return *why
	}
	return s.syncer.leases.check(s.cfg.Name)
}

// mayAsk is fence for requests. A source that has never been held is asked only for
// what nobody needs to hold it for: whether its key is good, and what to compare.
func (s *source) mayAsk() error {
	if !s.leased.Load() {
		return nil
	}
	return s.fence()
}

// isWaiting tells whether an error says that another process may hold the source.
func isWaiting(err error) bool {
	_, waiting := errors.AsType[*WaitingError](err)
	return waiting
}
