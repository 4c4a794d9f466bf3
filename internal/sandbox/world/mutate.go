package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// Restaurant changes one restaurant, for tests. A change is stamped now, or as
// Ago and At say. Methods name rows by id and fail for ids that are none.
type Restaurant struct {
	w   *World
	b   *Business
	ago time.Duration
	at  time.Time
}

// Restaurant is restaurant i, from 0.
func (w *World) Restaurant(i int) Restaurant { return Restaurant{w: w, b: w.businesses[i]} }

// Ago stamps changes so far in the past; at most MaxStampDelay keeps to what
// api.md promises.
func (r Restaurant) Ago(d time.Duration) Restaurant {
	r.ago = d
	return r
}

// At stamps changes with one instant.
func (r Restaurant) At(t time.Time) Restaurant {
	r.at = t
	return r
}

// ID is the restaurant's id.
func (r Restaurant) ID() string { return r.b.id }

// lock moves a live world up to now, locks it, and returns the stamp of the
// change and the unlocking.
func (r Restaurant) lock() (stamp int64, unlock func()) {
	now := r.w.Now().UnixMicro()
	r.w.CatchUp(r.b, now)
	r.b.mu.Lock()
	if !r.at.IsZero() {
		now = r.at.UnixMicro()
	}
	return r.b.trunc(now - r.ago.Microseconds()), r.b.mu.Unlock
}

// LocationIDs are the ids of all locations, inactive ones too.
func (r Restaurant) LocationIDs() []string {
	r.b.mu.RLock()
	defer r.b.mu.RUnlock()
	ids := make([]string, len(r.b.locations))
	for i, l := range r.b.locations {
		ids[i] = l.id
	}
	return ids
}

// AddLocation opens a new location without rows.
func (r Restaurant) AddLocation() string {
	_, unlock := r.lock()
	defer unlock()
	if len(r.b.locations) == maxLocations {
		panic("sandbox: too many locations")
	}
	g := seeded.New(r.b.seed, 12, uint64(len(r.b.locations)))
	l := r.b.makeLocation(&g)
	r.b.menuChanged = true
	return l.id
}

// SetLocationActive opens or closes a location for good: an inactive one leaves
// /locations and /me, while its rows stay as Readings say.
func (r Restaurant) SetLocationActive(id string, active bool) error {
	return r.changeLocation(id, func(l *location) { l.active = active })
}

// PauseOrdering pauses a location's online ordering until an instant.
func (r Restaurant) PauseOrdering(id string, until time.Time) error {
	return r.changeLocation(id, func(l *location) { l.paused = until.UnixMicro() })
}

// SwitchLocationOrdering switches the online ordering of one location on or off.
func (r Restaurant) SwitchLocationOrdering(id string, on bool) error {
	return r.changeLocation(id, func(l *location) { l.orderingOff = !on })
}

// OfferTypes says which orders a location takes: pickup, delivery, both or none.
func (r Restaurant) OfferTypes(id string, types ...string) error {
	return r.changeLocation(id, func(l *location) { l.types = append([]string{}, types...) })
}

// SwitchOrdering switches the restaurant's online ordering on or off.
func (r Restaurant) SwitchOrdering(on bool) {
	_, unlock := r.lock()
	defer unlock()
	r.b.orderingOff = !on
}

// RenameLocation changes a location's name.
func (r Restaurant) RenameLocation(id, name string) error {
	return r.changeLocation(id, func(l *location) { l.name = name })
}

func (r Restaurant) changeLocation(id string, change func(*location)) error {
	_, unlock := r.lock()
	defer unlock()
	loc, ok := r.b.locationOf(id)
	if !ok {
		return fmt.Errorf("location %q: not found", id)
	}
	change(r.b.locations[loc])
	return nil
}

// The lists whose rows Restaurant changes.
const (
	StreamLocations   = "locations"
	StreamAllergens   = "allergens"
	StreamCategories  = "categories"
	StreamProducts    = "products"
	StreamIngredients = "ingredients"
	StreamSalesOrders = "sales_orders"
	StreamKeys        = "api_keys"
)

// IDs are the ids of a list's live rows, in the order they were made.
func (r Restaurant) IDs(stream string) []string {
	r.b.mu.RLock()
	defer r.b.mu.RUnlock()
	switch stream {
	case StreamCategories:
		return liveIDs(r.b.categories)
	case StreamProducts:
		return liveIDs(r.b.products)
	case StreamIngredients:
		return liveIDs(r.b.ingredients)
	case StreamSalesOrders:
		var ids []string
		for n := range r.b.orders {
			if r.b.orders[n].counts() {
				ids = append(ids, r.b.orderID(uint32(n)))
			}
		}
		return ids
	}
	panic(fmt.Sprintf("sandbox: stream %q has no ids", stream))
}

func liveIDs[T any](t *table[T]) []string {
	var ids []string
	for _, r := range t.rows {
		if !r.deleted() && !r.purged {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// Touch stamps rows anew without another change; with At, all the same.
func (r Restaurant) Touch(stream string, ids ...string) error {
	return r.each(stream, ids, rowChange{name: "touch"})
}

// Move puts a row into another location. A key that is limited to the old one
// is not told: the row just leaves its lists.
func (r Restaurant) Move(stream, id, locationID string) error {
	return r.each(stream, []string{id}, rowChange{name: "move", location: locationID})
}

// Delete removes rows with a tombstone.
func (r Restaurant) Delete(stream string, ids ...string) error {
	return r.each(stream, ids, rowChange{name: "delete", remove: true})
}

// Restore brings deleted rows back to life.
func (r Restaurant) Restore(stream string, ids ...string) error {
	return r.each(stream, ids, rowChange{name: "restore", restore: true})
}

// Purge removes rows permanently: no tombstone, nothing stamped. Sold lines of
// a purged product lose their product_id at once. Orders cannot be purged.
func (r Restaurant) Purge(stream string, ids ...string) error {
	return r.each(stream, ids, rowChange{name: "purge", purge: true})
}

// SetRaw serves bytes in place of a row, stamped anew; nil ends that.
func (r Restaurant) SetRaw(stream, id string, raw []byte) error {
	return r.each(stream, []string{id}, rowChange{name: "set raw", raw: slices.Clone(raw), setRaw: true})
}

type rowChange struct {
	name     string
	location string
	remove   bool
	restore  bool
	purge    bool
	setRaw   bool
	raw      []byte
}

func (r Restaurant) each(stream string, ids []string, c rowChange) error {
	stamp, unlock := r.lock()
	defer unlock()
	for _, id := range ids {
		if err := r.b.changeRow(stream, id, c, stamp); err != nil {
			return fmt.Errorf("%s %s %q: %w", c.name, stream, id, err)
		}
	}
	return nil
}
