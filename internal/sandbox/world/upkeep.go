package world

import (
	"math"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// What a restaurant's people do beside selling, in a world with Options.Upkeep: they count
// stock and change prices, suppliers come on days of their own, and what is sold out in the
// evening is back after the morning's delivery.

const (
	countMinute    = 6*60 + 30
	deliveryMinute = 7*60 + 30
	priceMinute    = 10*60 + 30
)

// keepUp decides what is done in a minute at a location.
func (b *Business) keepUp(m int64, loc int) {
	at := m * units.Minute
	local, weekday := b.cal.MinuteOfDay(at), b.cal.Day(at).Weekday()
	g := seeded.New(b.seed, 15, uint64(m), uint64(loc))
	switch {
	case local == countMinute && weekday == time.Monday:
		b.push(event{at: at, kind: evCount, loc: uint8(loc)})
	case local == priceMinute && g.Chance(220):
		b.push(event{at: at, kind: evPrice, loc: uint8(loc)})
	case local >= 12*60 && local < 22*60 && g.N(240) == 0 && b.perDay > 0:
		b.runOut(&g, at, loc)
	}
}

// runOut sells out a product of a location: at noon for an hour or some, in the evening
// until the next delivery.
func (b *Business) runOut(g *seeded.RNG, at int64, loc int) {
	here := b.productsAt(loc)
	if len(here) == 0 {
		return
	}
	n := here[g.N(len(here))].n
	back := at + int64(g.Between(45, 200))*units.Minute
	if day := b.cal.Day(at); b.cal.MinuteOfDay(at) >= 18*60 {
		back = b.cal.Start(day+1) + int64(deliveryMinute+g.Between(5, 25))*units.Minute
	}
	b.push(event{at: at, kind: evSoldOut, n: n})
	b.push(event{at: back, kind: evBack, n: n})
}

// productsAt are the products of a location that can be sold.
func (b *Business) productsAt(loc int) []*row[product] {
	var here []*row[product]
	for _, r := range b.products.rows {
		if r.loc == loc && !r.deleted() && !r.purged {
			here = append(here, r)
		}
	}
	return here
}

// reprice gives a product of a location another price: mostly a higher one, and one of
// those that sell.
func (b *Business) reprice(loc int, stamp int64) {
	here := b.productsAt(loc)
	if len(here) == 0 {
		return
	}
	g := seeded.New(b.seed, 16, uint64(stamp), uint64(loc))
	r := here[g.N((len(here)+2)/3)]
	percent := units.Bani(g.Between(4, 12))
	if g.Chance(200) {
		percent = -percent
	}
	r.val.reprice((r.val.price*(100+percent)/100 + 25) / 50 * 50)
	r.val.onMenu = nil
	b.menuChanged = true
	b.products.touch(r, stamp)
}

// count writes down what is really there of some ingredients: mostly a little less than
// was reckoned, and never less than nothing.
func (b *Business) count(loc int, stamp int64) {
	g := seeded.New(b.seed, 17, uint64(stamp), uint64(loc))
	for _, r := range b.stockOf[loc] {
		if r.deleted() || r.purged || r.val.stock >= 0 && !g.Chance(250) {
			continue
		}
		found := r.val.stock * units.Milli(g.Between(92, 101)) / 100
		if found < 0 {
			found = r.val.min / 2
		}
		r.val.stock = r.val.whole(found)
		b.ingredients.touch(r, stamp)
	}
}

// whole is an amount in steps of its unit.
func (v *ingredient) whole(amount units.Milli) units.Milli {
	if v.weighed() {
		return amount
	}
	return amount / 1000 * 1000
}

// helpings are what so many of a dish take of an ingredient: of grams and millilitres more
// than of kilograms and litres, of pieces one each.
func (v *ingredient) helpings(amount, times units.Milli) units.Milli {
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
func (b *Business) provision(g *seeded.RNG, loc int) {
	rows, menu := b.stockOf[loc], b.productsAt(loc)
	use := make([]float64, len(rows))
	for i, r := range menu {
		// The front of the menu sells best (pickProduct).
		sold := math.Sqrt(float64(i+1)/float64(len(menu))) - math.Sqrt(float64(i)/float64(len(menu)))
		for _, u := range r.val.recipe {
			k := u.n % len(rows)
			use[k] += sold * float64(rows[k].val.helpings(u.amount, 1000))
		}
	}
	for i, r := range rows {
		v := &r.val
		aDay := use[i] * dishesPerOrder * b.perDay / float64(len(b.locations))
		step := units.Milli(500)
		if v.unit != "kg" && v.unit != "l" {
			step = 5000
		}
		round := func(days float64) units.Milli { return max(units.Milli(aDay*days)/step*step, step) }
		v.min, v.refill = round(1+float64(i%3)/2), round(float64(6+i%4))
		v.stock = v.whole(units.Milli((0.3 + 0.7*g.Float()) * float64(v.refill)))
	}
}

// comes tells whether the supplier of an ingredient comes on a day. Nobody does on Sundays.
func (v *ingredient) comes(day time.Weekday) bool {
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
