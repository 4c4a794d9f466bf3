package world

import (
	"fmt"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// sgrDeposit is the deposit on a bottle or can, 0.50 lei by law.
const sgrDeposit = units.Bani(50)

// makeMenu invents the categories and the products of every location.
func (b *Business) makeMenu(g *seeded.RNG, perLocation int) {
	categories := map[string]string{}
	for i, dg := range dishGroups {
		loc := sharedLocation
		if dg.category == "Pizza" {
			loc = 0
		}
		created, stamp := b.pastStamps(g)
		r := b.categories.add(b.ids.make("cat"), loc, created, b.maybeNull(stamp, i), category{name: dg.category, image: g.Chance(600), position: i + 1})
		categories[dg.category] = r.id
	}
	for loc := range b.locations {
		count := perLocation
		if count == 0 {
			count = g.Between(60, 140)
		}
		for i := range count {
			b.makeProduct(g, loc, i, categories)
		}
	}
	b.menuChanged = true
}

// makeProduct invents product i of a location: first one of every dish, then
// the restaurant's own variations of them.
func (b *Business) makeProduct(g *seeded.RNG, loc, i int, categories map[string]string) *row[product] {
	dg, d, round := nthDish(i)
	p := inventProduct(g, dg, d)
	if round > 0 {
		p.name = fmt.Sprintf("%s „%s”", d.name, ownNames[(round-1)%len(ownNames)])
		if round > len(ownNames) {
			p.name = fmt.Sprintf("%s nr. %d", p.name, round)
		}
	}
	p.category = categories[dg.category]
	if b.upkeep {
		p.available = true // what is missing is sold out now and then, and comes back
	}
	p.position = i + 1
	if b.readings.NewMapKeys {
		p.channels = append(p.channels, productChannel{true, p.price + 300})
	}
	for range g.Between(1, 3) {
		p.recipe = append(p.recipe, ingredientUse{n: g.N(1 << 16), amount: units.Milli(g.Between(20, 350))})
	}
	created, stamp := b.pastStamps(g)
	return b.products.add(b.ids.make("prd"), loc, created, b.maybeNull(stamp, i), p)
}

var ownNames = []string{"ca la bunica", "al casei", "de post", "picant", "porție mare", "special"}

// nthDish goes through the groups in turn, so that a short menu has all of them.
func nthDish(i int) (dishGroup, dish, int) {
	total := 0
	for _, g := range dishGroups {
		total += len(g.dishes)
	}
	round, i := i/total, i%total
	for k := 0; ; k++ {
		for _, g := range dishGroups {
			if k >= len(g.dishes) {
				continue
			}
			if i == 0 {
				return g, g.dishes[k], round
			}
			i--
		}
	}
}

func inventProduct(g *seeded.RNG, dg dishGroup, d dish) product {
	// A tenth up or down, in steps of half a leu.
	price := units.Bani(d.lei*float64(g.Between(90, 112))) / 50 * 50
	p := product{
		name: d.name, price: price, kg: d.kind == byWeight, vat: dg.vat, available: !g.Chance(30),
		station: dg.station, prep: g.Between(5, 30), calories: g.Between(8, 95) * 10,
	}
	if g.Chance(20) {
		p.vat = -1
	}
	if g.Chance(250) {
		p.calories, p.prep = 0, 0
	}
	if g.Chance(500) {
		p.description = fmt.Sprintf("%s, făcut în casă. Porție de %d g.", d.name, g.Between(15, 50)*10)
	}
	if d.kind == bottle {
		p.deposit = sgrDeposit
	}
	if d.diet != "" {
		p.diets = append(p.diets, d.diet)
		if d.diet == "vegan" {
			p.diets = []string{"vegetarian", "vegan"}
		}
	}
	for _, c := range d.allergens {
		a := allergenList[c-'a']
		p.allergens = append(p.allergens, api.Allergen{Code: a.code, Name: a.name})
	}
	p.channels = inventChannels(g, &p)
	p.variants, p.groups = inventChoices(d, price)
	return p
}

// inventChannels prices a product on the platforms above the till's price;
// products sold by weight are never offered online.
func inventChannels(g *seeded.RNG, p *product) []productChannel {
	platform := (p.price*115/100 + 49) / 50 * 50
	return []productChannel{
		{!p.kg && !g.Chance(100), p.price},
		{!p.kg && !g.Chance(200), platform},
		{!p.kg && !g.Chance(300), platform + 100},
	}
}

func inventChoices(d dish, price units.Bani) ([]variant, []extraGroup) {
	switch d.kind {
	case pizza:
		return []variant{{"Mică (24 cm)", price - 700}, {"Medie (32 cm)", price}, {"Mare (40 cm)", price + 1400}},
			[]extraGroup{{"Topping suplimentar", 0, 4, []variant{{"Extra mozzarella", 600}, {"Ciuperci", 450}, {"Măsline", 400}, {"Ardei iute", 250}}}}
	case coffee:
		return nil, []extraGroup{{"Lapte", 1, 1, []variant{{"Lapte de vacă", 0}, {"Lapte de ovăz", 300}, {"Lapte fără lactoză", 200}}}, {"Sirop", 0, 0, []variant{{"Vanilie", 250}, {"Caramel", 250}}}}
	case draught:
		return []variant{{"Mic", price}, {"Mare", price * 16 / 10}}, nil
	case grill:
		return nil, []extraGroup{{"Sos", 0, 2, []variant{{"Mujdei", 400}, {"Muștar", 0}, {"Hrean", 350}}}}
	default:
		return nil, nil
	}
}

// pastStamps are when a row of the first world was made and last changed.
func (b *Business) pastStamps(g *seeded.RNG) (created, stamp int64) {
	created = b.epoch - int64(g.Between(200, 900))*units.FullDay - int64(g.N(86400))*units.Second
	return b.trunc(created), b.trunc(b.epoch - int64(g.Float()*float64(150*units.FullDay)) - units.Hour)
}

// maybeNull acts out Readings.NullUpdatedAt on the i-th row of a list.
func (b *Business) maybeNull(stamp int64, i int) int64 {
	if n := b.readings.NullUpdatedAt; n > 0 && i%n == 0 {
		return nullStamp
	}
	return stamp
}
