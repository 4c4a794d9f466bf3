package ordering

import (
	"cmp"
	"slices"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// guestItems is what a guest picks of the menu: one to four dishes, each with what it asks
// for.
func (m *Menu) guestItems(g *seeded.RNG) []requestItem {
	dishes := m.orderable()
	if len(dishes) == 0 {
		return nil
	}
	var items []requestItem
	for range 1 + g.Pick([]int{40, 35, 17, 8}) {
		u := g.Float() // those at the front of the menu sell best
		d := dishes[int(u*u*float64(len(dishes)))]
		item := requestItem{productID: d.ID, quantity: 1 + g.Pick([]int{75, 18, 5, 2})}
		if len(d.Variants) > 0 {
			item.variantID = &d.Variants[g.N(len(d.Variants))].ID
		}
		item.options = d.guestOptions(g)
		items = append(items, item)
	}
	return items
}

// orderable is what can be had now, in the order of the menu.
func (m *Menu) orderable() []*dish {
	var out []*dish
	for _, d := range m.products {
		if d.offered() && d.Available {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b *dish) int { return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID)) })
	return out
}

// guestOptions takes what the groups ask for, and now and then one more.
func (d *dish) guestOptions(g *seeded.RNG) []requestOption {
	var out []requestOption
	for _, group := range d.ExtraGroups {
		want := int(group.Min)
		if g.Chance(250) {
			want++
		}
		if group.Max != nil {
			want = min(want, int(*group.Max))
		}
		first := g.N(max(len(group.Options), 1))
		for i := range min(want, len(group.Options)) {
			out = append(out, requestOption{id: group.Options[(first+i)%len(group.Options)].ID, quantity: 1})
		}
	}
	return out
}
