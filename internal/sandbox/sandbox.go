package sandbox

import (
	"fmt"
	"sync"

	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/sandbox/webhooks"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// Sandbox is the service: restaurants, keys, limits and faults. Its methods may
// be called from many goroutines.
type Sandbox struct {
	*world.World
	opts Options

	mu        sync.Mutex // guards what follows
	keys      keyring
	addresses map[string]*fixedMinute // wrong keys, by source address
	perBiz    []limiter
	cursors   cursorSealer
	faults    faultBox
	pings     int
	stats     statistics

	books  []*ordering.Book // by restaurant
	outbox *webhooks.Outbox
}

// New makes the world and what serves it.
func New(opts Options) (*Sandbox, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("sandbox options: %w", err)
	}
	w, err := world.New(opts.world())
	if err != nil {
		return nil, fmt.Errorf("sandbox options: %w", err)
	}
	s := &Sandbox{World: w, opts: opts, addresses: map[string]*fixedMinute{}, cursors: newCursorSealer(opts.Seed)}
	s.faults = newFaultBox(opts.Seed, opts.Faults)
	s.stats.record = opts.Record
	for i := range w.Len() {
		s.perBiz = append(s.perBiz, newLimiter(opts.Algorithm))
		s.makeKeys(i)
	}
	if err := s.openBooks(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return s, nil
}

func (s *Sandbox) now() int64 { return s.opts.Now().UnixMicro() }
