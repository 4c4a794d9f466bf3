// Package stock is the ingredients of an invented restaurant: how much there is of each, and
// what takes and brings it.
//
// Contents: all that an ingredient says, deliveries and counts. The lock of the restaurant guards
// all of it.
package stock

import (
	"fmt"
	"math"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// Stock is that of one restaurant.
type Stock struct {
	Ingredients *rows.Table[Ingredient]

	*rows.Common
	business string                    // id of the restaurant
	at       [][]*rows.Row[Ingredient] // by location
	upkeep   bool
}

// Ingredient is the changeable part of an ingredient.
type Ingredient struct {
	name      string
	unit      string
	Stock     units.Milli
	min       units.Milli
	Refill    units.Milli // what a delivery brings it up to
	category  *types.Named
	warehouse *types.Named
	sku       string
	barcode   string
	prepared  bool
	allergens []types.Allergen
}

// New invents the ingredients of every location. With upkeep they are bought by what the
// catalogue needs of them for so many orders a day, and suppliers come on days of their own.
func New(c *rows.Common, g *seeded.RNG, business string, menu *catalogue.Catalogue, ordersPerDay float64, upkeep bool) *Stock {
	s := &Stock{Common: c, business: business, upkeep: upkeep}
	s.Ingredients = rows.NewTable(c, "ing", s.encode)
	s.Ingredients.OnEdit = func(r *rows.Row[Ingredient], e rows.Edit) {
		if e.Location != "" {
			s.at[r.Loc] = append(s.at[r.Loc], r)
		}
	}
	for loc := range c.Locations.All {
		s.LocationAdded()
		for i := range stockItems {
			s.invent(g, loc, i)
		}
		if upkeep {
			s.provision(g, loc, menu.At(loc), ordersPerDay)
		}
	}
	return s
}

// LocationAdded makes a place for the ingredients of a location.
func (s *Stock) LocationAdded() { s.at = append(s.at, nil) }

// Add adds an ingredient to a location.
func (s *Stock) Add(loc int, stamp int64) string {
	n := len(s.Ingredients.Rows)
	g := seeded.New(s.Seed, 14, uint64(n))
	r := s.invent(&g, loc, n)
	r.Created = stamp
	s.Ingredients.Touch(r, stamp)
	return r.ID
}

// Set counts an ingredient anew.
func (s *Stock) Set(id string, amount units.Milli, stamp int64) error {
	r := s.Ingredients.Live(id)
	if r == nil {
		return rows.ErrNoRow
	}
	r.Val.Stock = amount
	s.Ingredients.Touch(r, stamp)
	return nil
}

func (s *Stock) invent(g *seeded.RNG, loc, i int) *rows.Row[Ingredient] {
	item := stockItems[i%len(stockItems)]
	v := Ingredient{name: item.name, unit: item.unit, min: units.Milli(item.min) * 1000, prepared: item.category == "Semipreparate"}
	if i >= len(stockItems) {
		v.name = fmt.Sprintf("%s (lot %d)", item.name, i/len(stockItems)+1)
	}
	v.Refill = v.min*5 + 2000
	v.Stock = units.Milli(g.Float() * float64(v.Refill))
	v.category = &types.Named{ID: "icat_" + seeded.ShortHash(item.category), Name: item.category}
	if g.Chance(60) {
		v.category = nil
	}
	if !g.Chance(100) {
		v.warehouse = &types.Named{ID: "wh_" + seeded.ShortHash(s.business, fmt.Sprint(loc)), Name: "Gestiune " + s.Locations.All[loc].Name}
	}
	if g.Chance(700) {
		v.sku = fmt.Sprintf("MP-%04d", i+1)
	}
	if g.Chance(300) {
		v.barcode = fmt.Sprintf("594%010d", g.N(1<<31))
	}
	v.allergens = catalogue.AllergensOf(item.allergens)
	r := s.Ingredients.AddPast(g, loc, i, v)
	s.at[loc] = append(s.at[loc], r)
	return r
}

// weighed is true when the unit carries three decimals (docs/openapi.yaml, Quantity).
func (v *Ingredient) weighed() bool { return v.unit != "buc" && v.unit != "portie" }

// BelowMin follows the API's rule: at or below the minimum; without one (0) the same
// comparison holds once stock reaches 0 or goes negative.
func (v *Ingredient) BelowMin() bool { return v.Stock <= v.min }

func (s *Stock) encode(r *rows.Row[Ingredient]) []byte {
	v := &r.Val
	return units.JSON(types.Ingredient{
		ID: r.ID, LocationID: s.Locations.ID(r.Loc), Name: v.name, Unit: v.unit,
		Stock: types.Quantity(v.Stock.Quantity(v.weighed())), MinStock: types.Quantity(v.min.Quantity(v.weighed())), BelowMin: v.BelowMin(),
		Category: v.category, Warehouse: v.warehouse, SKU: units.TextOrNull(v.sku), Barcode: units.TextOrNull(v.barcode),
		IsPrepared: v.prepared, Allergens: units.NotNil(v.allergens), CreatedAt: s.Instant(r.Created), UpdatedAt: s.Instant(r.Stamp),
	})
}

// Draw takes what so many of a dish need from the stock of a location; stock may go negative.
func (s *Stock) Draw(loc int, use catalogue.Use, times units.Milli, stamp int64) {
	here := s.at[loc]
	if len(here) == 0 {
		return
	}
	r := here[use.Ingredient%len(here)]
	if !r.Live() {
		return
	}
	amount := r.Val.pieces(use.Amount * times / 1000)
	if s.upkeep {
		amount = r.Val.helpings(use.Amount, times)
	}
	r.Val.Stock -= amount
	s.Ingredients.Touch(r, stamp)
}

// pieces rounds an amount to what the unit can show; at least one step.
func (v *Ingredient) pieces(amount units.Milli) units.Milli {
	if v.weighed() {
		return max(amount, 1)
	}
	return max(amount/10*10, 10)
}

// Deliver refills what the location has ordered.
func (s *Stock) Deliver(loc int, stamp int64) {
	today := s.Calendar.Day(stamp).Weekday()
	for _, r := range s.at[loc] {
		if r.Live() && s.ordered(&r.Val, today) {
			r.Val.Stock = r.Val.Refill
			s.Ingredients.Touch(r, stamp)
		}
	}
}

// ordered is true when an ingredient is brought on a day.
func (s *Stock) ordered(v *Ingredient, day time.Weekday) bool {
	if s.upkeep {
		return v.comes(day) && v.Stock < v.Refill/2
	}
	return v.BelowMin()
}

// Count writes down what is really there of some ingredients: mostly a little less than
// was reckoned, and never less than nothing.
func (s *Stock) Count(loc int, stamp int64) {
	g := seeded.New(s.Seed, 17, uint64(stamp), uint64(loc))
	for _, r := range s.at[loc] {
		if !r.Live() || r.Val.Stock >= 0 && !g.Chance(250) {
			continue
		}
		found := r.Val.Stock * units.Milli(g.Between(92, 101)) / 100
		if found < 0 {
			found = r.Val.min / 2
		}
		r.Val.Stock = r.Val.whole(found)
		s.Ingredients.Touch(r, stamp)
	}
}

// whole is an amount in steps of its unit.
func (v *Ingredient) whole(amount units.Milli) units.Milli {
	if v.weighed() {
		return amount
	}
	return amount / 1000 * 1000
}

// helpings are what so many of a dish take of an ingredient: of grams and millilitres more
// than of kilograms and litres, of pieces one each.
func (v *Ingredient) helpings(amount, times units.Milli) units.Milli {
	switch v.unit {
	case "g", "ml":
		return 100 * amount * times / 1000
	case "kg", "l":
		return amount * times / 1000
	default:
		return max(times/1000*1000, 1000)
	}
}

// dishesPerOrder is how many of all dishes an order has, on average.
const dishesPerOrder = 4.2

// provision lets each ingredient of a location be bought for some days of selling, by what
// the dishes of its menu take, and be short when it is less than one or two take.
func (s *Stock) provision(g *seeded.RNG, loc int, menu []*rows.Row[catalogue.Product], ordersPerDay float64) {
	here := s.at[loc]
	use := make([]float64, len(here))
	for i, r := range menu {
		// The front of the menu sells best.
		sold := math.Sqrt(float64(i+1)/float64(len(menu))) - math.Sqrt(float64(i)/float64(len(menu)))
		for _, u := range r.Val.Recipe {
			k := u.Ingredient % len(here)
			use[k] += sold * float64(here[k].Val.helpings(u.Amount, 1000))
		}
	}
	for i, r := range here {
		v := &r.Val
		aDay := use[i] * dishesPerOrder * ordersPerDay / float64(len(s.Locations.All))
		step := units.Milli(500)
		if v.unit != "kg" && v.unit != "l" {
			step = 5000
		}
		round := func(days float64) units.Milli { return max(units.Milli(aDay*days)/step*step, step) }
		v.min, v.Refill = round(1+float64(i%3)/2), round(float64(6+i%4))
		v.Stock = v.whole(units.Milli((0.3 + 0.7*g.Float()) * float64(v.Refill)))
	}
}

// comes is true when the supplier of an ingredient comes on a day. Nobody does on Sundays.
func (v *Ingredient) comes(day time.Weekday) bool {
	if v.category == nil {
		return day == time.Tuesday || day == time.Friday
	}
	switch v.category.Name {
	case "Băcănie", "Bar":
		return day == time.Monday || day == time.Friday
	default:
		return day != time.Sunday
	}
}
