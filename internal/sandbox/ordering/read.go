package ordering

import (
	"sort"

	"github.com/larder-sync/larder/internal/api"
)

// change says that an order was last changed at stamp. It is stale once the order carries
// another.
type change struct {
	stamp int64
	order *order
}

// enter moves an order to its place in the order of change, which is the end.
func (b *Book) enter(o *order, stamp int64) {
	o.stamp = stamp
	all := append(b.changes[o.app], change{stamp, o})
	if len(all) > 1024 && len(all) > 4*len(b.orders) {
		kept := all[:0]
		for _, c := range all {
			if c.order.stamp == c.stamp {
				kept = append(kept, c)
			}
		}
		all = kept
	}
	b.changes[o.app] = all
}

// sees tells whether a key sees an order: one that it placed, of a location that is its.
func (o *order) sees(app App) bool { return o.app == app.ID && app.May(o.request.locationID) }

// Order is an order of the key by the service's id.
func (b *Book) Order(app App, id string) (api.OnlineOrder, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.byID[id]
	if o == nil || !o.sees(app) {
		return api.OnlineOrder{}, false
	}
	return b.shown(o), true
}

// External is an order of the key by its own id.
func (b *Book) External(app App, externalID string) (api.OnlineOrder, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.external[externalKey{app.ID, externalID}]
	if o == nil || !o.sees(app) {
		return api.OnlineOrder{}, false
	}
	return b.shown(o), true
}

// Since are up to limit orders of the key changed at or after an instant, oldest change
// first. next is the updated_at of the first that is left out: where the next call begins,
// so that it neither misses nor repeats one. It is nil when nothing is left.
func (b *Book) Since(app App, since int64, limit int) (orders []api.OnlineOrder, next *api.Instant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.changes[app.ID]
	for _, c := range all[sort.Search(len(all), func(i int) bool { return all[i].stamp >= since }):] {
		if c.order.stamp != c.stamp || !c.order.sees(app) {
			continue
		}
		if len(orders) == limit {
			return orders, b.instant(c.stamp)
		}
		orders = append(orders, b.shown(c.order))
	}
	return orders, nil
}
