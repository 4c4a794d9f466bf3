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
	VATJSON  []byte
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
	s := &Item{Product: r, Name: p.name, ByWeight: p.kg, Deposit: p.deposit, VATJSON: []byte("null")}
	s.NameJSON = append([]byte(`"name":`), units.AppendString(nil, p.name)...)
	s.JSON = append(append([]byte(`"product_id":`), units.AppendString(nil, r.ID)...), ',')
	s.JSON = append(s.JSON, s.NameJSON...)
	if p.vat >= 0 {
		s.VATJSON = units.AppendBasisPoints(nil, p.vat)
	}
	s.Prices = [5]units.Bani{p.Price, p.channels[1].price, p.channels[2].price, p.channels[0].price, p.Price}
	s.Offered = [5]bool{true, p.channels[1].enabled, p.channels[2].enabled, p.channels[0].enabled, !p.kg}
	for _, v := range p.variants {
		j := append([]byte(`"variant_id":`), units.AppendString(nil, variantID(r.ID, v.name))...)
		j = append(append(j, `,"variant_name":`...), units.AppendString(nil, v.name)...)
		s.Variants = append(s.Variants, ItemVariant{JSON: j, Delta: v.price - p.Price})
	}
	for _, g := range p.groups {
		for _, o := range g.options {
			j := append([]byte(`{"name":`), units.AppendString(nil, o.name)...)
			j = append(units.AppendMoney(append(j, `,"price":`...), o.price), '}')
			s.Extras = append(s.Extras, ItemExtra{JSON: j, Price: o.price})
		}
	}
	return s
}
