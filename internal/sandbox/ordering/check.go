package ordering

import (
	"fmt"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Why a location takes no order (api.md, "Errors": location_unavailable).
const (
	reasonClosed   = "closed"
	reasonPaused   = "paused"
	reasonDisabled = "disabled"
	reasonType     = "type_not_offered"
)

// checkLocation tells whether the location takes this order now. ordering.accepting is "the
// single answer to whether an order can be placed now", so what it refuses cannot be
// scheduled for later either. A time outside the opening hours is a closed location, not a
// malformed request.
func checkLocation(l *api.Location, r *request, cal *units.Calendar) *refusal.Refusal {
	reason := ""
	switch {
	case !l.Ordering.Accepting:
		reason = map[string]string{"paused": reasonPaused, "disabled": reasonDisabled}[l.Ordering.Status]
		if reason == "" {
			reason = reasonClosed
		}
	case r.scheduledFor != nil && !openAt(l.OpeningHours, *r.scheduledFor, cal):
		reason = reasonClosed
	default:
		for _, t := range l.Ordering.Types {
			if t == r.typ {
				return nil
			}
		}
		reason = reasonType
	}
	return &refusal.Refusal{Code: refusal.LocationUnavailable, Details: map[string]any{"reason": reason}}
}

// openAt tells whether an instant is within the opening hours; null is no schedule.
func openAt(h *api.OpeningHours, at int64, cal *units.Calendar) bool {
	if h == nil {
		return true
	}
	day, minute := cal.Day(at), cal.MinuteOfDay(at)
	opens, closes, ok := hoursOf(h, day)
	if ok && minute >= opens && minute < closes {
		return true
	}
	// The evening before may end after midnight.
	_, closes, ok = hoursOf(h, day-1)
	return ok && minute+24*60 < closes
}

// hoursOf are the hours of a day in minutes after its midnight; "a close earlier than open
// means after midnight".
func hoursOf(h *api.OpeningHours, day units.Day) (opens, closes int, ok bool) {
	for _, e := range h.Exceptions {
		if string(e.Date) == day.String() && e.Closed {
			return 0, 0, false
		}
	}
	d := [7]api.DayHours{h.Sunday, h.Monday, h.Tuesday, h.Wednesday, h.Thursday, h.Friday, h.Saturday}[day.Weekday()]
	if d.Closed || d.Open == nil || d.Close == nil {
		return 0, 0, false
	}
	opens, closes = minutes(*d.Open), minutes(*d.Close)
	if closes < opens {
		closes += 24 * 60
	}
	return opens, closes, true
}

func minutes(text string) int {
	var h, m int
	if _, err := fmt.Sscanf(text, "%d:%d", &h, &m); err != nil {
		return 0
	}
	return h*60 + m
}

// Why an item cannot be ordered. api.md names the last; the others are what its words for
// items_unavailable tell apart: unknown, not offered online, sold out.
const (
	reasonUnknownProduct  = "product_not_found"
	reasonNotOffered      = "not_offered_online"
	reasonSoldOut         = "sold_out"
	reasonUnknownVariant  = "variant_not_found"
	reasonUnknownOption   = "option_not_found"
	reasonVariantRequired = "variant_required"
)

// checkItems prices the items by the menu. Every item that cannot be ordered is told, each
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
// of them a unit has. api.md's words for items_unavailable do not cover a group with too few
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
