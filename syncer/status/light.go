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

// Light is a stream's state in a word or two, with the tone it is shown in.
type Light struct {
	Label string
	Tone  Tone
}

// streamText is what a stream's state means while its source is served: the kind of concern that it
// is, its light, and what there is to say when the syncer has no words.
type streamText struct {
	kind string
	Light
	note string
}

// streamTexts has the states of streams.
var streamTexts = map[string]streamText{
	StateStarting:     {HealthStarting, Light{"starting", ToneBusy}, ""},
	StateRunning:      {HealthGood, Light{"up to date", ToneGood}, ""},
	StateBackfill:     {HealthBackfill, Light{"backfill", ToneBusy}, ""},
	StateHeld:         {HealthHeld, Light{"sweep held", ToneTrouble}, ""},
	StateForbidden:    {HealthRefused, Light{"no access", ToneTrouble}, stateTexts[StateForbidden].text + " " + stateTexts[StateForbidden].advice()},
	StateFailing:      {HealthBehind, Light{"failing", ToneTrouble}, "The last walk failed and is tried again."},
	StateUnauthorized: {HealthBehind, Light{"failing", ToneTrouble}, ""},
	StateKeyDisabled:  {HealthBehind, Light{"failing", ToneTrouble}, ""},
	StateUnreachable:  {HealthBehind, Light{"failing", ToneTrouble}, ""},
	StateUnstored:     {HealthWarehouse, Light{"not stored", ToneQuiet}, ""},
	StateAPIDisabled:  {HealthGood, Light{"ordering off", ToneQuiet}, "The restaurant has online ordering switched off. Larder goes on by itself when it is back."},
	StateOff:          {HealthGood, Light{"off", ToneQuiet}, "Not configured, or the key lacks the scope."},
	StateWaiting:      {HealthGood, Light{"waiting", ToneQuiet}, ""},
	StateStopped:      {HealthGood, Light{"stopped", ToneQuiet}, ""},
}

// meaning is what the state of one of the source's streams means.
func (s *SourceStatus) meaning(st *StreamStatus) streamText {
	means, known := streamTexts[st.State]
	switch {
	case st.State == StateOff && slices.Contains(s.Lacks, st.Name):
		return streamTexts[StateForbidden]
	case st.Behind && (!known || means.Tone == ToneGood || means.Tone == ToneBusy):
		return streamText{HealthBehind, Light{"behind", ToneTrouble}, ""}
	case !known: // a state of another version is not called good
		return streamText{HealthGood, Light{strings.ReplaceAll(st.State, "_", " "), ToneQuiet}, ""}
	}
	return means
}

// Light is how one of the source's streams is: green only when it is fresh, nothing
// of it is in quarantine, and for the orders, no day differs.
func (s *SourceStatus) Light(st *StreamStatus) Light {
	means := s.meaning(st)
	switch {
	case st.State == StateUnstored, st.State == StateOff && means.kind == HealthGood:
	case s.unserved():
		return Light{"not asked", ToneQuiet}
	case st.Damaged:
		return Light{"rows missing", ToneTrouble}
	case means.Tone == ToneTrouble:
	case st.Name == registry.Orders && s.Proof != nil && s.Proof.DriftDays > 0:
		return Light{text.Counted(s.Proof.DriftDays, "day", "differs", "differ"), ToneTrouble}
	case st.Quarantined > 0:
		return Light{st.InQuarantine(), ToneTrouble}
	}
	return means.Light
}

// unserved reports whether nothing is asked for the source's streams, and its own words
// say why.
func (s *SourceStatus) unserved() bool {
	own, served := s.own()
	return !served && own.Tone() == ToneTrouble
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
	if means := s.meaning(st); means.note != "" || !late {
		return means.note
	}
	since := ""
	if st.Lag > 0 {
		since = " for " + text.Span(st.Lag.Duration())
	}
	const slow = "the service answers slowly or not at all, or there is more to fetch than the limits allow"
	return "No walk has ended" + since + ": " + cmp.Or(s.Budget.Pause(), slow) + "."
}

// InQuarantine is how many rows are in quarantine, in words; empty for none.
func (st *StreamStatus) InQuarantine() string {
	if st.Quarantined == 0 {
		return ""
	}
	return text.Count(st.Quarantined) + " in quarantine"
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
