package world

import (
	"fmt"
	"slices"
	"sync"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// maxLocations keeps the location of an order in a byte.
const maxLocations = 200

// Business is one restaurant: its rows, and what it takes to move it in time.
type Business struct {
	mu sync.RWMutex // guards all below but what New sets once

	index       int
	id, name    string
	seed        uint64 // of everything but ids and the content of orders
	contentSeed uint64
	cal         *units.Calendar
	readings    *Readings
	decimals    int   // of instants
	precision   int64 // of instants, microseconds
	epoch       int64
	perDay      float64 // orders a live day opens
	orderingOff bool    // by Restaurant.SwitchOrdering
	upkeep      bool

	ids         *idMaker
	orderIDs    orderIDs
	locations   []*location
	categories  *table[category]
	products    *table[product]
	ingredients *table[ingredient]
	stockOf     [][]*row[ingredient] // by location

	orders      []order
	extras      map[uint32]*orderMore
	byCreated   changeLog // by created_at, for range mode
	changes     changeLog // by updated_at
	menus       []*menuEdition
	menuChanged bool
	days        map[dayPlace]*dayTotals
	productDays map[units.Day]*productDay
	productMu   sync.Mutex // guards productDays among readers
	scratch     content

	events eventQueue
	minute int64 // the first minute whose orders are not drawn yet
	purged map[string][]string
}

// location is one place of a restaurant.
type location struct {
	id, name             string
	idJSON               []byte
	address, city, phone string
	active               bool
	opens, closes        int   // minutes after midnight; closes may be after 24:00
	paused               int64 // until when ordering is paused
	orderingOff          bool
	types                []string // of orders that it takes; nil for both
	stamp                int64
}

// ID is the restaurant's id.
func (b *Business) ID() string { return b.id }

// Name is the restaurant's name.
func (b *Business) Name() string { return b.name }

// Seed is that of everything about the restaurant.
func (b *Business) Seed() uint64 { return b.seed }

func newBusiness(o *Options, cal *units.Calendar, index int) *Business {
	seed := seeded.New(uint64(o.Seed), uint64(index)).S
	idSeed := seed
	if o.Readings.SharedIDs {
		idSeed = uint64(o.Seed)
	}
	b := &Business{
		index: index, seed: seed, contentSeed: seeded.Mix(seed), cal: cal, readings: &o.Readings,
		precision: o.Readings.StampPrecision.Microseconds(), perDay: o.Pace * float64(max(o.Orders, 0)) / float64(o.Days), upkeep: o.Upkeep,
		ids: newIDMaker(idSeed, o.Readings.StrangeIDs), orderIDs: orderIDs{key: seeded.Mix(idSeed ^ seeded.Golden), strange: o.Readings.StrangeIDs},
		extras: map[uint32]*orderMore{}, days: map[dayPlace]*dayTotals{}, productDays: map[units.Day]*productDay{}, purged: map[string][]string{},
	}
	b.decimals = map[int64]int{1: 6, 1000: 3, 1_000_000: 0}[b.precision]
	b.epoch = b.trunc(o.Epoch.UnixMicro())
	b.minute = units.FloorDiv(b.epoch, units.Minute) + 1
	g := seeded.New(seed, 1)
	b.id = "biz_" + seeded.Base32(seeded.New(seed, 2).S, 13)
	b.name = restaurantNames[index%len(restaurantNames)]
	if index >= len(restaurantNames) {
		b.name = fmt.Sprintf("%s %d", b.name, index/len(restaurantNames)+1)
	}
	b.categories = newTable("categories", b.encodeCategory)
	b.products = newTable("products", b.encodeProduct)
	b.ingredients = newTable("ingredients", b.encodeIngredient)
	for range o.LocationsPer {
		b.makeLocation(&g)
	}
	b.makeMenu(&g, o.ProductsPer)
	b.makeStock(&g)
	b.makeHistory(max(o.Orders, 0), o.Days)
	return b
}

func (b *Business) makeLocation(g *seeded.RNG) *location {
	i := len(b.locations)
	c := cities[(b.index+i/4)%len(cities)]
	l := &location{id: b.ids.make("loc"), city: c.name, active: true, stamp: b.epoch}
	l.idJSON = units.AppendString(nil, l.id)
	l.name = fmt.Sprintf("%s %s", b.name, districts[(b.index*3+i)%len(districts)])
	l.address = fmt.Sprintf("%s nr. %d", streets[g.N(len(streets))], g.Between(1, 140))
	l.phone = fmt.Sprintf("+4%s%06d", c.prefix, g.N(1_000_000))
	l.opens = 60 * g.Between(8, 11)
	l.closes = 60 * g.Between(22, 26)
	b.locations = append(b.locations, l)
	b.stockOf = append(b.stockOf, nil)
	return l
}

// hidden tells whether the rows of a location left the lists with it.
func (b *Business) hidden(loc int) bool {
	return b.readings.InactiveRowsHidden && !b.locations[loc].active
}

func (b *Business) trunc(us int64) int64 { return units.FloorDiv(us, b.precision) * b.precision }

func (b *Business) locationID(loc int) string { return b.locations[loc].id }

// locationOf is the index of a location of the restaurant, inactive ones too.
func (b *Business) locationOf(id string) (int, bool) {
	for i, l := range b.locations {
		if l.id == id {
			return i, true
		}
	}
	return 0, false
}

// refuse says why a location takes no orders.
func refuse(o *api.Ordering, status, message string) {
	o.Accepting, o.Status, o.Message = false, status, &message
}

// encodeLocation writes a location as it is at an instant: whether it takes
// orders depends on the clock.
func (b *Business) encodeLocation(l *location, now int64) api.Location {
	out := api.Location{
		ID: l.id, Name: l.name, Address: units.TextOrNull(l.address), City: units.TextOrNull(l.city), Phone: units.TextOrNull(l.phone),
		Timezone: units.ZoneName, OpeningHours: l.hours(),
		Ordering: api.Ordering{Status: "open", Accepting: true, Types: []string{"pickup", "delivery"}, DefaultPrepMinutes: 25, AnswerWithinMinutes: 5},
	}
	if l.types != nil {
		out.Ordering.Types = slices.Clone(l.types)
	}
	switch {
	case b.readings.OrderingOff || b.orderingOff || l.orderingOff:
		refuse(&out.Ordering, "disabled", "Comenzile online sunt oprite.")
	case l.paused > now:
		refuse(&out.Ordering, "paused", "Comenzile online sunt oprite pentru scurt timp.")
		out.Ordering.PausedUntil = b.instant(l.paused)
	case !l.open(b.cal.Day(now), b.cal.MinuteOfDay(now)):
		refuse(&out.Ordering, "closed", "Restaurantul este închis acum.")
		out.Ordering.NextOpeningAt = b.instant(b.nextOpening(l, now))
	}
	return out
}

// open tells whether a local minute of a day is within the hours, which may end after
// midnight; those of a day that is an exception are none.
func (l *location) open(day units.Day, minute int) bool {
	return minute >= l.opens && minute < l.closes && !closedOn(day) || minute+24*60 < l.closes && !closedOn(day-1)
}

// holidays are the days on which every location is closed.
var holidays = []api.HoursException{{Date: "2026-12-25", Closed: true, Reason: units.TextOrNull("Crăciun")}, {Date: "2027-01-01", Closed: true}}

func closedOn(day units.Day) bool {
	return slices.ContainsFunc(holidays, func(e api.HoursException) bool { return string(e.Date) == day.String() })
}

func (b *Business) nextOpening(l *location, now int64) int64 {
	day := b.cal.Day(now)
	for ; ; day++ {
		if at := b.cal.Start(day) + int64(l.opens)*units.Minute; at > now && !closedOn(day) {
			return at
		}
	}
}

func (l *location) hours() *api.OpeningHours {
	open := fmt.Sprintf("%02d:00", l.opens/60)
	shut := fmt.Sprintf("%02d:00", l.closes/60%24)
	d := api.DayHours{Open: &open, Close: &shut}
	return &api.OpeningHours{Monday: d, Tuesday: d, Wednesday: d, Thursday: d, Friday: d, Saturday: d, Sunday: d,
		Exceptions: slices.Clone(holidays)}
}
