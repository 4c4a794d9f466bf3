package memory

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// The engine's memory is divided so that no query of a reader can take what inserts
// and merges need. The engine cannot do that by itself: its limits for a user hold for
// the daemon as well, since the library knows one user only, and of two statements that
// reach the engine's limit together either may fail (measured: the overcommit tracker
// is not asked for the engine as a whole). So each reader is lent a part of a share that
// all readers have in common, and the engine is told that part as the query's limit.

// Loans are memory that is lent to statements.
type Loans struct {
	who   string // has it together
	all   int64
	least int64
	kept  int64 // of all, for others
	room  *semaphore.Weighted

	mu   sync.Mutex
	lent int64
}

func newLoans(all, least int64) *Loans {
	return &Loans{who: "readers", all: all, least: least, room: semaphore.NewWeighted(all)}
}

// Lend returns how much memory a query may use: half of what there is when it is alone,
// else a quarter of what is left; the least when it had to wait for others. Amounts are
// powers of two, so that connections, which are opened with their settings, can be used
// again. Call back when the query has ended.
func (l *Loans) Lend(ctx context.Context, patience time.Duration) (amount int64, back func(), err error) {
	amount = l.atOnce()
	if amount == 0 {
		wait, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := l.room.Acquire(wait, l.least); err != nil {
			if ctx.Err() != nil {
				return 0, nil, ctx.Err()
			}
			return 0, nil, exception.Refuse(exception.TooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many simultaneous queries: others hold all the memory that %s may have together, and none has ended within %s. Try again, ask fewer at once, or raise warehouse.memory", l.who, patience)
		}
		amount = l.least
		l.add(amount)
	}
	return amount, func() { l.giveBack(amount) }, nil
}

func (l *Loans) giveBack(amount int64) {
	l.add(-amount)
	l.room.Release(amount)
}

// atOnce takes what a query can have without waiting, 0 for nothing.
func (l *Loans) atOnce() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	amount := l.all / 2
	if l.lent > 0 {
		amount = (l.all - l.kept - l.lent) / 4
	}
	amount = max(powerOfTwo(amount), l.least)
	if !l.room.TryAcquire(amount) {
		return 0
	}
	l.lent += amount
	return amount
}

func (l *Loans) add(amount int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent += amount
}

// powerOfTwo is the highest that is not above n, 0 for none.
func powerOfTwo(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return 1 << (bits.Len64(uint64(n)) - 1)
}
