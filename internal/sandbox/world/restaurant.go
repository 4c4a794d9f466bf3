package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// Restaurant changes one restaurant, for tests. A change is stamped now, or as
// Ago and At say. Methods name rows by id and fail for ids that are none.
type Restaurant struct {
	change
	rowChanges
	locationChanges
	catalogueChanges
	orderChanges
}

// Restaurant is restaurant i, from 0.
func (w *World) Restaurant(i int) Restaurant { return change{w: w, b: w.businesses[i]}.restaurant() }

// Ago stamps changes so far in the past; at most MaxStampDelay keeps to what
// the API's description promises.
func (r Restaurant) Ago(d time.Duration) Restaurant {
	r.ago = d
	return r.restaurant()
}

// At stamps changes with one instant.
func (r Restaurant) At(t time.Time) Restaurant {
	r.at = t
	return r.restaurant()
}

// ID is the restaurant's id.
func (r Restaurant) ID() string { return r.b.id }

// change is what is changed, and as of when.
type change struct {
	w   *World
	b   *Business
	ago time.Duration
	at  time.Time
}

func (c change) restaurant() Restaurant {
	return Restaurant{c, rowChanges{c}, locationChanges{c}, catalogueChanges{c}, orderChanges{c}}
}

// lock moves a live world up to now, locks it, and returns the stamp of the
// change and the unlocking.
func (c change) lock() (stamp int64, unlock func()) {
	now := c.w.Now().UnixMicro()
	c.w.CatchUp(c.b, now)
	c.b.mu.Lock()
	if !c.at.IsZero() {
		now = c.at.UnixMicro()
	}
	return c.b.common.Precision.Floor(now - c.ago.Microseconds()), c.b.mu.Unlock
}

// rowChanges are those that rows of all lists can have.
type rowChanges struct{ change }

// IDs are the ids of a list's live rows, in the order they were made.
func (r rowChanges) IDs(stream string) []string {
	r.b.mu.RLock()
	defer r.b.mu.RUnlock()
	l := r.b.list(stream)
	if l == nil {
		panic(fmt.Sprintf("sandbox: stream %q has no ids", stream))
	}
	return l.LiveIDs()
}

// Touch stamps rows anew without another change; with At, all the same.
func (r rowChanges) Touch(stream string, ids ...string) error {
	return r.each("touch", stream, ids, rows.Edit{})
}

// Move puts a row into another location. A key that is limited to the old one
// is not told: the row just leaves its lists.
func (r rowChanges) Move(stream, id, locationID string) error {
	return r.each("move", stream, []string{id}, rows.Edit{Location: locationID})
}

// Delete removes rows with a tombstone.
func (r rowChanges) Delete(stream string, ids ...string) error {
	return r.each("delete", stream, ids, rows.Edit{Remove: true})
}

// Restore brings deleted rows back to life.
func (r rowChanges) Restore(stream string, ids ...string) error {
	return r.each("restore", stream, ids, rows.Edit{Restore: true})
}

// Purge removes rows permanently: no tombstone, nothing stamped. Sold lines of
// a purged product lose their product_id at once. Orders cannot be purged.
func (r rowChanges) Purge(stream string, ids ...string) error {
	return r.each("purge", stream, ids, rows.Edit{Purge: true})
}

// SetRaw serves bytes in place of a row, stamped anew; nil ends that.
func (r rowChanges) SetRaw(stream, id string, raw []byte) error {
	r.w.tampered.Store(true)
	return r.each("set raw", stream, []string{id}, rows.Edit{Raw: slices.Clone(raw), SetRaw: true})
}

func (r rowChanges) each(what, stream string, ids []string, e rows.Edit) error {
	stamp, unlock := r.lock()
	defer unlock()
	l := r.b.list(stream)
	for _, id := range ids {
		err := fmt.Errorf("stream %q cannot be changed", stream)
		if l != nil {
			err = l.Edit(id, e, stamp)
		}
		if err != nil {
			return fmt.Errorf("%s %s %q: %w", what, stream, id, err)
		}
	}
	return nil
}
