package syncer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/stream"
)

// What ends the work on a source whose configuration has changed.
var (
	errRemoved = errors.New("the source is not in the configuration any more, or another process has it now")
	errChanged = errors.New("the source's configuration has changed, and it has begun anew with it: ask again")
)

// supervisor serves the source of one name, one life after another: it builds the source, has
// it served until its life ends, waits until what it wrote is durable, and builds it anew. A
// changed configuration, a lost lease and a panic all end a life.
type supervisor struct {
	syncer   *Syncer
	name     string
	counters *counters
	users    *semaphore.Weighted // one for each that works on the source; all while the next life is built

	mu      sync.RWMutex // guards what follows
	cfg     Source
	removed bool    // from the configuration, or given to another process
	life    *source // the present one; the last one until the next is built
}

// allUsers of a source are one more than can work on it: nothing does meanwhile.
const allUsers = math.MaxInt64

// run serves the source until ctx ends, or the source is removed and nothing works on it.
func (v *supervisor) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := v.syncer.recovered(v.syncer.log.With("source", v.name), "supervisor", func() error {
			return v.work(ctx, "the turns of the source", func(ctx context.Context, s *source) error { s.serve(ctx); return nil })
		})
		switch {
		case errors.Is(err, errRemoved):
			if v.syncer.drop(v) {
				return
			}
		case err != nil && ctx.Err() == nil:
			v.syncer.log.Error("the source cannot be served, it is tried again", "source", v.name, "in", mostPause, "err", err)
			lifecycle.Pause(ctx, mostPause)
		}
	}
}

// work does something with the present life of the source, or the next one after its end, in a
// context that ends with it, too. A panic ends the life.
func (v *supervisor) work(ctx context.Context, what string, f func(context.Context, *source) error) error {
	var s *source
	for {
		if v.users.Acquire(ctx, 1) != nil {
			return context.Cause(ctx)
		}
		if s = v.current(); s.over() == nil {
			break
		}
		v.users.Release(1)
		if err := v.rebuild(ctx); err != nil {
			return err
		}
	}
	defer v.users.Release(1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(s.over()) })()
	return s.isolated(what, func() error { return f(ctx, s) })
}

// rebuild builds the next life of a source, when nothing works on the last one and what that
// handed to the sink is durable: only then does what is stored say where it stopped. What the
// sink refused is not stored, and is fetched again.
func (v *supervisor) rebuild(ctx context.Context) error {
	if v.users.Acquire(ctx, allUsers) != nil {
		return context.Cause(ctx)
	}
	defer v.users.Release(allUsers)
	if r, ok := v.syncer.commits.Last(v.name); ok {
		select {
		case <-r.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	last := v.life
	why := last.over()
	switch {
	case v.removed:
		return errRemoved
	case why == nil:
		return nil // it is built
	}
	v.life = newSource(v.syncer, v.cfg, max(len(v.syncer.supervisors()), 1), v.counters)
	v.life.IdentifyAs(last.Identity()) // for its status and its siblings, until /me has answered
	for i, st := range v.life.wholes { // what its siblings must not bury
		st.Inherit(last.wholes[i])
	}
	if fault, panicked := errors.AsType[panicError](why); panicked { // it is probed again as any source in trouble
		trouble := stream.Failing(fault)
		trouble.RetryAfter = panicPause
		v.life.link.Troubled(trouble)
	}
	return nil
}

// panicPause is how long nothing is asked for a source after a panic.
const panicPause = 40 * time.Second

// current is the present life; between two the last one.
func (v *supervisor) current() *source {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.life
}

// configure has the next life served as configured, and ends the present one if it is another
// configuration. It reports whether the source is there again, which was removed and still at
// work, or else whether it has changed.
func (v *supervisor) configure(cfg Source) (added, changed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.removed && v.cfg.same(cfg) {
		return false, false
	}
	added, v.removed = v.removed, false
	v.cfg = cfg
	v.life.end(errChanged)
	return added, !added
}

// remove ends the present life, and lets no other begin.
func (v *supervisor) remove() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.removed = true
	v.life.end(errRemoved)
}

func (v *supervisor) isRemoved() bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.removed
}

// over is why the life of the source is over; nil while it is not.
func (s *source) over() error { return context.Cause(s.life) }

// panicError is the end of a life by a panic.
type panicError struct{ error }

// isolated runs f. A panic of f ends the life of the source: the next one begins with what is
// stored.
func (s *source) isolated(what string, f func() error) error {
	returned := false
	err := s.syncer.recovered(s.Log, what, func() error {
		err := f()
		returned = true
		return err
	})
	if !returned {
		s.end(panicError{err})
	}
	return err
}

// Protected implements stream.Owner. A panic of a walk is an error of its stream, which is
// tried again; the source's other streams go on.
func (s *source) Protected(ctx context.Context, what string, f func(context.Context) error) error {
	return s.syncer.recovered(s.Log, what, func() error { return f(ctx) })
}

// recovered turns a panic of f into an error, logs it with its stack, and counts it.
func (y *Syncer) recovered(log *slog.Logger, what string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			y.metrics.panics.Inc()
			stack := debug.Stack()
			if p, ok := r.(*api.Panic); ok { // of a page that was asked for ahead
				r, stack = p.Value, p.Stack
			}
			log.Error("panic", "job", what, "panic", r, "stack", string(stack))
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f()
}
