package rows

import (
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/readings"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/locations"
)

// Common is what all lists of a restaurant share. It is set once.
type Common struct {
	Seed      uint64 // of everything but ids and the content of orders
	Calendar  *units.Calendar
	Precision units.Precision
	Epoch     int64 // when the generated history ends
	Readings  *readings.Readings
	IDs       *IDs
	Locations *locations.List
}

// pastStamps are when a row of the first world was made and last changed.
func (c *Common) pastStamps(g *seeded.RNG) (created, stamp int64) {
	created = c.Epoch - int64(g.Between(200, 900))*units.FullDay - int64(g.N(86400))*units.Second
	return c.Precision.Floor(created), c.Precision.Floor(c.Epoch - int64(g.Float()*float64(150*units.FullDay)) - units.Hour)
}

// maybeNull acts out Readings.NullUpdatedAt on the i-th row of a list.
func (c *Common) maybeNull(stamp int64, i int) int64 {
	if n := c.Readings.NullUpdatedAt; n > 0 && i%n == 0 {
		return NullStamp
	}
	return stamp
}

// tombstone is a deleted row of a list; null stamps stay null.
func (c *Common) tombstone(id string, stamp, deletedAt int64) []byte {
	out := units.AppendString([]byte(`{"id":`), id)
	out = append(out, `,"deleted":true,"deleted_at":`...)
	if stamp == NullStamp {
		deletedAt = NullStamp
	}
	out = c.AppendInstant(out, deletedAt)
	return append(c.AppendInstant(append(out, `,"updated_at":`...), stamp), '}')
}

// AppendInstant writes null for NullStamp.
func (c *Common) AppendInstant(out []byte, us int64) []byte {
	if us == NullStamp {
		return append(out, "null"...)
	}
	return c.Precision.Append(out, us)
}

// Instant is nil for NullStamp.
func (c *Common) Instant(us int64) *types.Instant {
	if us == NullStamp {
		return nil
	}
	return new(types.Instant(c.Precision.Text(us)))
}
