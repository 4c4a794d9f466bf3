package sales

import (
	"math/rand/v2"

	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// store is what is kept of the orders, and finds one.
type store struct {
	*rows.Common
	orders    []order
	extras    map[uint32]*orderMore
	ids       orderIDs
	byCreated rows.Log // by created_at, for range mode
	changes   rows.Log // by updated_at
}

// order is what is kept of an order; the rest is computed by content.
type order struct {
	created int64  // microseconds, never changes
	stamp   int64  // updated_at
	menu    uint32 // edition of the menu that its lines were sold from
	paid    uint32 // seconds from created to paid_at
	rev     uint16 // edits
	loc     uint8
	origin  uint8 // location whose menu its lines are from
	flags   orderFlags
}

type orderFlags uint8

const (
	orderPaid orderFlags = 1 << iota
	orderEverPaid
	orderCancelled
	orderDeleted
	orderExtra // has an entry in store.extras
)

// orderMore has the fields that only few orders need.
type orderMore struct {
	refunds   []refund
	removedAt int64 // when it stopped being a sale
	spec      *OrderSpec
	online    *onlineContent
	raw       []byte
}

type refund struct {
	amount units.Bani
	cash   bool
	at     int64
	item   int // 1-based line, 0 for the order as a whole
}

// reason is "" for a sale: paid and neither cancelled nor deleted.
func (o *order) reason() string {
	switch {
	case o.flags&orderDeleted != 0:
		return rows.ReasonDeleted
	case o.flags&orderCancelled != 0:
		return rows.ReasonCancelled
	case o.flags&orderPaid == 0:
		return rows.ReasonUnpaid
	}
	return ""
}

func (o *order) counts() bool { return o.reason() == "" }

// listed is true when mirror mode shows the order, live or as a tombstone. An
// order that never was a sale does not "no longer" count as one.
func (s *store) listed(o *order) bool {
	return o.flags&orderEverPaid != 0 || s.Readings.NeverPaidTombstones
}

func (s *store) more(n uint32) *orderMore {
	if s.orders[n].flags&orderExtra == 0 {
		return nil
	}
	return s.extras[n]
}

func (s *store) ensureMore(n uint32) *orderMore {
	o := &s.orders[n]
	if o.flags&orderExtra == 0 {
		o.flags |= orderExtra
		s.extras[n] = &orderMore{}
	}
	return s.extras[n]
}

func (s *store) current(c rows.Change) bool { return s.orders[c.N].stamp == c.Stamp }

func (s *store) created(n uint32) int64 { return s.orders[n].created }

// ID is that of order n.
func (s *store) ID(n uint32) string { return string(s.ids.append(nil, n, s.created)) }

// Find is the order of an id, opaque to everyone else; or rows.ErrNoRow.
func (s *store) Find(id string) (uint32, error) {
	n, ok := s.ids.number(id)
	if !ok || int(n) >= len(s.orders) || s.ID(n) != id {
		return 0, rows.ErrNoRow
	}
	return n, nil
}

// LiveIDs are the ids of the sales, in the order they were opened.
func (s *store) LiveIDs() []string {
	var ids []string
	for n := range s.orders {
		if s.orders[n].counts() {
			ids = append(ids, s.ID(uint32(n)))
		}
	}
	return ids
}

// Random draws any order, a removed one too; half of the time a recent one.
func (s *store) Random(g *rand.Rand) (id string, ok bool) {
	count := len(s.orders)
	if count == 0 {
		return "", false
	}
	n := g.IntN(count)
	if recent := min(count, 50); g.IntN(2) == 0 {
		n = count - 1 - g.IntN(recent)
	}
	return s.ID(uint32(n)), true
}

// Stamps are those of the orders that mirror mode shows, by id. Those without one are left
// out.
func (s *store) Stamps(sees func(loc int) bool) map[string]rows.Stamp {
	all := make(map[string]rows.Stamp, len(s.orders))
	for n := range s.orders {
		if o := &s.orders[n]; o.stamp != rows.NullStamp && sees(int(o.loc)) && s.listed(o) {
			all[s.ID(uint32(n))] = s.Stamp(o.stamp, int(o.loc), !o.counts())
		}
	}
	return all
}
