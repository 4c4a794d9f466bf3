package sandbox

import (
	"fmt"
	"sync"
	"time"
)

// Sandbox is the service: restaurants, keys, limits and faults. Its methods may
// be called from many goroutines.
type Sandbox struct {
	opts       Options
	cal        *calendar
	businesses []*business

	mu        sync.Mutex // guards what follows
	keys      keyring
	addresses map[string]*fixedMinute // wrong keys, by source address
	perBiz    []limiter
	cursors   cursorSealer
	faults    faultBox
	stats     statistics
}

// New makes the world. It is the same for the same Seed, sizes and Epoch.
func New(opts Options) (*Sandbox, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("sandbox options: %w", err)
	}
	cal, err := newCalendar()
	if err != nil {
		return nil, err
	}
	s := &Sandbox{opts: opts, cal: cal, addresses: map[string]*fixedMinute{}, cursors: newCursorSealer(opts.Seed)}
	s.faults = newFaultBox(opts.Seed, opts.Faults)
	s.stats.record = opts.Record
	for i := range opts.Businesses {
		b := newBusiness(&s.opts, cal, i)
		s.businesses = append(s.businesses, b)
		s.perBiz = append(s.perBiz, newLimiter(opts.Algorithm))
		s.makeKeys(b)
	}
	return s, nil
}

// Tick moves the whole world up to now. Steps of any size give the same world.
func (s *Sandbox) Tick(now time.Time) {
	us := now.UnixMicro()
	for _, b := range s.businesses {
		b.mu.Lock()
		b.advance(us)
		b.mu.Unlock()
	}
}

// catchUp moves one restaurant of a live world up to the instant of a request.
func (s *Sandbox) catchUp(b *business, now int64) {
	if !s.opts.Live {
		return
	}
	b.mu.RLock()
	idle := b.idle(now)
	b.mu.RUnlock()
	if idle {
		return
	}
	b.mu.Lock()
	b.advance(now)
	b.mu.Unlock()
}

func (s *Sandbox) now() int64 { return s.opts.Now().UnixMicro() }
