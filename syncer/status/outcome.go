package status

import (
	"errors"
	"fmt"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/registry"
)

// StreamOutcome is the part of a stream's report that every kind of pass has.
type StreamOutcome struct {
	Stream  string `json:"stream"`
	Off     string `json:"off,omitempty"`      // why nothing was read of it; empty when it is on
	NoScope bool   `json:"no_scope,omitempty"` // it is off since the key lacks the scope
	// OrderingOff: the service answers nothing since online ordering is switched off,
	// which is no failure (docs/rules.md R11).
	OrderingOff  bool     `json:"ordering_off,omitempty"`
	InQuarantine uint64   `json:"quarantined"` // entries open at the end
	Err          *Failure `json:"failure,omitempty"`
}

// Outcome is the outcome itself, for what serves all kinds of passes alike.
func (o StreamOutcome) Outcome() StreamOutcome { return o }

// Fail notes what went wrong with the stream, nil for nothing. It is never the configuration: a
// route that one list of a service has not, and the others have, says nothing of base_url.
func (o *StreamOutcome) Fail(err error) {
	if o.Err = FailureOf(err); o.Err != nil && o.Err.Code == lifecycle.ExitUsage {
		o.Err.Code = lifecycle.ExitProblem
	}
}

// Outcomer is the report of a stream: it embeds a [StreamOutcome].
type Outcomer interface{ Outcome() StreamOutcome }

// Lacks names the streams for which a key lacks the scope, when it should have it: when the
// configuration names streams, or the key can read nothing. A key that reads some of what there is
// lacks nothing when the configuration names no streams.
func Lacks(named bool, streams []StreamOutcome) (lacks []string) {
	reads := false
	for _, o := range streams {
		if o.NoScope {
			lacks = append(lacks, o.Stream)
		} else if (o.Off == "" || o.OrderingOff) && o.Stream != registry.Key { // which every key may read
			reads = true
		}
	}
	if reads && !named {
		return nil
	}
	return lacks
}

// SourceOutcome is the report of a source, with those of its streams. Err is set when nothing could
// be asked. State is then one of the states of a source in trouble.
type SourceOutcome[S Outcomer] struct {
	Source  string   `json:"source"`
	State   string   `json:"state"`
	Err     *Failure `json:"failure,omitempty"`
	Streams []S      `json:"streams"`
}

// Fail notes what went wrong with a source, nil for nothing, and the state that it is in.
func (o *SourceOutcome[S]) Fail(state string, err error) {
	o.State, o.Err = state, FailureIn(state, err)
}

// ErrorOf joins what went wrong with sources and their streams, nil when all went well.
func ErrorOf[S Outcomer](sources []SourceOutcome[S]) error {
	var errs []error
	for _, s := range sources {
		if s.Err != nil {
			errs = append(errs, fmt.Errorf("source %s: %w", s.Source, s.Err))
		}
		for _, st := range s.Streams {
			if o := st.Outcome(); o.Err != nil {
				errs = append(errs, fmt.Errorf("source %s: stream %s: %w", s.Source, o.Stream, o.Err))
			}
		}
	}
	return errors.Join(errs...)
}
