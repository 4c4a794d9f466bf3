package world

import (
	"errors"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/locations"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// View is one restaurant as a key sees it, held still between Open and Close. Its zero
// value is ready to Open, and may be opened again: it keeps its memory.
type View struct {
	Sales sales.Reader // orders and totals of the locations that are shown

	b       *Business
	may     func(locationID string) bool
	now     int64
	visible [locations.Max]bool // locations whose rows are shown
}

// Why a location cannot be shown.
var (
	ErrUnknown   = errors.New("no such location")
	ErrForbidden = errors.New("a location that the key may not use")
)

// Open holds the restaurant still at an instant, in microseconds, for a key that may use
// some of its locations. Close lets it go.
func (v *View) Open(b *Business, may func(locationID string) bool, now int64) {
	v.b, v.may, v.now = b, may, now
	v.Sales.Orders, v.Sales.Sees = b.sales, v.shows
	b.mu.RLock()
	for loc := range v.visible {
		v.visible[loc] = loc < len(b.locations.All) && v.allowed(loc) && !b.locations.Hidden(loc)
	}
}

// Close lets the restaurant go on.
func (v *View) Close() { v.b.mu.RUnlock() }

// Narrow leaves one location to be seen.
func (v *View) Narrow(locationID string) error {
	loc, err := v.b.locations.Find(locationID)
	switch {
	case err != nil:
		return ErrUnknown
	case !v.allowed(loc):
		return ErrForbidden
	case v.b.locations.Hidden(loc):
		return ErrUnknown
	}
	v.visible = [locations.Max]bool{}
	v.visible[loc] = true
	return nil
}

// allowed is true when the key may use a location, active or not.
func (v *View) allowed(loc int) bool { return v.may(v.b.locations.ID(loc)) }

func (v *View) shows(loc int) bool { return loc == rows.Shared || v.visible[loc] }

// Today is the Bucharest day of the view's instant.
func (v *View) Today() units.Day { return v.b.common.Calendar.Day(v.now) }

// LocationIDs are the active locations that the key may use.
func (v *View) LocationIDs() []string {
	ids := []string{}
	for loc, l := range v.b.locations.All {
		if l.Active && v.allowed(loc) {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// Locations are those of LocationIDs, as they are at the view's instant.
func (v *View) Locations() []types.Location {
	var all []types.Location
	for loc, l := range v.b.locations.All {
		if l.Active && v.allowed(loc) {
			all = append(all, v.b.locations.Show(l, v.now))
		}
	}
	return all
}

// Location is one active location that the key may use.
func (v *View) Location(id string) (types.Location, bool) {
	loc, err := v.b.locations.Find(id)
	if err != nil || !v.b.locations.All[loc].Active || !v.allowed(loc) {
		return types.Location{}, false
	}
	return v.b.locations.Show(v.b.locations.All[loc], v.now), true
}

// OpenNow is true when the view's instant is within the opening hours of a location.
func (v *View) OpenNow(locationID string) bool {
	loc, err := v.b.locations.Find(locationID)
	return err == nil && v.b.locations.Open(v.b.locations.All[loc], v.now)
}

// OrderingOff is true when the restaurant has switched its online ordering off.
func (v *View) OrderingOff() bool { return v.b.locations.OrderingOff() }
