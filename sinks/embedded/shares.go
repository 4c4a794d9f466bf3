package embedded

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// shares divides what is lent: strangers, who come in over the read-only way, cannot
// have all of it. A part is kept for the folder's owner, whose commands come in over the
// socket, so that no number of readers keeps a person from looking or mending.
func (o Options) shares() (readers *loans, owner *ownerLoans) {
	all, kept := o.readersMemory(), o.keptMemory()
	readers = newLoans(all, o.leastLoan())
	readers.kept, readers.room = kept, semaphore.NewWeighted(all-kept)
	ofOwner := newLoans(kept, o.leastLoan())
	ofOwner.who = "commands beside the daemon"
	return readers, &ownerLoans{shared: readers, kept: ofOwner}
}

// keptMemory is the part of the readers' memory that only the owner may have.
func (o Options) keptMemory() int64 { return max(o.readersMemory()/8, o.leastLoan()) }

// ownerLoans are what is lent to the folder's owner: what readers have left, and when
// that is nothing, the part that is kept.
type ownerLoans struct {
	shared, kept *loans
}

func (l *ownerLoans) lend(ctx context.Context, patience time.Duration) (amount int64, back func(), err error) {
	if amount := l.shared.atOnce(); amount > 0 {
		return amount, func() { l.shared.giveBack(amount) }, nil
	}
	return l.kept.lend(ctx, patience)
}

// lender lends memory to statements.
type lender interface {
	lend(ctx context.Context, patience time.Duration) (amount int64, back func(), err error)
}

// lender is where those who come in here get their memory.
func (f *front) lender() lender {
	if f.rights == reading {
		return f.engine.loans
	}
	return f.engine.owner
}
