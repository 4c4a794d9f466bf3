package memory

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// The engine's memory is divided so that no query of a reader can take what inserts
// and merges need. The engine cannot do that by itself. Its limits for a user hold for
// the daemon as well, since the library knows one user only. Of two statements that
// reach the engine's limit together either may fail (measured: the overcommit tracker
// is not asked for the engine as a whole). So each reader is lent a part of a share that
// all readers have in common, and that part is the query's limit in the engine.

// Loans are memory that is lent to statements.
type Loans struct {
	who   string // has it together
	all   int64
	least int64
	kept  int64 // of all, for others
	room  *semaphore.Weighted

	ofOne       int64 // of all, what one address may have; 0: all
	placesOfOne int64 // how many loans at once

	mu       sync.Mutex
	lent     int64
	accounts map[netip.Prefix]*account
}

func newLoans(all, least int64) *Loans {
	return &Loans{who: "readers", all: all, least: least, room: semaphore.NewWeighted(all), accounts: map[netip.Prefix]*account{}}
}

// Lend returns how much memory a query from an address may use: half of what there is when
// it is alone, else a quarter of what is left; the least when it had to wait for others.
// Amounts are powers of two, so that connections, which are opened with their settings, can
// be used again. Call back when the query has ended.
func (l *Loans) Lend(ctx context.Context, patience time.Duration, from netip.Prefix) (amount int64, back func(), err error) {
	a := l.open(from)
	if amount = l.atOnce(a); amount == 0 {
		wait, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := l.await(wait, a); err != nil {
			l.leave(from)
			if ctx.Err() != nil {
				return 0, nil, ctx.Err()
			}
			return 0, nil, exception.Refuse(exception.TooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many simultaneous queries: %v, and none has ended within %s. Try again, ask fewer at once, or raise warehouse.memory", err, patience)
		}
		amount = l.least
		l.mu.Lock()
		l.note(a, amount)
		l.mu.Unlock()
	}
	return amount, func() {
		l.giveBack(a, amount)
		l.leave(from)
	}, nil
}

// await waits for the least.
func (l *Loans) await(ctx context.Context, a *account) error {
	if err := a.take(ctx, l.least); err != nil {
		return errors.New("others at your address hold all the places or memory that one address may have")
	}
	if err := l.room.Acquire(ctx, l.least); err != nil {
		a.giveBack(l.least)
		return fmt.Errorf("others hold all the memory that %s may have together", l.who)
	}
	return nil
}

func (l *Loans) giveBack(a *account, amount int64) {
	l.mu.Lock()
	l.note(a, -amount)
	l.mu.Unlock()
	l.room.Release(amount)
	a.giveBack(amount)
}

// atOnce takes what a query can have without waiting, 0 for nothing.
func (l *Loans) atOnce(a *account) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	amount := l.all / 2
	if l.lent > 0 {
		amount = (l.all - l.kept - l.lent) / 4
	}
	if a != nil && a.lent > 0 {
		amount = min(amount, (l.ofOne-a.lent)/4)
	}
	amount = max(powerOfTwo(amount), l.least)
	if !a.tryTake(amount) {
		return 0
	}
	if !l.room.TryAcquire(amount) {
		a.giveBack(amount)
		return 0
	}
	l.note(a, amount)
	return amount
}

// note counts what is lent, or given back. Call it with mu held.
func (l *Loans) note(a *account, amount int64) {
	l.lent += amount
	if a != nil {
		a.lent += amount
	}
}

// powerOfTwo is the highest that is not above n, 0 for none.
func powerOfTwo(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return 1 << (bits.Len64(uint64(n)) - 1)
}
