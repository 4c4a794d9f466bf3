package list

import (
	"encoding/json"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// phase is where a long walk stands beside its cursor. It is stored as JSON in
// [sinks.Checkpoint.Position].
type phase struct {
	Name  phaseName         `json:"phase,omitempty"`
	Held  *status.SweepHeld `json:"held,omitempty"` // of phaseHeld, and of the full resync after it until its own sweep
	Tally *tally            `json:"tally,omitempty"`
}

type phaseName string

const (
	// phaseNone: it is on its way, or has not begun.
	phaseNone phaseName = ""
	// phaseWalked: the walk of a full resync has reached the end of the list, and its
	// sweep is still to come.
	phaseWalked phaseName = "walked"
	// phaseCutShort is the same of a location that was refused on the way: the
	// sweep takes what it did not see. Should the location be the key's again, it is
	// walked again, before the sweep if it is back by then.
	phaseCutShort phaseName = "cut_short"
	// PhaseClosed says that a full resync has ended while the location was not the key's,
	// so that its rows may have been removed. Should it be the key's again, they are
	// walked again.
	PhaseClosed phaseName = "closed"
	// phaseHeld: the sweep waits for a person.
	phaseHeld phaseName = "held"

	// A backfill without updated_since notes when the service refused its cursor. It goes
	// on with updated_since, which never brings rows whose updated_at is null, and where
	// those stand in the list is not said. So the list is walked once more from its start
	// (DESIGN §5, open readings). If the cursor is refused then too, that starts again.

	// phaseCursorLost: rows without updated_at are still to come.
	phaseCursorLost phaseName = "cursor_lost"
	// phaseAgain: once more from the start, for rows without updated_at.
	phaseAgain phaseName = "again"
)

// phaseOf reads the phase of a long walk; a checkpoint without one has the zero phase.
func phaseOf(cp sinks.Checkpoint) (p phase) {
	if cp.Position == "" || json.Unmarshal([]byte(cp.Position), &p) != nil {
		return phase{} // of another kind of walk, or of none
	}
	return p
}

// Is is true when the checkpoint is in the phase.
func (n phaseName) Is(cp sinks.Checkpoint) bool { return phaseOf(cp).Name == n }

// in puts the checkpoint into the phase; what is counted, and what is held, stays.
func (n phaseName) in(cp *sinks.Checkpoint) {
	p := phaseOf(*cp)
	p.Name = n
	p.in(cp)
}

func (p phase) in(cp *sinks.Checkpoint) {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // it holds texts, numbers and a time
	}
	cp.Position = string(text)
}
