package memory

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Whatever one address asks and never ends, another is served at once, wherever there is
// memory for more than a few; and an address that is alone gets nearly all there is.
func TestAnAddressLeavesRoomForOthers(t *testing.T) {
	one, other := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/64")
	for _, c := range []struct {
		limit        Limit
		places       int
		first, after int // how many statements each gets that end not
	}{
		{Min, 32, 1, 0}, // too little to be shared
		{256 << 20, 32, 2, 0},
		{512 << 20, 32, 5, 1},
		{1 << 30, 32, 9, 3},
		{64 << 30, 32, 23, 9},
		{64 << 30, 8, 7, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			readers, _ := Shares(c.limit)
			readers.SharedBy(c.places)
			var all []func()
			fill := func(from netip.Prefix) (count int) {
				for {
					_, back, err := readers.Lend(t.Context(), time.Second, from)
					if err != nil {
						if c.after > 0 && from == one && !strings.Contains(err.Error(), "at your address") {
							t.Errorf("of %d MiB: told %v", c.limit>>20, err)
						}
						return count
					}
					all = append(all, back)
					count++
				}
			}
			if first, after := fill(one), fill(other); first != c.first || after < c.after {
				t.Errorf("of %d MiB for %d places: %d statements of one address, %d of another, not %d and %d", c.limit>>20, c.places, first, after, c.first, c.after)
			}
			for _, back := range all {
				back()
			}
			if readers.lent != 0 || len(readers.accounts) != 0 {
				t.Errorf("%d bytes are still lent, %d accounts open", readers.lent, len(readers.accounts))
			}
		})
	}
}
