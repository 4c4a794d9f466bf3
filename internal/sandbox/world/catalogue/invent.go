package catalogue

import (
	"fmt"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// sgrDeposit is the deposit on a bottle or can, 0.50 lei by law.
const sgrDeposit = units.Bani(50)

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

func inventProduct(g *seeded.RNG, dg dishGroup, d dish) Product {
	// A tenth up or down, in steps of half a leu.
	price := units.Bani(d.lei*float64(g.Between(90, 112))) / 50 * 50
	p := Product{
		name: d.name, Price: price, kg: d.kind == byWeight, vat: dg.vat, Available: !g.Chance(30),
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
	p.allergens = AllergensOf(d.allergens)
	p.channels = inventChannels(g, &p)
	p.variants, p.groups = inventChoices(d, price)
	return p
}

// inventChannels prices a product on the platforms above the till's price;
// products sold by weight are never offered online.
func inventChannels(g *seeded.RNG, p *Product) []productChannel {
	platform := (p.Price*115/100 + 49) / 50 * 50
	return []productChannel{
		{!p.kg && !g.Chance(100), p.Price},
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
