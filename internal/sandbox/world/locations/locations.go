// Package locations is the places of an invented restaurant: what they are called, when they
// are open, and whether they take online orders.
//
// Contents: all that a row of /locations says. The lock of the restaurant guards all of it.
package locations

import (
	"errors"
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/readings"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Max keeps the location of an order in a byte.
const Max = 200

// ErrNone is for an id that is no location's.
var ErrNone = errors.New("no such location")

// List is the locations of one restaurant, in the order they were opened; none ever leaves
// it. Others name a location by its index.
type List struct {
	Business    string // the restaurant's name
	Index       int    // of the restaurant
	Calendar    *units.Calendar
	Precision   units.Precision
	Readings    *readings.Readings
	SwitchedOff bool // the restaurant takes no online orders

	All []*Location
}

// Location is one place of a restaurant.
type Location struct {
	ID, Name    string
	IDJSON      []byte
	Active      bool
	Paused      int64 // until when ordering is paused
	OrderingOff bool
	Types       []string // of orders that it takes; nil for both

	address, city, phone string
	opens, closes        int // minutes after midnight; closes may be after 24:00
}

// Add opens a location with an id.
func (s *List) Add(id string, g *seeded.RNG) {
	i := len(s.All)
	c := cities[(s.Index+i/4)%len(cities)]
	l := &Location{ID: id, IDJSON: units.AppendString(nil, id), city: c.name, Active: true}
	l.Name = fmt.Sprintf("%s %s", s.Business, districts[(s.Index*3+i)%len(districts)])
	l.address = fmt.Sprintf("%s nr. %d", streets[g.N(len(streets))], g.Between(1, 140))
	l.phone = fmt.Sprintf("+4%s%06d", c.prefix, g.N(1_000_000))
	l.opens = 60 * g.Between(8, 11)
	l.closes = 60 * g.Between(22, 26)
	s.All = append(s.All, l)
}

// ID is that of a location by its index.
func (s *List) ID(loc int) string { return s.All[loc].ID }

// IDs are those of all locations, inactive ones too.
func (s *List) IDs() []string {
	ids := make([]string, len(s.All))
	for i, l := range s.All {
		ids[i] = l.ID
	}
	return ids
}

// Find is the index of a location, inactive ones too; or ErrNone.
func (s *List) Find(id string) (int, error) {
	for i, l := range s.All {
		if l.ID == id {
			return i, nil
		}
	}
	return 0, ErrNone
}

// Hidden is true when the rows of a location left the lists with it.
func (s *List) Hidden(loc int) bool { return s.Readings.InactiveRowsHidden && !s.All[loc].Active }

// OrderingOff is true while the restaurant takes no online orders anywhere.
func (s *List) OrderingOff() bool { return s.Readings.OrderingOff || s.SwitchedOff }

// Show is a location as it is at an instant: whether it takes orders depends on the clock.
func (s *List) Show(l *Location, now int64) types.Location {
	out := types.Location{
		ID: l.ID, Name: l.Name, Address: units.TextOrNull(l.address), City: units.TextOrNull(l.city), Phone: units.TextOrNull(l.phone),
		Timezone: units.ZoneName, OpeningHours: l.hours(),
		Ordering: types.Ordering{Status: "open", Accepting: true, Types: []string{"pickup", "delivery"}, DefaultPrepMinutes: 25, AnswerWithinMinutes: 5},
	}
	if l.Types != nil {
		out.Ordering.Types = slices.Clone(l.Types)
	}
	switch {
	case s.OrderingOff() || l.OrderingOff:
		refuse(&out.Ordering, "disabled", "Comenzile online sunt oprite.")
	case l.Paused > now:
		refuse(&out.Ordering, "paused", "Comenzile online sunt oprite pentru scurt timp.")
		out.Ordering.PausedUntil = s.instant(l.Paused)
	case !s.Open(l, now):
		refuse(&out.Ordering, "closed", "Restaurantul este închis acum.")
		out.Ordering.NextOpeningAt = s.instant(s.nextOpening(l, now))
	}
	return out
}

func (s *List) instant(us int64) *types.Instant { return new(types.Instant(s.Precision.Text(us))) }

// refuse says why a location takes no orders.
func refuse(o *types.Ordering, status, message string) {
	o.Accepting, o.Status, o.Message = false, status, &message
}

// Open is true when an instant is within the hours of a location, which may end after
// midnight; those of a day that is an exception are none.
func (s *List) Open(l *Location, at int64) bool {
	day, minute := s.Calendar.Day(at), s.Calendar.MinuteOfDay(at)
	return minute >= l.opens && minute < l.closes && !closedOn(day) || minute+24*60 < l.closes && !closedOn(day-1)
}

// holidays are the days on which every location is closed.
var holidays = []types.HoursException{{Date: "2026-12-25", Closed: true, Reason: units.TextOrNull("Crăciun")}, {Date: "2027-01-01", Closed: true}}

func closedOn(day units.Day) bool {
	return slices.ContainsFunc(holidays, func(e types.HoursException) bool { return string(e.Date) == day.String() })
}

func (s *List) nextOpening(l *Location, now int64) int64 {
	for day := s.Calendar.Day(now); ; day++ {
		if at := s.Calendar.Start(day) + int64(l.opens)*units.Minute; at > now && !closedOn(day) {
			return at
		}
	}
}

func (l *Location) hours() *types.OpeningHours {
	open := fmt.Sprintf("%02d:00", l.opens/60)
	shut := fmt.Sprintf("%02d:00", l.closes/60%24)
	d := types.DayHours{Open: &open, Close: &shut}
	return &types.OpeningHours{Monday: d, Tuesday: d, Wednesday: d, Thursday: d, Friday: d, Saturday: d, Sunday: d,
		Exceptions: slices.Clone(holidays)}
}
