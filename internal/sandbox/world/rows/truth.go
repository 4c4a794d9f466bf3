package rows

import (
	"encoding/json"
	"time"
)

// Why a row is not live: as tombstones say (docs/openapi.yaml, Tombstone), or ReasonGone.
const (
	ReasonDeleted   = "deleted"
	ReasonCancelled = "cancelled"
	ReasonUnpaid    = "unpaid"
	// ReasonGone is the reason of a row that left its list without a tombstone: a
	// mirror that has seen it must not show it as live, one that has not knows
	// nothing of it.
	ReasonGone = "gone"
)

// TruthRow is a row that a mirror of a stream must hold.
type TruthRow struct {
	ID string `json:"id"`
	// Row is the row as the API serves it; nil for one that is not live.
	Row json.RawMessage `json:"row,omitempty"`
	// Reason is why it is not live: deleted, cancelled, unpaid, or gone.
	Reason string `json:"reason,omitempty"`
}

// Stamp is when a row was last changed, where it is, and whether it is a tombstone.
type Stamp struct {
	At       time.Time
	Location string // "" for a row that every location shares
	Removed  bool
}

// Stamp is of a row at a location.
func (c *Common) Stamp(us int64, loc int, removed bool) Stamp {
	s := Stamp{At: time.UnixMicro(us).UTC(), Removed: removed}
	if loc != Shared {
		s.Location = c.Locations.ID(loc)
	}
	return s
}
