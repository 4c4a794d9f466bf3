package syncer

import (
	"slices"
	"sync/atomic"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/condition"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/status"
)

// holding is whether this process holds a source's lease, as far as the source cares.
type holding struct {
	name      string
	leases    *lease.Leases // nil: everything is held
	condition *condition.Condition
	leased    atomic.Bool            // it has been held
	lost      *atomic.Pointer[error] // why it is held no more; shared with those before it
}

// standBy is true when the source must wait: this process does not hold it.
func (h *holding) standBy() bool {
	err := h.leases.Check(h.name)
	if err == nil {
		h.held()
		return false
	}
	h.condition.Enter(status.StateWaiting, err.Error())
	return true
}

// held ends the waiting. From now on the source asks and writes only while it is
// held.
func (h *holding) held() {
	h.leased.Store(true)
	if h.condition.View().State == status.StateWaiting {
		h.condition.Enter(status.StateStarting, "")
	}
}

// awaits is true when the source may be waiting to be held.
func (h *holding) awaits() bool {
	state := h.condition.View().State
	return state == status.StateWaiting || state == status.StateStarting
}

// fence is nil while this process holds the source. A source that was lost stays
// fenced, also when its successor is held again.
func (h *holding) fence() error {
	if why := h.lost.Load(); why != nil {
		return *why
	}
	return h.leases.Check(h.name)
}

// mayAsk is fence for requests. A source that has never been held is asked only for
// what nobody needs to hold it for: whether its key is good, and what to compare.
func (h *holding) mayAsk() error {
	if !h.leased.Load() {
		return nil
	}
	return h.fence()
}

// leaseOwner is the syncer as its leases see it.
type leaseOwner struct{ *Syncer }

var _ lease.Owner = leaseOwner{}

// StartAbove implements lease.Owner.
func (y leaseOwner) StartAbove(version uint64) { y.versions.StartAbove(version) }

// Flushed implements lease.Owner.
func (y leaseOwner) Flushed(source string) (*sinks.Receipt, bool) { return y.commits.Last(source) }

// Looked implements lease.Owner: sources that wait to be held look again.
func (y leaseOwner) Looked() {
	for _, s := range y.served() {
		if s.holding.awaits() {
			s.loop.wakeLoop()
		}
	}
}

// AtWork implements lease.Owner.
func (y leaseOwner) AtWork(name string) bool {
	if y.endingOf(name) != nil {
		return true
	}
	r, ok := y.commits.Last(name)
	if !ok {
		return false
	}
	select {
	case <-r.Done():
		return false
	default:
		return true
	}
}

// Lost implements lease.Owner. It puts another source in the place of the one that was
// lost, which waits: what that one knew may not be so any more.
func (y leaseOwner) Lost(name string, why error) {
	y.applying.Lock()
	defer y.applying.Unlock()
	sources := slices.Clone(y.served())
	i := slices.IndexFunc(sources, func(s *source) bool { return s.cfg.Name == name })
	if i < 0 {
		if ending := y.endingOf(name); ending != nil {
			ending.holding.lost.Store(&why) // also when it is held again before its last commit
		}
		return
	}
	old := sources[i]
	s, err := newSource(y.Syncer, old.cfg)
	if err != nil {
		y.log.Error("a source that was lost cannot be served again before its configuration changes or Larder is started again",
			"source", name, "error", err)
		old.holding.lost.Store(&why)
		y.mu.Lock()
		y.ending[name] = old
		y.mu.Unlock()
		y.finish(old, why)
		return
	}
	old.holding.lost.Store(&why)
	s.inherit(old)
	sources[i] = s
	y.mu.Lock()
	y.sources, y.ending[name] = sources, old
	if y.begin != nil {
		y.begin(s)
	}
	y.mu.Unlock()
	y.finish(old, why)
}
