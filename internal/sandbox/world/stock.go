package world

import (
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// ingredient is the changeable part of an ingredient.
type ingredient struct {
	name      string
	unit      string
	stock     units.Milli
	min       units.Milli
	refill    units.Milli // what a delivery brings it up to
	category  *api.Named
	warehouse *api.Named
	sku       string
	barcode   string
	prepared  bool
	allergens []api.Allergen
}

type stockItem struct {
	name, unit, category, allergens string
	min                             int
}

var stockItems = []stockItem{
	{"Ceafă de porc", "kg", "Carne", "", 10}, {"Carne tocată amestec", "kg", "Carne", "", 12}, {"Piept de pui", "kg", "Carne", "", 10}, {"Mușchi de vită", "kg", "Carne", "", 5}, {"Burtă de vită", "kg", "Carne", "", 6}, {"Ciolan afumat", "kg", "Carne", "", 5}, {"Cârnați", "kg", "Carne", "", 6},
	{"Păstrăv", "kg", "Pește", "d", 4}, {"Doradă", "kg", "Pește", "d", 4}, {"Icre de crap", "kg", "Pește", "d", 1},
	{"Smântână 20%", "l", "Lactate", "g", 8}, {"Telemea", "kg", "Lactate", "g", 5}, {"Mozzarella", "kg", "Lactate", "g", 7}, {"Unt", "kg", "Lactate", "g", 3}, {"Lapte", "l", "Lactate", "g", 10}, {"Ouă", "buc", "Lactate", "b", 90}, {"Cașcaval", "kg", "Lactate", "g", 4},
	{"Cartofi", "kg", "Legume", "", 40}, {"Ceapă", "kg", "Legume", "", 15}, {"Morcovi", "kg", "Legume", "", 8}, {"Varză", "kg", "Legume", "", 15}, {"Roșii", "kg", "Legume", "", 10}, {"Vinete", "kg", "Legume", "", 6}, {"Ardei", "kg", "Legume", "", 6}, {"Usturoi", "kg", "Legume", "", 2}, {"Fasole boabe", "kg", "Legume", "", 5}, {"Hribi", "kg", "Legume", "", 2}, {"Țelină", "kg", "Legume", "i", 3},
	{"Mălai", "kg", "Băcănie", "", 12}, {"Făină", "kg", "Băcănie", "a", 25}, {"Orez", "kg", "Băcănie", "", 8}, {"Ulei", "l", "Băcănie", "", 20}, {"Zahăr", "kg", "Băcănie", "", 6}, {"Sare", "kg", "Băcănie", "", 0}, {"Boia", "g", "Băcănie", "", 500}, {"Paste", "kg", "Băcănie", "a", 6}, {"Muștar", "kg", "Băcănie", "k", 2}, {"Oțet", "l", "Băcănie", "l", 3},
	{"Cafea boabe", "kg", "Bar", "", 4}, {"Apă minerală 0,5 l", "buc", "Bar", "", 48}, {"Apă plată 0,5 l", "buc", "Bar", "", 48}, {"Bere 0,5 l", "buc", "Bar", "a", 60}, {"Vin alb vrac", "l", "Bar", "l", 20}, {"Vin roșu vrac", "l", "Bar", "l", 20}, {"Țuică", "ml", "Bar", "", 2000}, {"Lămâi", "kg", "Bar", "", 4}, {"Sirop de soc", "ml", "Bar", "", 1500},
	{"Aluat de pizza", "portie", "Semipreparate", "a", 20}, {"Sos de roșii", "l", "Semipreparate", "", 6}, {"Mujdei", "ml", "Semipreparate", "", 800}, {"Fond de carne", "l", "Semipreparate", "i", 8}, {"Sarmale crude", "portie", "Semipreparate", "", 30},
}

func (b *Business) makeStock(g *seeded.RNG) {
	for loc := range b.locations {
		for i := range stockItems {
			b.makeIngredient(g, loc, i)
		}
		if b.upkeep {
			b.provision(g, loc)
		}
	}
}

func (b *Business) makeIngredient(g *seeded.RNG, loc, i int) *row[ingredient] {
	s := stockItems[i%len(stockItems)]
	v := ingredient{name: s.name, unit: s.unit, min: units.Milli(s.min) * 1000, prepared: s.category == "Semipreparate"}
	if i >= len(stockItems) {
		v.name = fmt.Sprintf("%s (lot %d)", s.name, i/len(stockItems)+1)
	}
	v.refill = v.min*5 + 2000
	v.stock = units.Milli(g.Float() * float64(v.refill))
	v.category = &api.Named{ID: "icat_" + seeded.ShortHash(s.category), Name: s.category}
	if g.Chance(60) {
		v.category = nil
	}
	if !g.Chance(100) {
		v.warehouse = &api.Named{ID: "wh_" + seeded.ShortHash(b.id, fmt.Sprint(loc)), Name: "Gestiune " + b.locations[loc].name}
	}
	if g.Chance(700) {
		v.sku = fmt.Sprintf("MP-%04d", i+1)
	}
	if g.Chance(300) {
		v.barcode = fmt.Sprintf("594%010d", g.N(1<<31))
	}
	for _, c := range s.allergens {
		a := allergenList[c-'a']
		v.allergens = append(v.allergens, api.Allergen{Code: a.code, Name: a.name})
	}
	created, stamp := b.pastStamps(g)
	r := b.ingredients.add(b.ids.make("ing"), loc, created, b.maybeNull(stamp, i), v)
	b.stockOf[loc] = append(b.stockOf[loc], r)
	return r
}

// weighed tells which units carry three decimals (api.md, "Conventions").
func (v *ingredient) weighed() bool { return v.unit != "buc" && v.unit != "portie" }

// belowMin is api.md's rule: at or below the minimum; without one (0) the same
// comparison holds once stock reaches 0 or goes negative.
func (v *ingredient) belowMin() bool { return v.stock <= v.min }

func (b *Business) encodeIngredient(r *row[ingredient]) []byte {
	if r.deleted() {
		return b.tombstone(r.id, r.stamp, r.deletedAt)
	}
	v := &r.val
	return units.JSON(api.Ingredient{
		ID: r.id, LocationID: b.locationID(r.loc), Name: v.name, Unit: v.unit,
		Stock: api.Quantity(v.stock.Quantity(v.weighed())), MinStock: api.Quantity(v.min.Quantity(v.weighed())), BelowMin: v.belowMin(),
		Category: v.category, Warehouse: v.warehouse, SKU: units.TextOrNull(v.sku), Barcode: units.TextOrNull(v.barcode),
		IsPrepared: v.prepared, Allergens: units.NotNil(v.allergens), CreatedAt: b.instant(r.created), UpdatedAt: b.instant(r.stamp),
	})
}

// draw takes an amount from the stock of a location; stock may go negative.
func (b *Business) draw(loc int, use ingredientUse, times units.Milli, stamp int64) {
	rows := b.stockOf[loc]
	if len(rows) == 0 {
		return
	}
	r := rows[use.n%len(rows)]
	if r.deleted() || r.purged {
		return
	}
	amount := r.val.pieces(use.amount * times / 1000)
	if b.upkeep {
		amount = r.val.helpings(use.amount, times)
	}
	r.val.stock -= amount
	b.ingredients.touch(r, stamp)
}

// pieces rounds an amount to what the unit can show; at least one step.
func (v *ingredient) pieces(amount units.Milli) units.Milli {
	if v.weighed() {
		return max(amount, 1)
	}
	return max(amount/10*10, 10)
}

// deliver refills what is at or below its minimum.
func (b *Business) deliver(loc int, stamp int64) {
	today := b.cal.Day(stamp).Weekday()
	for _, r := range b.stockOf[loc] {
		if !r.deleted() && !r.purged && b.ordered(&r.val, today) {
			r.val.stock = r.val.refill
			b.ingredients.touch(r, stamp)
		}
	}
}

// ordered tells whether an ingredient is brought on a day.
func (b *Business) ordered(v *ingredient, day time.Weekday) bool {
	if b.upkeep {
		return v.comes(day) && v.stock < v.refill/2
	}
	return v.belowMin()
}
