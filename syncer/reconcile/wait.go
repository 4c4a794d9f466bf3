package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
)

// waitComparable waits for the backfill of the orders, that of locations which were
// gained included, or makes it when nobody else does.
func (p *Pass) waitComparable(ctx context.Context, i int, totals *Proofs) error {
	s := totals.Source
	orders := totals.beside.Orders
	for range settleRounds { // another location may be gained meanwhile
		if orders.Off() || totals.NotComparable() == nil {
			break
		}
		p.mu.Lock()
		p.waiting[i] = orders
		p.mu.Unlock()
		s.Log.Info("waiting for the backfill, to have something to compare", "stream", registry.Orders)
		err := orders.Exclusive(ctx, orders.Filler, orders.Fill)
		p.mu.Lock()
		p.waiting[i] = nil
		p.mu.Unlock()
		if err != nil {
			return fmt.Errorf("the backfill of %s: %w", registry.Orders, err)
		}
	}
	return totals.NotComparable()
}

// noTotals is the error that says why no stream of totals is on.
func (d *SourceProofs) noTotals() error {
	st := d.Daily()
	if scopes := d.source.Identity().Scopes; st.Configured() && !st.Def.Allowed(scopes) {
		return fmt.Errorf("the service's totals cannot be asked for: %w %s (it has %s): ask the restaurant to grant it", stream.ErrNoScope, strings.Join(st.Def.Scopes, " or "), cmp.Or(strings.Join(scopes, " "), "none"))
	}
	return &stream.MisfitError{Text: "none of its streams of totals is on: the configuration must want " + registry.Daily}
}
