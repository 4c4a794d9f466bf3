package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"sync/atomic"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// place is what a cursor says: where the walk is, over which days, with which
// filters (a hash of route and filters, so that a cursor serves its own walk
// only).
type place struct {
	pos      rows.Pos
	days     sales.Days
	filters  uint64
	business uint32
	epoch    uint32 // invalidating all cursors raises it
	empty    uint32 // which of the empty pages behind pos comes next, from 1; 0 for none
}

// cursors seal and open the cursors given out now: opaque and authenticated. The secret
// comes from the seed, so cursors outlive a restart.
type cursors struct {
	secret []byte
	epoch  atomic.Uint32
}

const (
	placeLen = 40
	macLen   = 12
)

func newCursors(seed int64) *cursors {
	g := seeded.New(uint64(seed), 10)
	secret := binary.BigEndian.AppendUint64(nil, g.Next())
	return &cursors{secret: binary.BigEndian.AppendUint64(secret, g.Next())}
}

// InvalidateCursors makes every cursor given out so far a broken one.
func (c *cursors) InvalidateCursors() { c.epoch.Add(1) }

func (c *cursors) seal(p place) string {
	b := make([]byte, 0, placeLen+macLen)
	b = binary.BigEndian.AppendUint64(b, uint64(p.pos.Stamp))
	b = binary.BigEndian.AppendUint32(b, p.pos.N)
	b = binary.BigEndian.AppendUint32(b, uint32(p.days.From))
	b = binary.BigEndian.AppendUint32(b, uint32(p.days.To))
	b = binary.BigEndian.AppendUint64(b, p.filters)
	b = binary.BigEndian.AppendUint32(b, p.business)
	b = binary.BigEndian.AppendUint32(b, c.epoch.Load())
	b = binary.BigEndian.AppendUint32(b, p.empty)
	c.scramble(b)
	return base64.RawURLEncoding.EncodeToString(append(b, c.mac(b)...))
}

// unseal reads a cursor; false for one that is broken, changed or of another walk.
func (c *cursors) unseal(s string, filters uint64, business int) (place, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != placeLen+macLen || !hmac.Equal(b[placeLen:], c.mac(b[:placeLen])) {
		return place{}, false
	}
	b = b[:placeLen]
	c.scramble(b)
	p := place{
		pos:      rows.Pos{Begun: true, Stamp: int64(binary.BigEndian.Uint64(b)), N: binary.BigEndian.Uint32(b[8:])},
		days:     sales.Days{From: units.Day(binary.BigEndian.Uint32(b[12:])), To: units.Day(binary.BigEndian.Uint32(b[16:]))},
		filters:  binary.BigEndian.Uint64(b[20:]),
		business: binary.BigEndian.Uint32(b[28:]),
		epoch:    binary.BigEndian.Uint32(b[32:]),
		empty:    binary.BigEndian.Uint32(b[36:]),
	}
	return p, p.filters == filters && p.business == uint32(business) && p.epoch == c.epoch.Load()
}

func (c *cursors) mac(b []byte) []byte {
	h := hmac.New(sha256.New, c.secret)
	h.Write(b)
	return h.Sum(nil)[:macLen]
}

// scramble hides the content, so that nobody is tempted to parse it.
func (c *cursors) scramble(b []byte) {
	g := seeded.New(binary.BigEndian.Uint64(c.secret))
	for i := range b {
		b[i] ^= byte(g.Next())
	}
}
