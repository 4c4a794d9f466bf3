package sandbox

import (
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/keys"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// Sandbox is the service: restaurants and their online orders, keys, faults, and what it was
// asked. Its methods may be called from many goroutines; each part has its own lock.
type Sandbox struct {
	*world.World
	*keys.Ring
	*faults.Box
	*online
	*cursors
	*traffic

	opts Options
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
	s := &Sandbox{
		World: w, Ring: opts.ring(w), Box: faults.New(opts.Seed, opts.Faults),
		cursors: newCursors(opts.Seed), traffic: newTraffic(opts.Record), opts: opts,
	}
	for i := range w.Len() {
		s.AddUsual(i, s.Restaurant(i).LocationIDs())
	}
	s.online = newOnline(w, s.Ring, s.Box, opts)
	return s, nil
}

func (s *Sandbox) now() int64 { return s.opts.Now().UnixMicro() }

// Tick moves all restaurants and their online orders up to now. Steps of any size give the
// same world.
func (s *Sandbox) Tick(now time.Time) { s.play(now.UnixMicro()) }
