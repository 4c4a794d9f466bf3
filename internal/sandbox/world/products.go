package world

import (
	"encoding/json"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// product is the changeable part of a product, in integers.
type product struct {
	name        string
	description string
	category    string // id, "" for none
	price       units.Bani
	kg          bool
	vat         int // basis points, -1 for null
	deposit     units.Bani
	available   bool
	allergens   []api.Allergen
	diets       []string
	calories    int // 0 for null
	prep        int // 0 for null
	station     string
	channels    []productChannel // online, platform_a, platform_b, maybe one more
	variants    []variant
	groups      []extraGroup
	position    int
	recipe      []ingredientUse
	onMenu      *menuItem // as the next order sells it; nil after a change
}

// reprice changes the price; those of channels and variants move with it.
func (p *product) reprice(price units.Bani) {
	delta := price - p.price
	p.price = price
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

// category is the changeable part of a category.
type category struct {
	name     string
	image    bool
	position int
}

// ingredientUse is what one unit of a product takes from stock.
type ingredientUse struct {
	n      int // place among the ingredients of the product's location
	amount units.Milli
}

var productChannelNames = []string{"online", "platform_a", "platform_b", "platform_c"}

func (b *Business) encodeProduct(r *row[product]) []byte {
	if r.deleted() {
		return b.tombstone(r.id, r.stamp, r.deletedAt)
	}
	p := &r.val
	out := api.Product{
		ID: r.id, LocationID: b.locationID(r.loc), CategoryID: units.TextOrNull(p.category), Name: p.name,
		Description: units.TextOrNull(p.description), Price: api.Money(p.price.Money()), Unit: "piece",
		Available: p.available, Allergens: units.NotNil(p.allergens), Diets: units.NotNil(p.diets),
		Calories: units.IntOrNull(p.calories), PrepMinutes: units.IntOrNull(p.prep), Station: p.station,
		Channels: map[string]api.Channel{}, Variants: []api.Variant{}, ExtraGroups: []api.ExtraGroup{},
		Position: int64(p.position), CreatedAt: b.instant(r.created), UpdatedAt: b.instant(r.stamp),
	}
	if p.kg {
		out.Unit = "kg"
	}
	if p.vat >= 0 {
		n := json.Number(units.AppendBasisPoints(nil, p.vat))
		out.VATRate = &n
	}
	if p.deposit > 0 {
		m := api.Money(p.deposit.Money())
		out.Deposit = &m
	}
	for i, c := range p.channels {
		out.Channels[productChannelNames[i]] = api.Channel{Enabled: c.enabled, Price: api.Money(c.price.Money())}
	}
	for _, v := range p.variants {
		out.Variants = append(out.Variants, api.Variant{ID: variantID(r.id, v.name), Name: v.name,
			Price: api.Money(v.price.Money()), PriceDelta: api.Money((v.price - p.price).Money())})
	}
	for _, g := range p.groups {
		out.ExtraGroups = append(out.ExtraGroups, g.encode(r.id))
	}
	return units.JSON(out)
}

// variantID is deterministic and changes with the name (api.md, "Product").
func variantID(productID, name string) string { return "v_" + seeded.ShortHash(productID, name) }

func (g *extraGroup) encode(productID string) api.ExtraGroup {
	out := api.ExtraGroup{ID: "g_" + seeded.ShortHash(productID, g.name), Name: g.name, Min: int64(g.min), Max: units.IntOrNull(g.max), Required: g.min > 0}
	for _, o := range g.options {
		out.Options = append(out.Options, api.ExtraOption{ID: "x_" + seeded.ShortHash(productID, g.name, o.name), Name: o.name, Price: api.Money(o.price.Money())})
	}
	return out
}

func (b *Business) encodeCategory(r *row[category]) []byte {
	if r.deleted() {
		return b.tombstone(r.id, r.stamp, r.deletedAt)
	}
	out := api.Category{ID: r.id, Name: r.val.name, Position: int64(r.val.position), CreatedAt: b.instant(r.created), UpdatedAt: b.instant(r.stamp)}
	if r.loc != sharedLocation {
		out.LocationID = units.TextOrNull(b.locationID(r.loc))
	}
	if r.val.image {
		out.ImageURL = units.TextOrNull("https://images.invalid/categories/" + seeded.ShortHash(r.id) + ".jpg")
	}
	return units.JSON(out)
}

// tombstone is a deleted row of a list; null stamps stay null.
func (b *Business) tombstone(id string, stamp, deletedAt int64) []byte {
	out := units.AppendString([]byte(`{"id":`), id)
	out = append(out, `,"deleted":true,"deleted_at":`...)
	if stamp == nullStamp {
		deletedAt = nullStamp
	}
	out = b.appendInstantOrNull(out, deletedAt)
	return append(b.appendInstantOrNull(append(out, `,"updated_at":`...), stamp), '}')
}

// instant is null for nullStamp.
func (b *Business) instant(us int64) *api.Instant {
	if us == nullStamp {
		return nil
	}
	text := units.AppendInstant(nil, us, b.decimals)
	i := api.Instant(text[1 : len(text)-1])
	return &i
}
