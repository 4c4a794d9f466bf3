package memory

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// Whatever readers ask at once, they hold no more than their share together.
func TestReadersShareTheirMemory(t *testing.T) {
	for _, limit := range []Limit{Min, 128 << 20, 256 << 20, 2 << 30, 64 << 30} {
		synctest.Test(t, func(t *testing.T) {
			l := newLoans(limit.Lent(), limit.LeastLoan())
			var lent, most atomic.Int64
			var readers sync.WaitGroup
			for range 200 {
				readers.Go(func() {
					amount, back, err := l.Lend(t.Context(), time.Hour, netip.Prefix{})
					if err != nil {
						t.Error(err)
						return
					}
					now := lent.Add(amount)
					for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
					}
					if amount < limit.LeastLoan() || amount&(amount-1) != 0 {
						t.Errorf("lent %d", amount)
					}
					time.Sleep(time.Second) // while others ask, too
					lent.Add(-amount)
					back()
				})
			}
			readers.Wait()
			if most.Load() > limit.Lent() || limit.Lent()+limit.Own()+engineItself > int64(limit) || limit.Own() < limit.LeastLoan() {
				t.Errorf("of %d: readers held %d of %d, the daemon has %d", limit, most.Load(), limit.Lent(), limit.Own())
			}
			if most.Load() <= limit.Lent()/2 {
				t.Errorf("of %d: readers held %d of %d at most: the share is not used", limit, most.Load(), limit.Lent())
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
		_, back, err := l.Lend(t.Context(), time.Minute, netip.Prefix{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = l.Lend(t.Context(), time.Minute, netip.Prefix{})
		if thrown, ok := err.(*exception.Exception); !ok || thrown.Code != exception.TooManyQueries { //nolint:errorlint // it is what the server answers with
			t.Errorf("told %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := l.Lend(gone, time.Minute, netip.Prefix{}); err != context.Canceled { //nolint:errorlint // itself
			t.Errorf("one who has gone: %v", err)
		}
		back()
		if _, back, err = l.Lend(t.Context(), time.Minute, netip.Prefix{}); err != nil {
			t.Fatal(err)
		}
		back()
		if l.lent != 0 {
			t.Errorf("%d bytes are still lent", l.lent)
		}
	})
}
