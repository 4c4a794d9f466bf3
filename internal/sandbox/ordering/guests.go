package ordering

import (
	"fmt"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Guests order by themselves through the restaurant's keys, by the hour, as anybody who uses
// a key would: with the same checks, refusals included.

// guestHours is how many order online by local hour: at lunch and more in the evening.
var guestHours = [24]int{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 12, 24, 22, 12, 8, 8, 14, 28, 38, 34, 20, 8, 2}

const guestHourSum = 237

// guests are those of one restaurant.
type guests struct {
	seed   uint64
	cal    *units.Calendar
	perDay float64
	apps   func() []App
}

// drawMinute decides which guests order within a minute.
func (s *guests) drawMinute(at int64, locations []string, appointments *appointments) {
	if len(locations) == 0 {
		return
	}
	rate := s.perDay * float64(guestHours[s.cal.MinuteOfDay(at)/60]) / guestHourSum / 60 / float64(len(locations))
	for i, id := range locations {
		g := seeded.New(s.seed, 2, uint64(at), uint64(i))
		for range int(rate + g.Float()) {
			appointments.add(appointment{at: at + int64(g.N(60_000))*1000, what: guestOrders, location: id})
		}
	}
}

// draw is what a guest's choices are drawn from.
func (s *guests) draw(e appointment) seeded.RNG {
	return seeded.New(s.seed, 3, uint64(e.at), seeded.Hash(e.location))
}

// app is the key that a guest orders through. Whoever builds a shop tries it now and
// then, with a test key.
func (s *guests) app(g *seeded.RNG, locationID string) (App, bool) {
	var live, test []App
	for _, a := range s.apps() {
		switch {
		case !a.May(locationID):
		case a.Test:
			test = append(test, a)
		default:
			live = append(live, a)
		}
	}
	apps := live
	if g.Chance(40) {
		apps = test
	}
	if len(apps) == 0 {
		return App{}, false
	}
	return apps[g.N(len(apps))], true
}

// request is what a guest wants.
func (s *guests) request(g *seeded.RNG, e appointment, l *types.Location, m *Menu) *request {
	r := &request{
		externalID: fmt.Sprintf("web-%s", seeded.Base32(g.Next(), 10)), locationID: e.location, typ: pickup,
		customer: guest(g.N(guestPool), s.seed), items: m.guestItems(g),
		payment: types.OnlinePayment{Status: unpaid},
	}
	if g.Chance(550) {
		r.typ = delivery
		r.delivery = &types.OrderDelivery{Address: new(fmt.Sprintf("Str. Teilor nr. %d, ap. %d", g.Between(1, 90), g.Between(1, 40))), City: l.City}
		r.delivery.Lat, r.delivery.Lng = place(s.seed, r.externalID)
	}
	if g.Chance(700) {
		r.payment = types.OnlinePayment{Status: paid, Method: units.TextOrNull("card"), Reference: units.TextOrNull("pay_" + seeded.Base32(g.Next(), 12))}
	}
	if g.Chance(80) && r.typ == delivery {
		r.notes = units.TextOrNull("Vă rog să sunați la interfon.")
	}
	if g.Chance(30) {
		r.allergies = units.TextOrNull("alergie la nuci")
	}
	if g.Chance(300) {
		yes := g.Chance(500)
		r.cutlery = &yes
	}
	if g.Chance(150) {
		r.tip = units.Bani(g.Between(2, 15)) * 100
	}
	if g.Chance(120) {
		// A quarter of an hour, as people say it; refused when it is not today or not open.
		at := (e.at/(15*units.Minute) + int64(g.Between(2, 10))) * 15 * units.Minute
		if at >= e.at+soonest && s.cal.Day(at) == s.cal.Day(e.at) {
			r.scheduledFor = &at
		}
	}
	return r
}

// place is where a courier is to come to, with as many decimals as browsers give.
func place(seed uint64, externalID string) (lat, lng *types.Number) {
	g := seeded.New(seed, 5, seeded.Hash(externalID))
	decimals := func() uint64 { return g.Next() % 100_000_000_000_000 }
	return new(types.Number(fmt.Sprintf("44.%014d", decimals()))), new(types.Number(fmt.Sprintf("26.%014d", decimals())))
}

// guestPool is how many people order at a restaurant, again and again.
const guestPool = 240

var (
	guestFirst = []string{"Andreea", "Mihai", "Ioana", "Radu", "Elena", "Cristian", "Maria", "Vlad", "Ana", "Ștefan", "Irina", "Paul"}
	guestLast  = []string{"Popescu", "Ionescu", "Dumitru", "Stan", "Gheorghe", "Matei", "Rusu", "Marin", "Toma", "Dobre", "Nistor", "Lungu"}
)

// guest is one of the people who order at a restaurant.
func guest(n int, seed uint64) types.OrderCustomer {
	g := seeded.New(seed, 4, uint64(n))
	c := types.OrderCustomer{
		Name:  guestFirst[g.N(len(guestFirst))] + " " + guestLast[g.N(len(guestLast))],
		Phone: fmt.Sprintf("+407%08d", g.N(100_000_000)),
	}
	if g.Chance(600) {
		c.Email = units.TextOrNull(fmt.Sprintf("oaspete%d.%04d@example.com", n, g.N(10_000)))
	}
	return c
}
