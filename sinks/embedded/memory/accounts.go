package memory

import (
	"context"
	"net/netip"

	"golang.org/x/sync/semaphore"
)

// A reader that asks for more and more, or for what the engine does not stop, shall keep no
// reader at another address out. So an eighth of what readers have is out of reach of each
// address, be it memory or statements at once.

// othersShare is the part that no single address may have.
const othersShare = 8

// account is what one address may have.
type account struct {
	places, room *semaphore.Weighted
	lent         int64
	users        int // loans, and those who wait for one
}

// SharedBy bounds what an address may have, of places statements at once. What is too little
// to be shared is for who comes first.
func (l *Loans) SharedBy(places int) {
	l.ofOne, l.placesOfOne = l.all-l.kept, int64(max(places-places/othersShare, 1))
	if others := l.ofOne / othersShare; others >= l.least {
		l.ofOne -= others
	}
}

// open is the account of an address, nil where addresses do not matter. Leave it as often.
func (l *Loans) open(from netip.Prefix) *account {
	if l.ofOne == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := l.accounts[from]
	if !ok {
		a = &account{places: semaphore.NewWeighted(l.placesOfOne), room: semaphore.NewWeighted(l.ofOne)}
		l.accounts[from] = a
	}
	a.users++
	return a
}

func (l *Loans) leave(from netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a, ok := l.accounts[from]; ok {
		if a.users--; a.users == 0 {
			delete(l.accounts, from)
		}
	}
}

func (a *account) tryTake(amount int64) bool {
	if a == nil {
		return true
	}
	if !a.places.TryAcquire(1) {
		return false
	}
	if !a.room.TryAcquire(amount) {
		a.places.Release(1)
		return false
	}
	return true
}

func (a *account) take(ctx context.Context, amount int64) error {
	if a == nil {
		return nil
	}
	if err := a.places.Acquire(ctx, 1); err != nil {
		return err
	}
	if err := a.room.Acquire(ctx, amount); err != nil {
		a.places.Release(1)
		return err
	}
	return nil
}

func (a *account) giveBack(amount int64) {
	if a != nil {
		a.places.Release(1)
		a.room.Release(amount)
	}
}
