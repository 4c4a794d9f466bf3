package syncer

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// faultySink panics at its next beat when it is broken.
type faultySink struct {
	sinks.Sink
	broken atomic.Bool
}

func (s *faultySink) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	if s.broken.CompareAndSwap(true, false) {
		panic("a broken beat")
	}
	return s.Sink.Beat(ctx, p, wants)
}

// Outside of walks, too, a panic ends neither the daemon nor the mirroring of any source.
func TestAPanicOutsideOfAWalkEndsNothing(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 500, Businesses: 2}, func(t *testing.T, w *world) {
		var log logged
		w.into(&log)
		w.process = "p"
		sink := &faultySink{}
		tune := w.tune
		w.tune = func(o *Options) {
			tune(o)
			sink.Sink, o.Sink = o.Sink, sink
		}
		var brokenKey atomic.Bool
		sources := w.sources()
		key := sources[0].Key
		sources[0].Key = func() string {
			if brokenKey.CompareAndSwap(true, false) {
				panic("a broken key")
			}
			return key()
		}
		w.run(sources...)
		w.until("mirrored", 5*time.Minute, w.filled)
		for name, fault := range map[string]*atomic.Bool{"a broken key": &brokenKey, "a broken beat": &sink.broken} {
			log.take()
			fault.Store(true)
			time.Sleep(2 * time.Minute)
			lines := strings.Join(log.take(), "\n")
			if fault.Load() || !strings.Contains(lines, name) || !strings.Contains(lines, "stack=") {
				t.Errorf("%s: the log has no panic with a stack:\n%s", name, lines)
			}
			for i, s := range w.syncer.Status().Sources {
				if s.State != status.StateRunning || !walked(s) {
					t.Errorf("%s: source %d is %s, and walked within a minute: %t", name, i, s.State, walked(s))
				}
			}
		}
		if _, err := w.syncer.RunOnce(t.Context(), Selection{Streams: []string{"allergens"}}, func(status.Status) { panic("a broken progress") }); err != nil {
			t.Errorf("a pass whose progress cannot be shown: %v", err)
		}
		if err := w.syncer.visit(t.Context(), w.syncer.served(), 1, nil, func(context.Context, int, *source) { panic("a broken pass") }); err == nil || !strings.Contains(err.Error(), "a broken pass") {
			t.Errorf("a pass that panics ends with %v", err)
		}
	})
}

// walked reports whether the categories of a source were walked within the last minute.
func walked(s status.SourceStatus) bool {
	i := slices.IndexFunc(s.Streams, func(st status.StreamStatus) bool { return st.Name == "categories" })
	return time.Since(s.Streams[i].LastSuccess) < time.Minute
}

// A source that cannot begin anew after it was lost is served no more; the others are.
func TestALostSourceThatCannotBeginAnewEndsAlone(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 500, Businesses: 2}, func(t *testing.T, w *world) {
		var log logged
		w.into(&log)
		w.process = "p"
		w.run()
		w.until("mirrored", 5*time.Minute, w.filled)
		synctest.Wait() // nothing reads the definitions while they change
		known := w.syncer.definitions
		w.syncer.definitions = append([]*registry.Definition{{Name: "unheard of", Kind: -1}}, known...)
		leaseOwner{w.syncer}.Lost("r0", &lease.WaitingError{})
		synctest.Wait()
		w.syncer.definitions = known
		time.Sleep(2 * time.Minute)
		lost, other := w.syncer.Status().Sources[0], w.syncer.Status().Sources[1]
		if walked(lost) || !walked(other) {
			t.Errorf("walked within a minute: the lost source %t, the other %t", walked(lost), walked(other))
		}
		if lines := strings.Join(loud(log.take()), "\n"); !strings.Contains(lines, "cannot be served again") || !strings.Contains(lines, "r0") {
			t.Errorf("the log does not name it:\n%s", lines)
		}
	})
}
