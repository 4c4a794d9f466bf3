package api

import (
	"context"
	"slices"
	"sync"
)

// DefaultMemory is the bound of [NewMemory].
const DefaultMemory = 64 << 20

const (
	// freeMemory of each body counts for nothing, so that what is small (the key,
	// one row, the page of a quiet minute) never waits behind what is large.
	freeMemory = 64 << 10
	// memoryStep is what is taken at a time.
	memoryStep = 512 << 10
)

// Memory bounds what the bodies of answers take together, of all clients that
// share it: while they are read, and those of a list's pages until
// [Page.Release]. A body takes from it before it reads further, and waits while
// there is no room.
//
// When all that is taken belongs to bodies that are still being read, the one that
// has waited longest may go beyond the bound, until it is released. That one waits for
// nothing, so bodies that each hold a part and want more never block each other.
// The most that is taken is the bound and one body. A client has half of the bound
// at most, so that one service in its worst hour leaves the other half to others.
type Memory struct {
	limit, share int64

	mu      sync.Mutex
	all     taken
	beyond  *hold // may go beyond the bound
	waiting []*wanting
}

// NewMemory bounds bodies to so many bytes.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit, share: limit / 2} }

// Used is how many bytes are taken.
func (m *Memory) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all.bytes
}

// taken counts bytes.
type taken struct {
	bytes    int64
	finished int64 // of them, those of bodies that are read
}

// tenant is a client's part of a memory.
type tenant struct {
	memory *Memory
	taken  taken // guarded by memory.mu
}

// hold is what one body has taken.
type hold struct {
	tenant *tenant
	bytes  int64 // guarded by memory.mu
	read   bool  // likewise: all of it is here
}

// wanting is a body that waits for room.
type wanting struct {
	hold    *hold
	bytes   int64
	granted chan struct{}
}

// take waits until the body may have so many bytes more.
func (h *hold) take(ctx context.Context, bytes int64) error {
	m := h.tenant.memory
	w := &wanting{hold: h, bytes: bytes, granted: make(chan struct{})}
	m.mu.Lock()
	m.waiting = append(m.waiting, w)
	m.serve()
	m.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waiting = slices.DeleteFunc(m.waiting, func(other *wanting) bool { return other == w })
		return context.Cause(ctx) // what was granted meanwhile goes back with the hold
	}
}

// room is true when so many bytes can be had at once.
func (h *hold) room(bytes int64) bool {
	m := h.tenant.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if h != m.beyond && !m.fits(h, bytes) {
		return false
	}
	m.give(h, bytes)
	return true
}

// finish keeps so many bytes of a body that has been read.
func (h *hold) finish(bytes int64) {
	m := h.tenant.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.give(h, bytes-h.bytes)
	h.read = true
	m.finished(h, bytes)
	m.serve()
}

// release gives everything back; more than once does no harm, nor does that of a small body,
// whose hold is nil.
func (h *hold) release() {
	if h == nil {
		return
	}
	m := h.tenant.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.read {
		m.finished(h, -h.bytes)
		h.read = false
	}
	m.give(h, -h.bytes)
	if m.beyond == h {
		m.beyond = nil
	}
	m.serve()
}

func (m *Memory) give(h *hold, bytes int64) {
	m.all.bytes += bytes
	h.tenant.taken.bytes += bytes
	h.bytes += bytes
}

func (m *Memory) finished(h *hold, bytes int64) {
	m.all.finished += bytes
	h.tenant.taken.finished += bytes
}

func (m *Memory) fits(h *hold, bytes int64) bool {
	return m.all.bytes+bytes <= m.limit && h.tenant.taken.bytes+bytes <= m.share
}

// stuck is true when no room will come by itself: nothing that is in the way of w has
// been read, and can be released.
func (m *Memory) stuck(w *wanting) bool {
	t := &w.hold.tenant.taken
	return m.all.finished == 0 || t.bytes+w.bytes > m.share && t.finished == 0
}

// serve grants all that may go on now, and lets one go beyond the bound when
// nobody else would. The caller holds mu.
func (m *Memory) serve() {
	m.waiting = slices.DeleteFunc(m.waiting, func(w *wanting) bool {
		if w.hold != m.beyond && !m.fits(w.hold, w.bytes) {
			return false
		}
		m.grant(w)
		return true
	})
	if m.beyond != nil {
		return
	}
	if i := slices.IndexFunc(m.waiting, m.stuck); i >= 0 {
		w := m.waiting[i]
		m.waiting = slices.Delete(m.waiting, i, i+1)
		m.beyond = w.hold
		m.grant(w)
	}
}

func (m *Memory) grant(w *wanting) {
	m.give(w.hold, w.bytes)
	close(w.granted)
}
