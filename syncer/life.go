package syncer

import (
	"context"
	"errors"
	"sync"
)

// What ends the work on a source whose configuration has changed.
var (
	errRemoved = errors.New("the source is not in the configuration any more")
	errChanged = errors.New("the source's configuration has changed, and it has begun anew with it: ask again")
)

// life is how long a source is served: until the configuration has it no more, or
// has it changed.
type life struct {
	mu    sync.Mutex // nobody enters while it ends
	over  error      // why the source is served no more; nil while it is
	work  map[context.Context]context.CancelCauseFunc
	ended chan struct{} // closed when it is over and nobody is at work any more
}

func newLife() *life {
	return &life{work: map[context.Context]context.CancelCauseFunc{}, ended: make(chan struct{})}
}

// enter begins work on the source, in a context that ends with it too. It fails
// when the source is over; else leave must be called when the work has ended.
func (l *life) enter(ctx context.Context) (work context.Context, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over != nil {
		return nil, nil, l.over
	}
	work, end := context.WithCancelCause(ctx)
	l.work[work] = end
	return work, func() { l.leave(work) }, nil
}

func (l *life) leave(work context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.work[work](nil)
	delete(l.work, work)
	l.end()
}

// finish ends the work; ended tells when nobody is at it any more.
func (l *life) finish(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = cause
	for _, end := range l.work {
		end(cause)
	}
	l.end()
}

// end closes ended when nobody is at work any more. The caller holds the lock.
func (l *life) end() {
	if l.over != nil && len(l.work) == 0 {
		close(l.ended)
	}
}

// serve is run until ctx ends or the source is over.
func (s *source) serve(ctx context.Context) {
	ctx, leave, err := s.life.enter(ctx)
	if err != nil {
		return // over before it began
	}
	defer leave()
	s.loop.run(ctx)
}

// inherit takes over the state of the source of this name before it, until
// its own key has answered: for the status, and for the other sources of the
// restaurant, which ask what it lists.
func (s *source) inherit(previous *source) {
	s.previous = previous
	if previous.holding.lost.Load() == nil { // both are held, and will be lost, together
		s.holding.lost = previous.holding.lost
	}
	s.IdentifyAs(previous.Identity())
	for i, st := range previous.wholes {
		s.wholes[i].Inherit(st)
	}
}

// awaitPrevious waits until nobody is at work any more on the sources of this name
// before, and what they handed to the sink is durable: only then does what is
// stored say where they stopped. The caller holds key.opening.
func (s *source) awaitPrevious(ctx context.Context) error {
	for f := s.previous; f != nil; f = f.previous {
		select {
		case <-f.life.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if last, ok := s.syncer.commits.Last(s.cfg.Name); ok {
		select { // what the sink refused is not stored, and is fetched again
		case <-last.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for f := s.previous; f != nil; f = f.previous {
		s.addCounts(f)
	}
	s.previous = nil
	return nil
}

// addCounts adds what the source before has counted since the start of the process.
func (s *source) addCounts(previous *source) {
	previous.mu.Lock()
	asks, limited := previous.asks, previous.limited
	previous.mu.Unlock()
	s.mu.Lock()
	s.asks += asks
	s.limited += limited
	s.mu.Unlock()
	for i, old := range previous.streams {
		s.streams[i].Common().Writer.AddCounts(old.Common().Writer)
	}
}
