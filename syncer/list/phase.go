package list

import (
	"encoding/json"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// checkpoint is where a walk of the list is, with its phase decoded.
type checkpoint struct {
	sinks.Checkpoint
	phase phase
}

// phase is where a long walk is beside its cursor. It is stored as JSON in
// [sinks.Checkpoint.Position].
type phase struct {
	Name phaseName         `json:"phase,omitempty"`
	Held *status.SweepHeld `json:"held,omitempty"` // of phaseHeld, and of the full resync after it until its own sweep
	// AtLeast: the walk goes on from an instant, since the service has refused its cursor. Rows
	// that are not newer than the watermark are not counted: they may have come before.
	AtLeast bool `json:"at_least,omitempty"`
	// Brought: no rows of a location that was gained were to come when the full resync began.
	Brought bool `json:"brought,omitempty"`
}

type phaseName string

const (
	// phaseNone: it is on its way, has not begun, or has ended.
	phaseNone phaseName = ""
	// phaseWalked: the walk of a full resync has reached the end of the list, and its
	// sweep is still to come.
	phaseWalked phaseName = "walked"
	// phaseHeld: the sweep waits for a person.
	phaseHeld phaseName = "held"

	// A backfill without updated_since notes when the service refused its cursor. It goes
	// on with updated_since, which never brings rows whose updated_at is null, and where
	// those are in the list is not said. So the list is walked once more from its start
	// (DESIGN §5, open readings). If the cursor is refused then too, that starts again.

	// phaseCursorLost: rows without updated_at are still to come.
	phaseCursorLost phaseName = "cursor_lost"
	// phaseAgain: once more from the start, for rows without updated_at.
	phaseAgain phaseName = "again"
)

// decoded is a stored checkpoint with its phase. One that is not readable has none, as before
// the walk began.
func decoded(stored sinks.Checkpoint) checkpoint {
	cp := checkpoint{Checkpoint: stored}
	if stored.Position != "" && json.Unmarshal([]byte(stored.Position), &cp.phase) != nil {
		cp.phase = phase{}
	}
	return cp
}

// encoded is the checkpoint as it is stored.
func (cp *checkpoint) encoded() sinks.Checkpoint {
	stored := cp.Checkpoint
	stored.Position = ""
	if cp.phase != (phase{}) {
		text, err := json.Marshal(cp.phase)
		if err != nil {
			panic(err) // it holds texts, numbers and a time
		}
		stored.Position = string(text)
	}
	return stored
}

// underWay reports whether the walk has begun and not ended, its sweep included.
func (cp *checkpoint) underWay() bool { return !cp.StartedAt.IsZero() && !cp.Done }

// figures are what the log says of a walk beside its rows.
func (cp *checkpoint) figures() []any {
	f := []any{"pages", cp.Pages}
	if cp.phase.AtLeast {
		f = append(f, "at_least", true)
	}
	return f
}
