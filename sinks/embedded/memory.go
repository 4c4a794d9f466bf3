package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"golang.org/x/sync/semaphore"
)

// The engine's memory is divided so that no query of a reader can take what inserts
// and merges need. The engine cannot do that by itself: its limits for a user hold for
// the daemon as well, since the library knows one user only, and of two statements that
// reach the engine's limit together either may fail (measured: the overcommit tracker
// is not asked for the engine as a whole). So each reader is lent a part of a share that
// all readers have in common, and the engine is told that part as the query's limit.

// defaultMemory is for those who set none.
const defaultMemory = 2 << 30

// MinMemory is what the engine needs to take in rows and to merge them.
const MinMemory = 128 << 20

// ErrMemory is what errors.Is finds when an engine is given too little memory.
var ErrMemory = errors.New("too little memory for the embedded engine")

// leastLoan is the least that a query of a reader gets: a plain one needs some MiB for
// each column that it reads.
func (o Options) leastLoan() int64 { return min(max(o.memory()>>6, 16<<20), 64<<20) }

func (o Options) memory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return defaultMemory
}

func (o Options) checkMemory() error {
	if o.memory() < MinMemory {
		return fmt.Errorf("%w: %d MiB, it needs %d", ErrMemory, o.memory()>>20, MinMemory>>20)
	}
	return nil
}

// engineItself is what the engine counts as its own before any statement runs: 25 MiB
// at the start, 50 when it has been at work for a while.
const engineItself = 48 << 20

// readersMemory is what is lent to readers and to the owner's commands together.
func (o Options) readersMemory() int64 { return max((o.memory()-engineItself)/8*3, 2*o.leastLoan()) }

// ownMemory is the limit of one statement of the daemon's own.
func (o Options) ownMemory() int64 { return o.memory() - engineItself - o.readersMemory() }

// mergesMemory is beyond what no merge is begun.
func (o Options) mergesMemory() int64 { return o.memory() / 4 }

// cacheMemory is the limit of each cache.
func (o Options) cacheMemory() int64 { return min(o.memory()/32, 512<<20) }

// untracked is how much a thread allocates before it is counted: a dozen threads make a
// difference to a small limit.
func (o Options) untracked() int64 { return min(o.memory()>>9, 4<<20) }

// mergeBlock is how much of a table a merge writes at a time.
func (o Options) mergeBlock() int64 { return min(o.memory()>>7, 10<<20) }

// mergeThreads is how many merges run at once.
func (o Options) mergeThreads() int64 { return min(max(o.memory()>>28, 2), 16) }

// loans are memory that is lent to statements.
type loans struct {
	who   string // has it together
	all   int64
	least int64
	kept  int64 // of all, for others
	room  *semaphore.Weighted

	mu   sync.Mutex
	lent int64
}

func newLoans(all, least int64) *loans {
	return &loans{who: "readers", all: all, least: least, room: semaphore.NewWeighted(all)}
}

// lend returns how much memory a query may use: half of what there is when it is alone,
// else a quarter of what is left; the least when it had to wait for others. Amounts are
// powers of two, so that connections, which are opened with their settings, can be used
// again. Call back when the query has ended.
func (l *loans) lend(ctx context.Context, patience time.Duration) (amount int64, back func(), err error) {
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

func (l *loans) giveBack(amount int64) {
	l.add(-amount)
	l.room.Release(amount)
}

// atOnce takes what a query can have without waiting, 0 for nothing.
func (l *loans) atOnce() int64 {
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

func (l *loans) add(amount int64) {
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

// smallLoan is up to which a query is computed in small steps: by the engine's defaults a
// plain answer of a few columns takes 80 MiB, since every thread holds some blocks of
// 65,000 rows.
const smallLoan = 128 << 20

var smallSteps = map[string]string{"max_block_size": "8192", "max_threads": "2", "output_format_parallel_formatting": "0"}

// limitMemory gives a query the limit that it was lent, unless it came with a stricter
// one.
func (q *request) limitMemory(amount int64) error {
	const name = "max_memory_usage"
	if given, ok := q.settings[name]; ok {
		own, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The value of setting '%s' is no number", name)
		}
		if own > 0 {
			amount = min(amount, own)
		}
	}
	q.settings[name] = number(amount)
	if amount > smallLoan {
		return nil
	}
	for step, value := range smallSteps {
		if _, given := q.settings[step]; !given {
			q.settings[step] = value
		}
	}
	return nil
}

// lendMemory lends a query its memory, until back is called.
func (f *front) lendMemory(ctx context.Context, q *request) (back func(), err error) {
	amount, back, err := f.lender().lend(ctx, f.engine.readers.patience)
	if err != nil {
		return nil, err
	}
	if err := q.limitMemory(amount); err != nil {
		back()
		return nil, err
	}
	return back, nil
}
