package syncer

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/larder-sync/larder/syncer/registry"
)

// waitComparable waits for the backfill of the orders, that of locations which were
// gained included, or makes it when nobody else does.
func (p *reconcilePass) waitComparable(ctx context.Context, i int, totals *totals) error {
	s := totals.source
	orders := totals.beside.orders
	for range settleRounds { // another location may be gained meanwhile
		if orders.off() || totals.notComparable() == nil {
			break
		}
		p.mu.Lock()
		p.waiting[i] = orders
		p.mu.Unlock()
		s.log.Info("waiting for the backfill, to have something to compare", "stream", registry.Orders)
		err := orders.exclusive(ctx, orders.filler, orders.fill)
		p.mu.Lock()
		p.waiting[i] = nil
		p.mu.Unlock()
		if err != nil {
			return fmt.Errorf("the backfill of %s: %w", registry.Orders, err)
		}
	}
	return totals.notComparable()
}

// noTotals is why no stream of totals is on.
func (d *days) noTotals() error {
	st := d.daily()
	if scopes := d.source.identity().scopes; st.configured() && !st.def.Allowed(scopes) {
		return fmt.Errorf("the service's totals cannot be asked for: %w %s (it has %s): ask the restaurant to grant it", ErrNoScope, strings.Join(st.def.Scopes, " or "), cmp.Or(strings.Join(scopes, " "), "none"))
	}
	return &MisfitError{"none of its streams of totals is on: the configuration must want " + registry.Daily}
}
