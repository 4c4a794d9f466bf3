package list

import (
	"encoding/json"
	"strings"

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
	// Walked: the walk of a full resync has reached the end of the list, and its sweep is still to come.
	Walked bool `json:"walked,omitempty"`
	// Held is the sweep that waits for a person, also while the full resync after it walks.
	Held *status.SweepHeld `json:"held,omitempty"`
	// AtLeast: the walk goes on from an instant, since the service has refused its cursor. Rows
	// that are not newer than the watermark are not counted: they may have come before.
	AtLeast bool `json:"at_least,omitempty"`
	// Brought: no rows of a location that was gained were to come when the full resync began.
	Brought bool `json:"brought,omitempty"`
}

// decoded is a stored checkpoint with its phase. What is not readable, as another version has stored
// it, may say that rows are still to come: of the phase only a held sweep is kept, and the first version is
// zero. A full resync then begins anew, and a backfill owes one.
func decoded(stored sinks.Checkpoint) checkpoint {
	cp := checkpoint{Checkpoint: stored}
	if stored.Position == "" {
		return cp
	}
	from := json.NewDecoder(strings.NewReader(stored.Position))
	from.DisallowUnknownFields()
	if from.Decode(&cp.phase) != nil {
		cp.FirstVersion, cp.phase = 0, phase{Held: cp.phase.Held}
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
