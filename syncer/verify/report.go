package verify

import (
	"encoding/json"
	"time"

	"github.com/larder-sync/larder/syncer/status"
)

// The kinds of a [Finding].
const (
	FoundDifference  = "difference"
	FoundMoving      = "moving"      // the API showed another row each time
	FoundQuarantined = "quarantined" // an open entry of the quarantine: no difference
)

// Finding is what a verification found about a row: one field that differs, or why
// the row was not judged.
type Finding struct {
	Kind   string `json:"kind"`
	Source string `json:"source"`
	Stream string `json:"stream"`
	ID     string `json:"id"`
	// Field is the path in the API's JSON, or the name of a column when Column is
	// set; empty for the row as a whole.
	Field  string `json:"field"`
	Column bool   `json:"column,omitempty"`
	// API and Mirror are the values as JSON, left out where there is none. For a row
	// as a whole they are a text: live, absent, or removed with its reason.
	API    json.RawMessage `json:"api,omitempty"`
	Mirror json.RawMessage `json:"mirror,omitempty"`
	Reason string          `json:"reason,omitempty"` // of a quarantined row
	Hint   string          `json:"hint,omitempty"`   // what heals it
}

// Report is what a verification did, or has done so far.
type Report struct {
	StartedAt  time.Time      `json:"started_at"`
	FinishedAt time.Time      `json:"finished_at,omitzero"`
	Sources    []SourceReport `json:"sources"`
}

// SourceReport is the verification of one source.
type SourceReport = status.SourceOutcome[StreamReport]

// StreamReport is the verification of one stream, in rows.
type StreamReport struct {
	status.StreamOutcome
	Rows        uint64         `json:"rows"` // of the API; tombstones too, where it was compared to its end
	Differences uint64         `json:"differences"`
	Moving      uint64         `json:"moving"`
	Settled     uint64         `json:"settled"`      // differed at first sight, and not any more
	Unjudged    uint64         `json:"unjudged"`     // differed at first sight, and not compared again: too many, or an error
	Took        status.Seconds `json:"took_seconds"` // without the wait for the daemon's turns
	Done        bool           `json:"done"`
}

// Progress is a snapshot of a verification under way. In Status, the progress
// of a stream is that of its verification.
type Progress struct {
	Status status.Status
	Report Report
}

// Err joins the errors of a verification, nil when all could be compared.
func (r Report) Err() error { return status.ErrorOf(r.Sources) }

// Differences is how many rows differ, those included that were not judged.
func (r Report) Differences() uint64 {
	var n uint64
	for _, s := range r.Sources {
		for _, st := range s.Streams {
			n += st.Differences + st.Unjudged
		}
	}
	return n
}
