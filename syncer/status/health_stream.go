package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// freshness returns the kind of concern that a stream's walks are, and the stream's light, as far as
// only its walks matter. The key may read the stream.
func (st *StreamStatus) freshness() (kind string, l Light) {
	label := strings.ReplaceAll(st.State, "_", " ")
	switch st.State {
	case StateFailing, StateUnauthorized, StateKeyDisabled, StateUnreachable:
		return HealthBehind, Light{"failing", ToneTrouble}
	case StateUnstored: // the source's own words say why
		return HealthBehind, Light{label, ToneQuiet}
	case StateAPIDisabled:
		return HealthGood, Light{"ordering off", ToneQuiet}
	case StateOff, StateWaiting, StateStopped: // nothing is asked
		return HealthGood, Light{label, ToneQuiet}
	}
	switch {
	case st.Behind:
		return HealthBehind, Light{"behind", ToneTrouble}
	case st.State == StateStarting:
		return HealthStarting, Light{label, ToneBusy}
	case st.State == StateBackfill:
		return HealthBackfill, Light{label, ToneBusy}
	case st.State == StateRunning:
		return HealthGood, Light{"up to date", ToneGood}
	}
	return HealthGood, Light{label, ToneQuiet} // a state that this program does not know is not called good
}

// Light is a stream's state in a word or two, with the tone it is shown in.
type Light struct {
	Label string
	Tone  Tone
}

// Light is how one of the source's streams is: green only when it is fresh, nothing
// of it is in quarantine, and for the orders, no day differs.
func (s *SourceStatus) Light(st *StreamStatus) Light {
	_, fresh := st.freshness()
	switch {
	case s.refused(st) && !s.unserved():
		return Light{"no access", ToneTrouble}
	case st.State == StateOff, st.State == StateUnstored:
		return fresh
	case s.unserved():
		return Light{"not asked", ToneQuiet}
	case st.Damaged:
		return Light{"rows missing", ToneTrouble}
	case st.State == StateHeld:
		return Light{"sweep held", ToneTrouble}
	case st.Name == registry.Orders && s.Proof != nil && s.Proof.DriftDays > 0:
		n := s.Proof.DriftDays
		return Light{text.Counted(n, "day", "differs", "differ"), ToneTrouble}
	case st.Quarantined > 0:
		return Light{st.InQuarantine(), ToneTrouble}
	}
	return fresh
}

// refused reports whether the key may not read a stream that it should.
func (s *SourceStatus) refused(st *StreamStatus) bool {
	return st.State == StateForbidden || st.State == StateOff && slices.Contains(s.Lacks, st.Name)
}

// unserved reports whether nothing is asked for the source's streams, and its own words
// say why.
func (s *SourceStatus) unserved() bool {
	own, _ := s.own()
	return own.Kind != "" && own.Tone() == ToneTrouble
}

// LastError is the last error of a stream, empty when the source's trouble explains it.
func (s *SourceStatus) LastError(st *StreamStatus) string {
	if s.unserved() {
		return ""
	}
	return st.LastError
}

// Note is what there is to say about a stream beside its light: the syncer's words, or
// what a state without any means.
func (s *SourceStatus) Note(st *StreamStatus) string {
	if s.unserved() && st.State != StateOff {
		return ""
	}
	late := st.Behind && !st.LastErrorAt.After(st.LastSuccess)
	if st.Detail != "" && (!late || st.State != StateRunning) {
		return st.Detail
	}
	switch st.State {
	case StateOff:
		return "Not configured, or the key lacks the scope."
	case StateForbidden:
		return stateTexts[StateForbidden].text + " " + stateTexts[StateForbidden].advice()
	case StateFailing:
		return "The last walk failed and is tried again."
	case StateAPIDisabled:
		return "The restaurant has online ordering switched off. Larder goes on by itself when it is back."
	}
	if late {
		since := ""
		if st.Lag > 0 {
			since = " for " + text.Span(st.Lag.Duration())
		}
		const slow = "the service answers slowly or not at all, or there is more to fetch than the limits allow"
		return "No walk has ended" + since + ": " + cmp.Or(s.Budget.Pause(), slow) + "."
	}
	return ""
}

// InQuarantine is how many rows are in quarantine, in words; empty for none.
func (st *StreamStatus) InQuarantine() string {
	if st.Quarantined == 0 {
		return ""
	}
	return text.Count(st.Quarantined) + " in quarantine"
}

// Unasked is one sentence for streams that were never asked: what they wait for is said
// above it. Empty when there is more to say.
func (s *SourceStatus) Unasked() string {
	var rows uint64
	waiting := 0
	for i := range s.Streams {
		st := &s.Streams[i]
		switch {
		case (st.State == StateStarting || st.State == StateUnstored) && st.LastSuccess.IsZero():
			waiting++
		case st.State != StateOff:
			return ""
		}
		if st.Rows != nil {
			rows += *st.Rows
		}
	}
	if waiting == 0 || s.State == StateRunning || s.State == StateBackfill {
		return ""
	}
	wait := text.Counted(waiting, "stream", "waits", "wait") + " until then."
	if rows > 0 {
		wait += " The " + text.Plural(rows, "row") + " mirrored before " + text.Verb(rows, "stays", "stay") + " as " + text.Verb(rows, "it is.", "they are.")
	}
	return wait
}

// NextWalk says when the stream is asked for next, and why then if it is not its turn;
// empty when that is not known.
func (st *StreamStatus) NextWalk(now time.Time) string {
	in := "in " + text.Span(max(st.Next.Sub(now), 0))
	switch {
	case st.NextWhy == string(schedule.UnderWay):
		return "under way"
	case st.NextWhy == string(schedule.Off) && st.State != StateOff:
		return "off"
	case st.Next.IsZero():
		return ""
	case st.NextWhy == string(schedule.Asked):
		return in + ", as the service asks"
	case st.NextWhy == string(schedule.Probed):
		return in + ", with the source"
	}
	return in
}
