package embedded

import (
	"sync"
	"time"
)

// gate counts the statements under way and lets none in once it is closed.
type gate struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

func (g *gate) leave() { g.inside.Done() }

// close waits until all have left.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}

// closeWithin waits no longer than this, and says whether all have left. 0 is for ever.
func (g *gate) closeWithin(d time.Duration) bool {
	if d == 0 {
		g.close()
		return true
	}
	left := make(chan struct{})
	go func() { defer close(left); g.close() }()
	select {
	case <-left:
		return true
	case <-time.After(d):
		return false
	}
}
