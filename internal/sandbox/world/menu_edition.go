package world

import "github.com/larder-sync/larder/internal/sandbox/units"

// menuEdition is what could be sold at one time, per location. Orders refer to
// the edition they were sold from, so a later change of name or price does not
// change them. Editions are immutable.
type menuEdition struct{ locations [][]*menuItem }

// menuItem is a product as sold, with its JSON ready.
type menuItem struct {
	row      *row[product] // for what may change afterwards: whether it still is in the catalogue
	name     string
	json     []byte // "product_id":…,"name":…
	nameJSON []byte
	kg       bool
	vatJSON  []byte
	deposit  units.Bani
	prices   [5]units.Bani // by channel
	offered  [5]bool
	variants []menuVariant
	extras   []menuExtra
}

type menuVariant struct {
	json  []byte // "variant_id":…,"variant_name":…
	delta units.Bani
}

type menuExtra struct {
	json  []byte // {"name":…,"price":…}
	price units.Bani
}

// currentMenu is the edition that orders opened now are sold from.
func (b *Business) currentMenu() uint32 {
	if b.menuChanged {
		b.menuChanged = false
		b.menus = append(b.menus, b.newEdition())
	}
	return uint32(len(b.menus) - 1)
}

func (b *Business) newEdition() *menuEdition {
	m := &menuEdition{locations: make([][]*menuItem, len(b.locations))}
	for _, r := range b.products.rows {
		if r.deleted() || r.purged {
			continue
		}
		if r.val.onMenu == nil {
			r.val.onMenu = newMenuItem(r)
		}
		m.locations[r.loc] = append(m.locations[r.loc], r.val.onMenu)
	}
	return m
}

func newMenuItem(r *row[product]) *menuItem {
	p := &r.val
	s := &menuItem{row: r, name: p.name, kg: p.kg, deposit: p.deposit, vatJSON: []byte("null")}
	s.nameJSON = append([]byte(`"name":`), units.AppendString(nil, p.name)...)
	s.json = append(append([]byte(`"product_id":`), units.AppendString(nil, r.id)...), ',')
	s.json = append(s.json, s.nameJSON...)
	if p.vat >= 0 {
		s.vatJSON = units.AppendBasisPoints(nil, p.vat)
	}
	s.prices = [5]units.Bani{p.price, p.channels[1].price, p.channels[2].price, p.channels[0].price, p.price}
	s.offered = [5]bool{true, p.channels[1].enabled, p.channels[2].enabled, p.channels[0].enabled, !p.kg}
	for _, v := range p.variants {
		j := append([]byte(`"variant_id":`), units.AppendString(nil, variantID(r.id, v.name))...)
		j = append(append(j, `,"variant_name":`...), units.AppendString(nil, v.name)...)
		s.variants = append(s.variants, menuVariant{json: j, delta: v.price - p.price})
	}
	for _, g := range p.groups {
		for _, o := range g.options {
			j := append([]byte(`{"name":`), units.AppendString(nil, o.name)...)
			j = append(units.AppendMoney(append(j, `,"price":`...), o.price), '}')
			s.extras = append(s.extras, menuExtra{json: j, price: o.price})
		}
	}
	return s
}
