// Package catalogue is what an invented restaurant sells: categories, products and their
// prices, and the editions of the menu that orders refer to.
//
// Contents: all that a category, a product or an allergen says, and how they are invented and
// changed. The lock of the restaurant guards all of it.
package catalogue

import (
	"fmt"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// Catalogue is that of one restaurant.
type Catalogue struct {
	Categories *rows.Table[Category]
	Products   *rows.Table[Product]

	*rows.Common
	editions []edition
	changed  bool // since the last edition
	upkeep   bool
}

// New invents the categories, and products for every location: perLocation, or some where
// that is 0. With upkeep what is sold out comes back by itself.
func New(c *rows.Common, g *seeded.RNG, perLocation int, upkeep bool) *Catalogue {
	s := &Catalogue{Common: c, changed: true, upkeep: upkeep}
	s.Categories = rows.NewTable(c, "cat", s.encodeCategory)
	s.Products = rows.NewTable(c, "prd", s.encodeProduct)
	s.Products.OnEdit = func(*rows.Row[Product], rows.Edit) { s.changed = true }
	categories := map[string]string{}
	for i, dg := range dishGroups {
		loc := rows.Shared
		if dg.category == "Pizza" {
			loc = 0
		}
		r := s.Categories.AddPast(g, loc, i, Category{name: dg.category, position: i + 1})
		r.Val.image = g.Chance(600)
		categories[dg.category] = r.ID
	}
	for loc := range c.Locations.All {
		count := perLocation
		if count == 0 {
			count = g.Between(60, 140)
		}
		for i := range count {
			s.Products.AddPast(g, loc, i, s.invent(g, i, categories))
		}
	}
	return s
}

// At are the products of a location that can be sold.
func (s *Catalogue) At(loc int) []*rows.Row[Product] {
	var here []*rows.Row[Product]
	for _, r := range s.Products.Rows {
		if r.Loc == loc && r.Live() {
			here = append(here, r)
		}
	}
	return here
}

// ProductChange edits a product; empty fields stay.
type ProductChange struct {
	Name      string
	Price     int64 // bani (hundredths of a leu)
	Available *bool
	Category  string // id
}

// EditProduct changes a product. Orders already taken keep the name and price
// they were sold under.
func (s *Catalogue) EditProduct(id string, c ProductChange, stamp int64) error {
	r := s.Products.Live(id)
	if r == nil {
		return rows.ErrNoRow
	}
	if c.Name != "" {
		r.Val.name = c.Name
	}
	if c.Price != 0 {
		r.Val.reprice(units.Bani(c.Price))
	}
	if c.Available != nil {
		r.Val.Available = *c.Available
	}
	if c.Category != "" {
		r.Val.Category = c.Category
	}
	s.touch(r, stamp)
	return nil
}

// touch enters a product that the next order is sold another way.
func (s *Catalogue) touch(r *rows.Row[Product], stamp int64) {
	r.Val.item = nil
	s.changed = true
	s.Products.Touch(r, stamp)
}

// AddProduct adds a product to a location.
func (s *Catalogue) AddProduct(loc int, stamp int64) string {
	n := len(s.Products.Rows)
	g := seeded.New(s.Seed, 13, uint64(n))
	r := s.Products.AddPast(&g, loc, n, s.invent(&g, n, nil))
	r.Created = stamp
	s.touch(r, stamp)
	return r.ID
}

// AddCategory adds a category that every location shares.
func (s *Catalogue) AddCategory(name string, stamp int64) string {
	return s.Categories.Add(rows.Shared, stamp, stamp, Category{name: name, position: len(s.Categories.Rows) + 1}).ID
}

// RenameCategory changes a category's name.
func (s *Catalogue) RenameCategory(id, name string, stamp int64) error {
	r := s.Categories.Live(id)
	if r == nil {
		return rows.ErrNoRow
	}
	r.Val.name = name
	s.Categories.Touch(r, stamp)
	return nil
}

// Offer marks product n as sold out, or as available again.
func (s *Catalogue) Offer(n uint32, available bool, stamp int64) {
	if r := s.Products.Rows[n]; r.Live() && r.Val.Available != available {
		r.Val.Available = available
		s.Products.Touch(r, stamp)
	}
}

// Reprice gives a product of a location another price: mostly a higher one, and one of
// those that sell.
func (s *Catalogue) Reprice(loc int, stamp int64) {
	here := s.At(loc)
	if len(here) == 0 {
		return
	}
	g := seeded.New(s.Seed, 16, uint64(stamp), uint64(loc))
	r := here[g.N((len(here)+2)/3)]
	percent := units.Bani(g.Between(4, 12))
	if g.Chance(200) {
		percent = -percent
	}
	r.Val.reprice((r.Val.Price*(100+percent)/100 + 25) / 50 * 50)
	s.touch(r, stamp)
}

// invent makes product i of a location: first one of every dish, then the restaurant's own
// variations of them.
func (s *Catalogue) invent(g *seeded.RNG, i int, categories map[string]string) Product {
	dg, d, round := nthDish(i)
	p := inventProduct(g, dg, d)
	if round > 0 {
		p.name = fmt.Sprintf("%s „%s”", d.name, ownNames[(round-1)%len(ownNames)])
		if round > len(ownNames) {
			p.name = fmt.Sprintf("%s nr. %d", p.name, round)
		}
	}
	p.Category = categories[dg.category]
	if s.upkeep {
		p.Available = true // what is missing is sold out now and then, and comes back
	}
	p.position = i + 1
	if s.Readings.NewMapKeys {
		p.channels = append(p.channels, productChannel{true, p.Price + 300})
	}
	for range g.Between(1, 3) {
		p.Recipe = append(p.Recipe, Use{Ingredient: g.N(1 << 16), Amount: units.Milli(g.Between(20, 350))})
	}
	return p
}
