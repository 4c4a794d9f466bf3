package embedded

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
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
func (e *Engine) watchMemory(memory int64) {
	most := max(memory+residentSpare, engineResident()+memory)
	ticker := time.NewTicker(residentPause)
	defer ticker.Stop()
	told := time.Time{}
	for {
		select {
		case <-e.stopped.Done():
			return
		case now := <-ticker.C:
			if e.asking.none() {
				continue
			}
			held := engineResident()
			if held <= most {
				continue
			}
			if n := e.asking.stop(errResident); now.Sub(told) > time.Minute {
				told = now
				e.log.Warn("embedded engine: readers' statements are stopped, since they take more memory than the engine counts", "statements", n, "held", held, "most", most)
			}
		}
	}
}

// engineResident is how much memory the process holds beside Go's own and its files; 0
// where that is not known.
func engineResident() int64 {
	content, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(content)
	if len(fields) < 3 {
		return 0
	}
	resident, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	files, err := strconv.ParseInt(string(fields[2]), 10, 64)
	if err != nil {
		return 0
	}
	own := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(own)
	return (resident-files)*int64(os.Getpagesize()) - int64(own[0].Value.Uint64()-own[1].Value.Uint64())
}

// outOfMemory is what a reader is told whose statement was stopped.
func outOfMemory() error {
	return exception.Refuse(exception.MemoryLimit, "MEMORY_LIMIT_EXCEEDED", "Memory limit exceeded: readers' statements took more memory than the engine may have, and were all stopped. Try again, ask for less at once, or raise warehouse.memory")
}
