package sandbox

import (
	"encoding/json"

	"github.com/larder-sync/larder/internal/api"
)

// product is the changeable part of a product, in integers.
type product struct {
	name        string
	description string
	category    string // id, "" for none
	price       bani
	kg          bool
	vat         int // basis points, -1 for null
	deposit     bani
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
	sold        *soldProduct // as the next order sells it; nil after a change
}

// reprice changes the price; those of channels and variants move with it.
func (p *product) reprice(price bani) {
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
	price   bani
}

type variant struct {
	name  string
	price bani
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
	amount milli
}

var productChannelNames = []string{"online", "platform_a", "platform_b", "platform_c"}

func (b *Business) encodeProduct(r *row[product]) []byte {
	if r.deleted() {
		return b.tombstone(r.id, r.stamp, r.deletedAt)
	}
	p := &r.val
	out := api.Product{
		ID: r.id, LocationID: b.locationID(r.loc), CategoryID: textOrNull(p.category), Name: p.name,
		Description: textOrNull(p.description), Price: api.Money(p.price.money()), Unit: "piece",
		Available: p.available, Allergens: notNil(p.allergens), Diets: notNil(p.diets),
		Calories: intOrNull(p.calories), PrepMinutes: intOrNull(p.prep), Station: p.station,
		Channels: map[string]api.Channel{}, Variants: []api.Variant{}, ExtraGroups: []api.ExtraGroup{},
		Position: int64(p.position), CreatedAt: b.instant(r.created), UpdatedAt: b.instant(r.stamp),
	}
	if p.kg {
		out.Unit = "kg"
	}
	if p.vat >= 0 {
		n := json.Number(appendBasisPoints(nil, p.vat))
		out.VATRate = &n
	}
	if p.deposit > 0 {
		m := api.Money(p.deposit.money())
		out.Deposit = &m
	}
	for i, c := range p.channels {
		out.Channels[productChannelNames[i]] = api.Channel{Enabled: c.enabled, Price: api.Money(c.price.money())}
	}
	for _, v := range p.variants {
		out.Variants = append(out.Variants, api.Variant{ID: variantID(r.id, v.name), Name: v.name,
			Price: api.Money(v.price.money()), PriceDelta: api.Money((v.price - p.price).money())})
	}
	for _, g := range p.groups {
		out.ExtraGroups = append(out.ExtraGroups, g.encode(r.id))
	}
	return encodeJSON(out)
}

// variantID is deterministic and changes with the name (api.md, "Product").
func variantID(productID, name string) string { return "v_" + shortHash(productID, name) }

func (g *extraGroup) encode(productID string) api.ExtraGroup {
	out := api.ExtraGroup{ID: "g_" + shortHash(productID, g.name), Name: g.name, Min: int64(g.min), Max: intOrNull(g.max), Required: g.min > 0}
	for _, o := range g.options {
		out.Options = append(out.Options, api.ExtraOption{ID: "x_" + shortHash(productID, g.name, o.name), Name: o.name, Price: api.Money(o.price.money())})
	}
	return out
}

func (b *Business) encodeCategory(r *row[category]) []byte {
	if r.deleted() {
		return b.tombstone(r.id, r.stamp, r.deletedAt)
	}
	out := api.Category{ID: r.id, Name: r.val.name, Position: int64(r.val.position), CreatedAt: b.instant(r.created), UpdatedAt: b.instant(r.stamp)}
	if r.loc != sharedLocation {
		out.LocationID = textOrNull(b.locationID(r.loc))
	}
	if r.val.image {
		out.ImageURL = textOrNull("https://images.invalid/categories/" + shortHash(r.id) + ".jpg")
	}
	return encodeJSON(out)
}

// tombstone is a deleted row of a list; null stamps stay null.
func (b *Business) tombstone(id string, stamp, deletedAt int64) []byte {
	out := appendString([]byte(`{"id":`), id)
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
	text := appendInstant(nil, us, b.decimals)
	i := api.Instant(text[1 : len(text)-1])
	return &i
}

// encodeJSON marshals types of package api, which cannot fail.
func encodeJSON(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic("sandbox: encode " + err.Error())
	}
	return out
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func intOrNull(n int) *int64 {
	if n == 0 {
		return nil
	}
	v := int64(n)
	return &v
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
