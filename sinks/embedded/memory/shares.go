package memory

import (
	"context"
	"net/netip"
	"time"

	"golang.org/x/sync/semaphore"
)

// Shares divides what is lent: strangers, who come in over the read-only way, cannot
// have all of it. A part is kept for the folder's owner, whose commands come in over the
// socket, so that no number of readers keeps a person from looking or mending.
func Shares(l Limit) (readers *Loans, owner *OwnerLoans) {
	all, kept := l.Lent(), l.kept()
	readers = newLoans(all, l.LeastLoan())
	readers.kept, readers.room = kept, semaphore.NewWeighted(all-kept)
	ofOwner := newLoans(kept, l.LeastLoan())
	ofOwner.who = "commands beside the daemon"
	return readers, &OwnerLoans{shared: readers, kept: ofOwner}
}

// OwnerLoans are what is lent to the folder's owner: what readers have left, and when
// that is nothing, the part that is kept.
type OwnerLoans struct {
	shared, kept *Loans
}

// Lend is that of Loans.
func (l *OwnerLoans) Lend(ctx context.Context, patience time.Duration) (amount int64, back func(), err error) {
	if amount := l.shared.atOnce(nil); amount > 0 {
		return amount, func() { l.shared.giveBack(nil, amount) }, nil
	}
	return l.kept.Lend(ctx, patience, netip.Prefix{})
}
