package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/memory"
)

// Not all that a statement takes is counted to it: what libraries of the engine take for
// themselves, plans, texts. What was found of that is refused or bounded. For the rest the
// memory of the process is looked at, and when it is near what the engine may have with
// what it needs beside, readers' statements are stopped.

const (
	residentPause = 50 * time.Millisecond
	// residentSpare is what the engine may hold beyond its memory. A statement may grow by
	// a hundred megabytes before it stops.
	residentSpare = 224 << 20
)

// errResident is why the statements of readers are stopped.
var errResident = errors.New("the process holds too much memory")

// stops are the statements of readers that are under way.
type stops struct {
	mu   sync.Mutex
	next int
	all  map[int]context.CancelCauseFunc
}

// under makes a statement one that can be stopped, until end.
func (s *stops) under(ctx context.Context) (stoppable context.Context, end context.CancelFunc) {
	stoppable, stop := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[int]context.CancelCauseFunc{}
	}
	s.next++
	key := s.next
	s.all[key] = stop
	return stoppable, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, key)
		stop(nil)
	}
}

// stop ends all, and says how many there were.
func (s *stops) stop(cause error) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stop := range s.all {
		stop(cause)
	}
	return len(s.all)
}

func (s *stops) none() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all) == 0
}

// watchMemory stops readers' statements while the engine holds more than this, until the
// engine closes.
func (s *Server) watchMemory(limit memory.Limit) {
	most := max(int64(limit)+residentSpare, memory.Resident()+int64(limit))
	ticker := time.NewTicker(residentPause)
	defer ticker.Stop()
	lastLogged := time.Time{}
	for {
		select {
		case <-s.stopped.Done():
			return
		case now := <-ticker.C:
			if s.asking.none() {
				continue
			}
			held := memory.Resident()
			if held <= most {
				continue
			}
			if n := s.asking.stop(errResident); now.Sub(lastLogged) > time.Minute {
				lastLogged = now
				s.log.Warn("embedded engine: readers' statements are stopped, since they take more memory than the engine counts", "statements", n, "held", held, "most", most)
			}
		}
	}
}

// outOfMemory is the error for a reader whose statement was stopped.
func outOfMemory() error {
	return exception.Refuse(exception.MemoryLimit, "MEMORY_LIMIT_EXCEEDED", "Memory limit exceeded: readers' statements took more memory than the engine may have, and were all stopped. Try again, ask for less at once, or raise warehouse.memory")
}
