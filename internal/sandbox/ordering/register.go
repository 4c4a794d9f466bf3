package ordering

import (
	"fmt"
	"sort"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// register is the orders of a book, by id and in order of change.
type register struct {
	idSeed    uint64
	strange   bool
	precision units.Precision
	last      int64 // the newest updated_at

	all      []*order
	byID     map[string]*order
	external map[externalKey]*order
	changes  map[string][]change // by app, in order of updated_at; stale ones among them
}

// externalKey is what makes POST /orders idempotent: unique per key.
type externalKey struct{ app, id string }

// change says that an order was last changed at stamp. It is stale once the order carries
// another.
type change struct {
	stamp int64
	order *order
}

func newRegister(idSeed uint64, strange bool, p units.Precision) register {
	return register{
		idSeed: idSeed, strange: strange, precision: p,
		byID: map[string]*order{}, external: map[externalKey]*order{}, changes: map[string][]change{},
	}
}

// add enters a new order.
func (r *register) add(o *order) {
	r.all = append(r.all, o)
	r.byID[o.id], r.external[externalKey{o.app, o.request.externalID}] = o, o
	r.enter(o, o.placed)
}

// newID is opaque; with strange ids it breaks clients that parse or forget to escape.
func (r *register) newID() string {
	n := len(r.all)
	g := seeded.New(r.idSeed, uint64(n))
	id := seeded.Base32(g.Next(), 13)
	if r.strange {
		return fmt.Sprintf("online/%%2F %d?ș=%s#", n, id)
	}
	return "onl_" + id
}

// stamp is the updated_at of a change. No two changes of a book share one: a page of
// GET /orders can then end anywhere, and the next begin with the row that it left out.
func (r *register) stamp(at int64) int64 {
	s := r.precision.Floor(at)
	if s <= r.last {
		s = r.last + r.precision.Step()
	}
	r.last = s
	return s
}

// move gives an order a new updated_at, which is the instant of what happened to it.
func (r *register) move(o *order, at int64) int64 {
	stamp := r.stamp(at)
	r.enter(o, stamp)
	return stamp
}

// enter moves an order to its place in the order of change, which is the end.
func (r *register) enter(o *order, stamp int64) {
	o.stamp = stamp
	all := append(r.changes[o.app], change{stamp, o})
	if len(all) > 1024 && len(all) > 4*len(r.all) {
		kept := all[:0]
		for _, c := range all {
			if c.order.stamp == c.stamp {
				kept = append(kept, c)
			}
		}
		all = kept
	}
	r.changes[o.app] = all
}

// sees is true when a key sees an order: one that it placed, of a location that is its.
func (o *order) sees(app App) bool { return o.app == app.ID && app.May(o.request.locationID) }

// seen is an order as the key sees it; false when the key sees no such order.
func (r *register) seen(app App, o *order) (types.OnlineOrder, bool) {
	if o == nil || !o.sees(app) {
		return types.OnlineOrder{}, false
	}
	return r.shown(o), true
}

func (r *register) shown(o *order) types.OnlineOrder { return o.shown(r.precision) }

// since is Book.Since.
func (r *register) since(app App, since int64, limit int) (orders []types.OnlineOrder, next *types.Instant) {
	all := r.changes[app.ID]
	for _, c := range all[sort.Search(len(all), func(i int) bool { return all[i].stamp >= since }):] {
		if c.order.stamp != c.stamp || !c.order.sees(app) {
			continue
		}
		if len(orders) == limit {
			return orders, instant(c.stamp, r.precision)
		}
		orders = append(orders, r.shown(c.order))
	}
	return orders, nil
}
