package api

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// DefaultMemory is the bound of [NewMemory].
const DefaultMemory = 64 << 20

const (
	// freeMemory of each body counts for nothing, so that what is small (the key,
	// one row, the page of a quiet minute) never waits behind what is large.
	freeMemory = int64(len(chunk{}))
	// memoryStep is what is taken at a time: enough for most pages.
	memoryStep = 1 << 20
)

// Memory bounds what the bodies of answers take together, of all clients that
// share it: while they are read, and those of a list's pages until
// [Page.Release]. A body takes from it before it reads further.
//
// A body that holds nothing yet waits for its turn. One that holds a part and finds no room
// for more waits until it is the one that may go beyond the bound, and then waits for
// nothing. So bodies that each hold a part never block each other, and the most that is taken
// is the bound and one body. A client has half of the bound, so that one service in its worst
// hour leaves the other half to others.
type Memory struct {
	half   int64
	whole  *semaphore.Weighted // bytes
	beyond *semaphore.Weighted // one body
	used   atomic.Int64
}

// NewMemory bounds bodies to so many bytes.
func NewMemory(limit int64) *Memory {
	return &Memory{half: limit / 2, whole: semaphore.NewWeighted(limit), beyond: semaphore.NewWeighted(1)}
}

// Used is how many bytes are taken.
func (m *Memory) Used() int64 { return m.used.Load() }

// tenant is a client's part of a memory.
type tenant struct {
	*Memory
	share *semaphore.Weighted // bytes
}

func (m *Memory) tenant() *tenant { return &tenant{m, semaphore.NewWeighted(m.half)} }

// hold is what one body has taken.
type hold struct {
	of      *tenant
	bytes   int64
	counted int64 // of them, those within the bound
	beyond  bool  // it may go beyond the bound
}

// take waits until the body may have a step more.
func (h *hold) take(ctx context.Context) (err error) {
	step := min(memoryStep, h.of.half)
	switch {
	case h.beyond:
	case h.bytes == 0:
		h.within(step, func(s *semaphore.Weighted) bool { err = s.Acquire(ctx, step); return err == nil })
	case !h.within(step, func(s *semaphore.Weighted) bool { return s.TryAcquire(step) }):
		err = h.of.beyond.Acquire(ctx, 1)
		h.beyond = err == nil
	}
	if err != nil {
		return context.Cause(ctx)
	}
	h.add(step)
	return nil
}

// within takes a step within the bound, of the client's share and of the whole, and reports whether
// it could.
func (h *hold) within(step int64, acquire func(*semaphore.Weighted) bool) bool {
	if !acquire(h.of.share) {
		return false
	}
	if !acquire(h.of.whole) {
		h.of.share.Release(step)
		return false
	}
	h.counted += step
	return true
}

func (h *hold) add(bytes int64) {
	h.bytes += bytes
	h.of.used.Add(bytes)
}

// shrink keeps so many bytes of a body: those that it has once it was read, or none. Those of
// a small body, whose hold is nil, count for nothing.
func (h *hold) shrink(bytes int64) {
	if h == nil {
		return
	}
	h.add(bytes - h.bytes)
	if back := h.counted - bytes; back > 0 {
		h.counted -= back
		h.of.share.Release(back)
		h.of.whole.Release(back)
	}
	if bytes == 0 && h.beyond {
		h.beyond = false
		h.of.beyond.Release(1)
	}
}

// release gives everything back; more than once does no harm.
func (h *hold) release() { h.shrink(0) }
