package syncer

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
)

// onItsWay waits until a long walk has so many pages behind it.
func (s *shop) onItsWay(walk string, pages uint64) {
	s.t.Helper()
	s.until("a part of the walk", time.Hour, func() bool {
		p := s.stream(shopStream).Progress
		return p != nil && p.Walk == walk && p.Pages > pages
	})
}

// away takes all locations but one from the key, and gives them back before the walk
// that is under way has ended; on the way the process may be killed.
func (s *shop) away(stays, walk string, killed bool, from, to uint64) {
	s.t.Helper()
	s.onItsWay(walk, from)
	s.access(stays)
	s.onItsWay(walk, to)
	if killed {
		s.crash(0)
	}
	s.access("l1", "l2")
	if killed {
		s.run(s.source())
	}
}

// What a backfill passed by because a location was away for a part of it comes when it
// is back, long before the next full resync, also when the process was killed meanwhile.
func TestALocationAwayDuringABackfill(t *testing.T) {
	for _, killed := range []bool{false, true} {
		inShop(t, func(t *testing.T, s *shop) {
			s.stock("l2", 160)
			s.stock("l1", 150)
			s.access("l1", "l2")
			s.schedule = Schedule{Snapshots: "@every 20s"}
			s.slow = true
			s.run(s.source())
			s.away("l1", sinks.WalkBackfill, killed, 20, 110)
			s.until("the rows of both", 20*time.Minute, func() bool {
				one, _ := s.live("l1")
				two, _ := s.live("l2")
				return one == 150 && two == 160 && s.filled()
			})
			s.quiet(t)
		})
	}
}

// A full resync that a location was away for a part of removes none of its rows, whether
// few and asked for one by one or many, whether old or just written by the incremental
// walks, also when the process was killed between.
func TestALocationAwayDuringAFullResync(t *testing.T) {
	for _, gone := range []string{"l2", "l1"} {
		for _, rows := range []int{40, 160} {
			for _, killed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/killed=%v", gone, rows, killed), func(t *testing.T) {
					inShop(t, func(t *testing.T, s *shop) { s.awayDuringAFullResync(t, gone, rows, killed) })
				})
			}
		}
	}
}

func (s *shop) awayDuringAFullResync(t *testing.T, gone string, rows int, killed bool) {
	t.Helper()
	stays := map[string]string{"l1": "l2", "l2": "l1"}[gone]
	s.stock(gone, rows)
	s.stock(stays, 150)
	s.access("l1", "l2")
	s.schedule = Schedule{Snapshots: "@every 20s", FullResync: "@every 1h"}
	s.run(s.source())
	s.until("filled", time.Hour, s.filled)
	s.mu.Lock()
	s.slow = true
	s.mu.Unlock()
	s.away(stays, sinks.WalkFull, killed, 2, 90)
	s.until("its end", 2*time.Hour, func() bool { return !s.stream(shopStream).LastResync.IsZero() })
	if held := s.stream(shopStream).SweepHeld; held != nil {
		t.Errorf("held: %v", held)
	}
	if n, removed := s.live(gone); n != rows || len(removed) > 0 {
		t.Errorf("%d of %d rows live, removed %v", n, rows, removed)
	}
}

// quiet waits, and complains when the list is walked once more.
func (s *shop) quiet(t *testing.T) {
	t.Helper()
	s.asked("")
	time.Sleep(30 * time.Minute)
	for _, q := range s.asked("/products") {
		if query(q, "updated_since") == "" {
			t.Errorf("walked once more: %s", q)
		}
	}
}

// withoutLocations is what a mirror has stored that was made before the locations of lists were.
type withoutLocations struct{ sinks.Sink }

func (o *withoutLocations) State(ctx context.Context, source string) (sinks.State, error) {
	s, err := o.Sink.State(ctx, source)
	s.Checkpoints = slices.DeleteFunc(s.Checkpoints, func(cp sinks.Checkpoint) bool { return cp.Walk == sinks.WalkOwed })
	return s, err
}

// A mirror of an older version owes a full resync, and its rows count meanwhile as they did.
func TestAMirrorWithoutStoredLocationsOwesAFullResync(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 38, Orders: 5000}, func(t *testing.T, w *world) {
		w.run()
		w.until("filled", time.Hour, w.filled)
		w.halt()
		w.tune = func(o *Options) { o.Sink = &withoutLocations{o.Sink} }
		w.run()
		w.until("served", time.Hour, func() bool {
			return w.syncer.Status().Sources[0].State == "running" && w.list(registry.Orders).Resyncing()
		})
		if !w.list(registry.Orders).Complete() {
			t.Errorf("the orders await rows: state %s", w.stream(registry.Orders).State)
		}
	})
}
