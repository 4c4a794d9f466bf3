package memory

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// However many readers hold all that they can get, a command of the folder's owner gets
// some memory at once.
func TestReadersLeaveTheOwnerSomeMemory(t *testing.T) {
	// How many readers fit that give nothing back, as docs/operations.md has it.
	for limit, most := range map[Limit]int{Min: 1, 256 << 20: 2, 512 << 20: 6, 1 << 30: 10, 2 << 30: 10, 64 << 30: 26} {
		synctest.Test(t, func(t *testing.T) {
			readers, owner := Shares(limit)
			var lent int64
			var all []func()
			for {
				amount, back, err := readers.Lend(t.Context(), time.Second, netip.Prefix{})
				if err != nil {
					break
				}
				lent += amount
				all = append(all, back)
			}
			if len(all) != most {
				t.Errorf("of %d MiB: %d readers fit, not %d", limit>>20, len(all), most)
			}
			began := time.Now()
			amount, back, err := owner.Lend(t.Context(), time.Second)
			if err != nil || amount < limit.LeastLoan() || time.Since(began) > 0 {
				t.Fatalf("of %d MiB: the owner got %d after %s: %v", limit>>20, amount, time.Since(began), err)
			}
			if lent+amount > limit.Lent() {
				t.Errorf("of %d MiB: %d are lent, of %d", limit>>20, lent+amount, limit.Lent())
			}
			// What the owner has back is for the owner again, and no reader's.
			back()
			if _, _, err := readers.Lend(t.Context(), time.Second, netip.Prefix{}); err == nil {
				t.Errorf("of %d MiB: a reader has the owner's part", limit>>20)
			}
			for _, back := range all {
				back()
			}
			if readers.lent != 0 || owner.kept.lent != 0 {
				t.Errorf("of %d MiB: %d and %d are still lent", limit>>20, readers.lent, owner.kept.lent)
			}
		})
	}
}

// A command that is alone may use what readers leave, not only the part that is kept.
func TestTheOwnerAloneGetsAsMuchAsAReader(t *testing.T) {
	for _, limit := range []Limit{Min, 256 << 20, 2 << 30} {
		readers, owner := Shares(limit)
		theirs, back, err := readers.Lend(context.Background(), time.Second, netip.Prefix{})
		if err != nil {
			t.Fatal(err)
		}
		back()
		ours, back, err := owner.Lend(context.Background(), time.Second)
		if err != nil || ours != theirs {
			t.Errorf("of %d MiB: the owner gets %d, a reader %d: %v", limit>>20, ours, theirs, err)
		}
		back()
	}
}
