package world

import (
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/world/locations"
)

// locationChanges open and close locations and their online ordering.
type locationChanges struct{ change }

// LocationIDs are the ids of all locations, inactive ones too.
func (r locationChanges) LocationIDs() []string {
	r.b.mu.RLock()
	defer r.b.mu.RUnlock()
	return r.b.locations.IDs()
}

// AddLocation opens a new location without rows.
func (r locationChanges) AddLocation() string {
	_, unlock := r.lock()
	defer unlock()
	n := len(r.b.locations.All)
	if n == locations.Max {
		panic("sandbox: too many locations")
	}
	g := seeded.New(r.b.Seed(), 12, uint64(n))
	r.b.locations.Add(r.b.common.IDs.Make("loc"), &g)
	r.b.catalogue.LocationAdded()
	r.b.stock.LocationAdded()
	return r.b.locations.ID(n)
}

// SetLocationActive opens or closes a location for good: an inactive one leaves
// /locations and /me, while its rows stay as Readings say.
func (r locationChanges) SetLocationActive(id string, active bool) error {
	return r.location(id, func(l *locations.Location) { l.Active = active })
}

// PauseOrdering pauses a location's online ordering until an instant.
func (r locationChanges) PauseOrdering(id string, until time.Time) error {
	return r.location(id, func(l *locations.Location) { l.Paused = until.UnixMicro() })
}

// SwitchLocationOrdering switches the online ordering of one location on or off.
func (r locationChanges) SwitchLocationOrdering(id string, on bool) error {
	return r.location(id, func(l *locations.Location) { l.OrderingOff = !on })
}

// OfferTypes says which orders a location takes: pickup, delivery, both or none.
func (r locationChanges) OfferTypes(id string, types ...string) error {
	return r.location(id, func(l *locations.Location) { l.Types = append([]string{}, types...) })
}

// SwitchOrdering switches the restaurant's online ordering on or off.
func (r locationChanges) SwitchOrdering(on bool) {
	_, unlock := r.lock()
	defer unlock()
	r.b.locations.SwitchedOff = !on
}

// RenameLocation changes a location's name.
func (r locationChanges) RenameLocation(id, name string) error {
	return r.location(id, func(l *locations.Location) { l.Name = name })
}

func (r locationChanges) location(id string, change func(*locations.Location)) error {
	_, unlock := r.lock()
	defer unlock()
	loc, err := r.b.locations.Find(id)
	if err != nil {
		return fmt.Errorf("location %q: not found", id)
	}
	change(r.b.locations.All[loc])
	return nil
}
