package ordering

import (
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// checkLocation refuses an order that the location does not take now. ordering.accepting alone
// decides that, so what it refuses cannot be scheduled for later either. A time outside the opening hours is a closed location, not a
// malformed request. The reasons are those of docs/openapi.yaml, Error: location_unavailable.
func checkLocation(l *types.Location, r *request, openAt func(at int64) bool) *refusal.Refusal {
	reason := "type_not_offered"
	switch {
	case !l.Ordering.Accepting:
		reason = l.Ordering.Status // closed, paused or disabled
	case r.scheduledFor != nil && !openAt(*r.scheduledFor):
		reason = "closed"
	case slices.Contains(l.Ordering.Types, r.typ):
		return nil
	}
	return &refusal.Refusal{Code: refusal.LocationUnavailable, Details: map[string]any{"reason": reason}}
}

// Why an item cannot be ordered. The API's description names the last; the others are what its words for
// items_unavailable tell apart: unknown, not offered online, sold out.
const (
	reasonUnknownProduct  = "product_not_found"
	reasonNotOffered      = "not_offered_online"
	reasonSoldOut         = "sold_out"
	reasonUnknownVariant  = "variant_not_found"
	reasonUnknownOption   = "option_not_found"
	reasonVariantRequired = "variant_required"
)

// checkItems prices the items by the menu. Every item that cannot be ordered is reported, each
// with the first reason that holds.
func checkItems(m *Menu, items []requestItem) ([]line, *refusal.Refusal) {
	lines := make([]line, 0, len(items))
	var refused []map[string]any
	bad := refusal.Invalid{}
	for i := range items {
		l, reason := m.price(&items[i])
		if reason != "" {
			refused = append(refused, map[string]any{"index": i, "product_id": items[i].productID, "reason": reason})
			continue
		}
		l.checkGroups(i, bad)
		lines = append(lines, l)
	}
	if len(refused) > 0 {
		return nil, &refusal.Refusal{Code: refusal.ItemsUnavailable, Details: map[string]any{"items": refused}}
	}
	return lines, bad.Refusal()
}

// price looks an item up.
func (m *Menu) price(item *requestItem) (line, string) {
	d := m.products[item.productID]
	switch {
	case d == nil:
		return line{}, reasonUnknownProduct
	case !d.offered():
		return line{}, reasonNotOffered
	case !d.Available:
		return line{}, reasonSoldOut
	case len(d.Variants) > 0 && item.variantID == nil:
		return line{}, reasonVariantRequired
	}
	l := line{dish: d, quantity: item.quantity, unit: d.online, notes: item.notes}
	if item.variantID != nil {
		v, ok := d.variants[*item.variantID]
		if !ok {
			return line{}, reasonUnknownVariant
		}
		l.variantID, l.variantName, l.unit = item.variantID, &v.name, v.price
	}
	each := l.unit
	for _, x := range item.options {
		known, ok := d.options[x.id]
		if !ok {
			return line{}, reasonUnknownOption
		}
		l.options = append(l.options, option{x.id, known.name, x.quantity, known.price})
		each += known.price * units.Bani(x.quantity)
	}
	l.total = each * units.Bani(l.quantity)
	l.deposit = d.deposit * units.Bani(l.quantity)
	return l, ""
}

// checkGroups holds the options against the min and max of their groups, counting how many
// of them a unit has. The API's description of items_unavailable does not cover a group with too few
// or too many, so it is a request that is not valid.
func (l *line) checkGroups(i int, bad refusal.Invalid) {
	count := make([]int64, len(l.dish.ExtraGroups))
	for _, x := range l.options {
		count[l.dish.options[x.id].group] += int64(x.quantity)
	}
	for k, g := range l.dish.ExtraGroups {
		path := fmt.Sprintf("items.%d.options", i)
		switch {
		case count[k] < g.Min:
			bad.Add(path, "The group %s needs at least %d.", g.ID, g.Min)
		case g.Max != nil && count[k] > *g.Max:
			bad.Add(path, "The group %s takes at most %d.", g.ID, *g.Max)
		}
	}
}
