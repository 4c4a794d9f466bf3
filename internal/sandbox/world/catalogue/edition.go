package catalogue

import (
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// edition is what could be sold at one time, per location. Orders refer to
// the edition they were sold from, so a later change of name or price does not
// change them. Editions are immutable.
type edition [][]*Item

// Item is a product as sold, with its JSON ready.
type Item struct {
	Product  *rows.Row[Product] // for what may change afterwards: whether it still is in the catalogue
	Name     string
	JSON     []byte // "product_id":…,"name":…
	NameJSON []byte
	ByWeight bool
	VAT      int // basis points, -1 for null
	Deposit  units.Bani
	Prices   [5]units.Bani // by channel
	Offered  [5]bool
	Variants []ItemVariant
	Extras   []ItemExtra
}

// ItemVariant is a size that an item is sold in.
type ItemVariant struct {
	JSON  []byte // "variant_id":…,"variant_name":…
	Delta units.Bani
}

// ItemExtra is what an item is sold with.
type ItemExtra struct {
	JSON  []byte // {"name":…,"price":…}
	Price units.Bani
}

// Edition is the one that orders opened now are sold from.
func (s *Catalogue) Edition() uint32 {
	if s.changed {
		s.changed = false
		s.editions = append(s.editions, s.newEdition())
	}
	return uint32(len(s.editions) - 1)
}

// Menu is what an edition has at a location.
func (s *Catalogue) Menu(edition uint32, loc uint8) []*Item { return s.editions[edition][loc] }

// LocationAdded makes a place for a location in the next edition.
func (s *Catalogue) LocationAdded() { s.changed = true }

func (s *Catalogue) newEdition() edition {
	m := make(edition, len(s.Locations.All))
	for _, r := range s.Products.Rows {
		if !r.Live() {
			continue
		}
		if r.Val.item == nil {
			r.Val.item = NewItem(r)
		}
		m[r.Loc] = append(m[r.Loc], r.Val.item)
	}
	return m
}

// NewItem is a product as it is sold now.
func NewItem(r *rows.Row[Product]) *Item {
	p := &r.Val
	s := &Item{Product: r, ByWeight: p.kg, Deposit: p.deposit, VAT: p.vat}
	s.Rename(p.name)
	s.Prices = [5]units.Bani{p.Price, p.channels[1].price, p.channels[2].price, p.channels[0].price, p.Price}
	s.Offered = [5]bool{true, p.channels[1].enabled, p.channels[2].enabled, p.channels[0].enabled, !p.kg}
	for _, v := range p.variants {
		s.Variants = append(s.Variants, NewVariant(variantID(r.ID, v.name), v.name, v.price-p.Price))
	}
	for _, g := range p.groups {
		for _, o := range g.options {
			s.Extras = append(s.Extras, NewExtra(o.name, o.price))
		}
	}
	return s
}

// Rename sells the item under a name.
func (s *Item) Rename(name string) {
	s.Name = name
	s.NameJSON = units.AppendString([]byte(`"name":`), name)
	s.JSON = append(append(units.AppendString([]byte(`"product_id":`), s.Product.ID), ','), s.NameJSON...)
}

// NewVariant is a variant that costs more or less than the item.
func NewVariant(id, name string, delta units.Bani) ItemVariant {
	j := units.AppendString([]byte(`"variant_id":`), id)
	return ItemVariant{JSON: units.AppendString(append(j, `,"variant_name":`...), name), Delta: delta}
}

// NewExtra is an extra with its price.
func NewExtra(name string, price units.Bani) ItemExtra {
	j := units.AppendString([]byte(`{"name":`), name)
	return ItemExtra{JSON: append(units.AppendMoney(append(j, `,"price":`...), price), '}'), Price: price}
}
