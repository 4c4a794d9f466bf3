package catalogue

import (
	"encoding/json"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// Product is the changeable part of a product, in integers.
type Product struct {
	name        string
	description string
	Category    string // id, "" for none
	Price       units.Bani
	kg          bool
	vat         int // basis points, -1 for null
	deposit     units.Bani
	Available   bool
	allergens   []types.Allergen
	diets       []string
	calories    int // 0 for null
	prep        int // 0 for null
	station     string
	channels    []productChannel // online, platform_a, platform_b, maybe one more
	variants    []variant
	groups      []extraGroup
	position    int
	Recipe      []Use
	item        *Item // as the next order sells it; nil after a change
}

// reprice changes the price; those of channels and variants move with it.
func (p *Product) reprice(price units.Bani) {
	delta := price - p.Price
	p.Price = price
	for i := range p.channels {
		p.channels[i].price += delta
	}
	for i := range p.variants {
		p.variants[i].price += delta
	}
}

type productChannel struct {
	enabled bool
	price   units.Bani
}

type variant struct {
	name  string
	price units.Bani
}

type extraGroup struct {
	name     string
	min, max int // max 0 for no limit
	options  []variant
}

// Category is the changeable part of a category.
type Category struct {
	name     string
	image    bool
	position int
}

// Use is what one unit of a product takes from stock.
type Use struct {
	Ingredient int // place among the ingredients of the product's location
	Amount     units.Milli
}

// Matches is true when a product is of a category, and available or not, where asked for.
func (p *Product) Matches(categoryID *string, available *bool) bool {
	return (categoryID == nil || p.Category == *categoryID) && (available == nil || p.Available == *available)
}

var productChannelNames = []string{"online", "platform_a", "platform_b", "platform_c"}

func (s *Catalogue) encodeProduct(r *rows.Row[Product]) []byte {
	p := &r.Val
	out := types.Product{
		ID: r.ID, LocationID: s.Locations.ID(r.Loc), CategoryID: units.TextOrNull(p.Category), Name: p.name,
		Description: units.TextOrNull(p.description), Price: types.Money(p.Price.Money()), Unit: "piece",
		Available: p.Available, Allergens: units.NotNil(p.allergens), Diets: units.NotNil(p.diets),
		Calories: units.IntOrNull(p.calories), PrepMinutes: units.IntOrNull(p.prep), Station: p.station,
		Channels: map[string]types.Channel{}, Variants: []types.Variant{}, ExtraGroups: []types.ExtraGroup{},
		Position: int64(p.position), CreatedAt: s.Instant(r.Created), UpdatedAt: s.Instant(r.Stamp),
	}
	if p.kg {
		out.Unit = "kg"
	}
	if p.vat >= 0 {
		n := json.Number(units.AppendBasisPoints(nil, p.vat, s.Readings.LongFloats))
		out.VATRate = &n
	}
	if p.deposit > 0 {
		m := types.Money(p.deposit.Money())
		out.Deposit = &m
	}
	for i, c := range p.channels {
		out.Channels[productChannelNames[i]] = types.Channel{Enabled: c.enabled, Price: types.Money(c.price.Money())}
	}
	for _, v := range p.variants {
		out.Variants = append(out.Variants, types.Variant{ID: variantID(r.ID, v.name), Name: v.name,
			Price: types.Money(v.price.Money()), PriceDelta: types.Money((v.price - p.Price).Money())})
	}
	for _, g := range p.groups {
		out.ExtraGroups = append(out.ExtraGroups, g.encode(r.ID))
	}
	return units.JSON(out)
}

// variantID is deterministic and changes with the name (docs/openapi.yaml, Product).
func variantID(productID, name string) string { return "v_" + seeded.ShortHash(productID, name) }

func (g *extraGroup) encode(productID string) types.ExtraGroup {
	out := types.ExtraGroup{ID: "g_" + seeded.ShortHash(productID, g.name), Name: g.name, Min: int64(g.min), Max: units.IntOrNull(g.max), Required: g.min > 0}
	for _, o := range g.options {
		out.Options = append(out.Options, types.ExtraOption{ID: "x_" + seeded.ShortHash(productID, g.name, o.name), Name: o.name, Price: types.Money(o.price.Money())})
	}
	return out
}

func (s *Catalogue) encodeCategory(r *rows.Row[Category]) []byte {
	out := types.Category{ID: r.ID, Name: r.Val.name, Position: int64(r.Val.position), CreatedAt: s.Instant(r.Created), UpdatedAt: s.Instant(r.Stamp)}
	if r.Loc != rows.Shared {
		out.LocationID = units.TextOrNull(s.Locations.ID(r.Loc))
	}
	if r.Val.image {
		out.ImageURL = units.TextOrNull("https://images.invalid/categories/" + seeded.ShortHash(r.ID) + ".jpg")
	}
	return units.JSON(out)
}
