package syncer

import (
	"time"

	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/status"
)

// held ends the waiting. From now on the source asks and writes only while it is
// held.
func (s *source) held() {
	s.leased.Store(true)
	if s.link.View().State == status.StateWaiting {
		s.link.Enter(status.StateStarting, "")
	}
}

// fence is nil while this process holds the source. A life that has lost the lease stays
// fenced, also when the source is held again before the last of its commits is written.
func (s *source) fence() error {
	if why := s.lost.Load(); why != nil {
		return *why
	}
	return s.syncer.leases.Check(s.cfg.Name)
}

// durable waits until what sources handed to the sink is durable, as [lease.Owner] has it.
func (y *Syncer) durable(sources []string) bool {
	deadline := time.After(lease.Lasts)
	for _, name := range sources {
		if r, ok := y.commits.Last(name); ok {
			select {
			case <-r.Done():
			case <-deadline:
				return false
			}
		}
	}
	return true
}

// lost ends the life of the source that was lost, and the next one waits. What this one knew may not
// be so any more.
func (y *Syncer) lost(name string, why error) {
	if v := y.supervisorOf(name); v != nil {
		s := v.current()
		s.lost.CompareAndSwap(nil, &why)
		s.end(why)
	}
}
