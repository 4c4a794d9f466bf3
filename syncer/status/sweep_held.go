package status

import (
	"fmt"
	"time"
)

// SweepSample is how many rows are asked for one by one when there are more than are all
// asked for.
const SweepSample = 10

// SweepHeld is a sweep that waits for a person: so many of the live rows were not
// shown by a full resync that one may doubt the answer of the service.
type SweepHeld struct {
	Source string `json:"source"`
	Stream string `json:"stream"`
	Rows   uint64 `json:"rows"` // live rows that were not seen
	Live   uint64 `json:"live"` // live rows then
	// Alive of a sample of them are still there when asked for one by one: the
	// list did not show all it has.
	Alive int       `json:"alive,omitempty"`
	At    time.Time `json:"at"`
}

// Error implements error, for the report of a pass.
func (h *SweepHeld) Error() string {
	alive := ""
	if h.Alive > 0 {
		alive = fmt.Sprintf("The service still has %d of %d of them that were asked for one by one. ", h.Alive, SweepSample)
	}
	return fmt.Sprintf("sweep held: %d of %d live rows were not in the full resync that ended %s; nothing was removed. %s"+
		"If they are really gone, confirm with: %s", h.Rows, h.Live, h.At.UTC().Format("2006-01-02 15:04 UTC"), alive, h.Confirm())
}

// Confirm is the command that lets this sweep, and no other, remove what it found.
func (h *SweepHeld) Confirm() string {
	return fmt.Sprintf("larder sync --full --confirm-sweep --source %s --stream %s", h.Source, h.Stream)
}
