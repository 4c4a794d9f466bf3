package world

import (
	"errors"
	"slices"

	"github.com/larder-sync/larder/internal/api"
)

// View is one restaurant as a key sees it, held still between Open and Close. Its zero
// value is ready to Open, and may be opened again: it keeps its memory.
type View struct {
	b       *Business
	may     func(locationID string) bool
	now     int64
	visible [maxLocations]bool // locations whose rows are shown
	content content
}

// Why a location cannot be shown.
var (
	ErrUnknown   = errors.New("no such location")
	ErrForbidden = errors.New("a location that the key may not use")
)

// Emit takes one row, which write appends to what is behind it.
type Emit func(write func(out []byte) []byte)

// Open holds the restaurant still at an instant, in microseconds, for a key that may use
// some of its locations. Close lets it go.
func (v *View) Open(b *Business, may func(locationID string) bool, now int64) {
	v.b, v.may, v.now = b, may, now
	b.mu.RLock()
	for loc := range v.visible {
		v.visible[loc] = loc < len(b.locations) && v.allowed(loc) && !b.hidden(loc)
	}
}

// Close lets the restaurant go on.
func (v *View) Close() { v.b.mu.RUnlock() }

// Narrow leaves one location to be seen.
func (v *View) Narrow(locationID string) error {
	loc, ok := v.b.locationOf(locationID)
	switch {
	case !ok:
		return ErrUnknown
	case !v.allowed(loc):
		return ErrForbidden
	case v.b.hidden(loc):
		return ErrUnknown
	}
	v.visible = [maxLocations]bool{}
	v.visible[loc] = true
	return nil
}

// allowed tells whether the key may use a location, active or not.
func (v *View) allowed(loc int) bool { return v.may(v.b.locations[loc].id) }

func (v *View) shows(loc int) bool { return loc == sharedLocation || v.visible[loc] }

// LocationIDs are the active locations that the key may use.
func (v *View) LocationIDs() []string {
	ids := []string{}
	for loc, l := range v.b.locations {
		if l.active && v.allowed(loc) {
			ids = append(ids, l.id)
		}
	}
	return ids
}

// Locations are those of LocationIDs, as they are at the view's instant.
func (v *View) Locations() []api.Location {
	var all []api.Location
	for loc, l := range v.b.locations {
		if l.active && v.allowed(loc) {
			all = append(all, v.b.encodeLocation(l, v.now))
		}
	}
	return all
}

// OrderingOff tells that the restaurant has switched its online ordering off.
func (v *View) OrderingOff() bool { return v.b.readings.OrderingOff || v.b.orderingOff }

// Allergens are those of the restaurant's catalogue.
func (v *View) Allergens() []api.Allergen {
	all := make([]api.Allergen, len(allergenList))
	for i, a := range allergenList {
		all[i] = api.Allergen{Code: a.code, Name: a.name}
	}
	return all
}

// Listing is what a walk of a list asks for.
type Listing struct {
	Since      int64 // in microseconds, with Mirror only
	Mirror     bool  // updated_since is set
	Tombstones bool  // include_deleted
	After      Pos
	Limit      int
}

// Categories lists categories, and tells where the page ends and whether there is more.
func (v *View) Categories(l Listing, emit Emit) (end Pos, more bool) {
	return listRows(v, v.b.categories, l, func(*row[category]) bool { return true }, emit)
}

// Products lists products; of one category, or available or sold out, when asked for.
func (v *View) Products(l Listing, categoryID *string, available *bool, emit Emit) (end Pos, more bool) {
	return listRows(v, v.b.products, l, func(r *row[product]) bool {
		return (categoryID == nil || r.val.category == *categoryID) && (available == nil || r.val.available == *available)
	}, emit)
}

// Ingredients lists ingredients; below their minimum or not, when asked for.
func (v *View) Ingredients(l Listing, belowMin *bool, emit Emit) (end Pos, more bool) {
	return listRows(v, v.b.ingredients, l, func(r *row[ingredient]) bool { return belowMin == nil || r.val.belowMin() == *belowMin }, emit)
}

// Product is one live product, as it is served.
func (v *View) Product(id string) ([]byte, bool) { return oneRow(v, v.b.products, id) }

// Ingredient is one live ingredient, as it is served.
func (v *View) Ingredient(id string) ([]byte, bool) { return oneRow(v, v.b.ingredients, id) }

// Location is one active location that the key may use.
func (v *View) Location(id string) (api.Location, bool) {
	loc, ok := v.b.locationOf(id)
	if !ok || !slices.Contains(v.LocationIDs(), id) {
		return api.Location{}, false
	}
	return v.b.encodeLocation(v.b.locations[loc], v.now), true
}

func listRows[T any](v *View, t *table[T], l Listing, match func(*row[T]) bool, emit Emit) (end Pos, more bool) {
	return t.page(l, func(r *row[T]) bool { return v.shows(r.loc) && match(r) }, func(r *row[T]) {
		emit(func(out []byte) []byte { return append(out, t.bytes(r)...) })
	})
}

func oneRow[T any](v *View, t *table[T], id string) ([]byte, bool) {
	r := t.live(id)
	if r == nil || !v.shows(r.loc) {
		return nil, false
	}
	return t.bytes(r), true
}
