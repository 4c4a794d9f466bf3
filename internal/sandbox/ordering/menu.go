package ordering

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Menu is what can be ordered at one location, as the restaurant's rows say. It is
// immutable.
type Menu struct {
	JSON []byte
	ETag string

	made     [sha256.Size]byte // of the rows that it is made of
	products map[string]*dish
}

// dish is a product of the location, offered online or not.
type dish struct {
	types.Product
	online   units.Bani
	deposit  units.Bani
	variants map[string]dishVariant
	options  map[string]dishOption
}

type dishVariant struct {
	name  string
	price units.Bani
}

type dishOption struct {
	name  string
	price units.Bani
	group int
}

// offered is true when the product is on the menu: switched on online, and not sold by
// weight (docs/openapi.yaml, Menu).
func (d *dish) offered() bool { return d.Channels["online"].Enabled && d.Unit != "kg" }

// newMenu makes the menu of rows, tombstones among them.
func newMenu(locationID string, categories, products [][]byte) *Menu {
	m := &Menu{products: map[string]*dish{}}
	shown := types.OrderableMenu{LocationID: locationID, Currency: "RON"}
	under := map[string][]types.MenuProduct{}
	for _, row := range products {
		var d dish
		// A row that a test spoils is no product.
		if json.Unmarshal(row, &d.Product) != nil || !d.read() {
			continue
		}
		shown.UpdatedAt = newer(shown.UpdatedAt, d.UpdatedAt)
		if d.Deleted {
			continue
		}
		m.products[d.ID] = &d
		if d.offered() {
			category := ""
			if d.CategoryID != nil {
				category = *d.CategoryID
			}
			under[category] = append(under[category], d.shown())
		}
	}
	for _, row := range categories {
		var c types.Category
		if json.Unmarshal(row, &c) != nil {
			continue
		}
		shown.UpdatedAt = newer(shown.UpdatedAt, c.UpdatedAt)
		if c.Deleted || len(under[c.ID]) == 0 {
			continue
		}
		shown.Categories = append(shown.Categories, types.MenuCategory{ID: c.ID, Name: c.Name, ImageURL: c.ImageURL, Position: c.Position, Products: under[c.ID]})
		delete(under, c.ID)
	}
	shown.Categories = sorted(append(shown.Categories, uncategorised(under)...))
	m.JSON = units.JSON(shown)
	m.ETag = fmt.Sprintf(`"%x"`, sha256.Sum256(m.JSON))[:18] + `"`
	return m
}

// uncategorised is the category of products without one, or whose category was deleted.
// The API's description shows products within categories only, and says nothing of these.
func uncategorised(under map[string][]types.MenuProduct) []types.MenuCategory {
	if len(under) == 0 {
		return nil
	}
	rest := types.MenuCategory{ID: "none", Name: "Altele", Position: 1000}
	for _, products := range under {
		rest.Products = append(rest.Products, products...)
	}
	return []types.MenuCategory{rest}
}

// sorted is by position; ids break ties.
func sorted(categories []types.MenuCategory) []types.MenuCategory {
	slices.SortFunc(categories, func(a, b types.MenuCategory) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	for _, c := range categories {
		slices.SortFunc(c.Products, func(a, b types.MenuProduct) int {
			return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
		})
	}
	return units.NotNil(categories)
}

// newer is the later of two instants, which are written alike.
func newer(a, b *types.Instant) *types.Instant {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// read works out the prices; false when an amount is none.
func (d *dish) read() bool {
	if d.Deleted {
		return true
	}
	ok := true
	money := func(m types.Money) units.Bani {
		v, good := parseSigned(string(m))
		ok = ok && good
		return v
	}
	d.online = money(d.Channels["online"].Price)
	if d.Deposit != nil {
		d.deposit = money(*d.Deposit)
	}
	d.variants, d.options = map[string]dishVariant{}, map[string]dishOption{}
	for _, v := range d.Variants {
		// Of a variant the read side knows the till's price. Online it differs from the
		// product's by as much.
		d.variants[v.ID] = dishVariant{v.Name, d.online + money(v.PriceDelta)}
	}
	for i, g := range d.ExtraGroups {
		for _, x := range g.Options {
			d.options[x.ID] = dishOption{x.Name, money(x.Price), i}
		}
	}
	return ok
}

func parseSigned(s string) (units.Bani, bool) {
	if len(s) > 0 && s[0] == '-' {
		m, ok := units.ParseMoney(s[1:])
		return -m, ok
	}
	return units.ParseMoney(s)
}

// shown is the product as the menu has it.
func (d *dish) shown() types.MenuProduct {
	p := types.MenuProduct{
		ID: d.ID, Name: d.Name, Description: d.Description, ImageURL: d.ImageURL, VATRate: d.VATRate, Available: d.Available,
		Allergens: units.NotNil(d.Allergens), Diets: units.NotNil(d.Diets), PrepMinutes: d.PrepMinutes, Deposit: d.Deposit,
		Variants: []types.MenuVariant{}, ExtraGroups: units.NotNil(d.ExtraGroups), Position: d.Position,
	}
	if d.Calories != nil {
		p.Calories = *d.Calories
	}
	price := d.online
	for i, v := range d.Variants {
		of := d.variants[v.ID].price
		p.Variants = append(p.Variants, types.MenuVariant{ID: v.ID, Name: v.Name, Price: types.Money(of.Money())})
		if i == 0 || of < price {
			price = of
		}
	}
	p.Price = types.Money(price.Money())
	return p
}
