package embedded

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// Whatever readers ask at once, they hold no more than their share together.
func TestReadersShareTheirMemory(t *testing.T) {
	for _, memory := range []int64{MinMemory, 128 << 20, 256 << 20, 2 << 30, 64 << 30} {
		synctest.Test(t, func(t *testing.T) {
			o := Options{Memory: memory}
			l := newLoans(o.readersMemory(), o.leastLoan())
			var lent, most atomic.Int64
			var readers sync.WaitGroup
			for range 200 {
				readers.Go(func() {
					amount, back, err := l.lend(t.Context(), time.Hour)
					if err != nil {
						t.Error(err)
						return
					}
					now := lent.Add(amount)
					for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
					}
					if amount < o.leastLoan() || amount&(amount-1) != 0 {
						t.Errorf("lent %d", amount)
					}
					time.Sleep(time.Second) // while others ask, too
					lent.Add(-amount)
					back()
				})
			}
			readers.Wait()
			if most.Load() > o.readersMemory() || o.readersMemory()+o.ownMemory()+engineItself > o.memory() || o.ownMemory() < o.leastLoan() {
				t.Errorf("of %d: readers held %d of %d, the daemon has %d", memory, most.Load(), o.readersMemory(), o.ownMemory())
			}
			if most.Load() <= o.readersMemory()/2 {
				t.Errorf("of %d: readers held %d of %d at most: the share is not used", memory, most.Load(), o.readersMemory())
			}
			if l.lent != 0 {
				t.Errorf("%d bytes are still lent", l.lent)
			}
		})
	}
}

// One who waits too long is told what to do, and takes nothing with him.
func TestAReaderWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoans(16<<20, 16<<20)
		_, back, err := l.lend(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = l.lend(t.Context(), time.Minute)
		if thrown, ok := err.(*exception.Exception); !ok || thrown.Code != exception.TooManyQueries { //nolint:errorlint // it is what the front answers with
			t.Errorf("told %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := l.lend(gone, time.Minute); err != context.Canceled { //nolint:errorlint // itself
			t.Errorf("one who has gone: %v", err)
		}
		back()
		if _, back, err = l.lend(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		back()
		if l.lent != 0 {
			t.Errorf("%d bytes are still lent", l.lent)
		}
	})
}

// A query that asks for less keeps its own limit; more is not given.
func TestTheLimitOfAQuery(t *testing.T) {
	for given, want := range map[string]string{"": "1000", "10": "10", "5000": "1000", "0": "1000"} {
		q := &request{settings: map[string]string{}}
		if given != "" {
			q.settings["max_memory_usage"] = given
		}
		if err := q.limitMemory(1000); err != nil || q.settings["max_memory_usage"] != want {
			t.Errorf("%q: %v %v", given, q.settings, err)
		}
	}
	if err := (&request{settings: map[string]string{"max_memory_usage": "all"}}).limitMemory(1000); err == nil {
		t.Error("taken")
	}
}
