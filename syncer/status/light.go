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

// streamTexts has what the states of streams mean while their source is served; the text is what there
// is to say when the syncer has no words.
var streamTexts = map[string]Concern{
	StateStarting:     {Kind: HealthStarting, Label: "starting"},
	StateRunning:      {Kind: HealthGood, Label: "up to date"},
	StateBackfill:     {Kind: HealthBackfill, Label: "backfill"},
	StateHeld:         {Kind: HealthHeld, Label: "sweep held"},
	StateForbidden:    {Kind: HealthRefused, Label: "no access", Text: stateTexts[StateForbidden].text + " " + stateTexts[StateForbidden].advice()},
	StateFailing:      {Kind: HealthBehind, Label: "failing", Text: "The last walk failed and is tried again."},
	StateUnauthorized: {Kind: HealthBehind, Label: "failing"},
	StateKeyDisabled:  {Kind: HealthBehind, Label: "failing"},
	StateUnreachable:  {Kind: HealthBehind, Label: "failing"},
	StateUnstored:     {Kind: HealthNone, Label: "not stored"},
	StateAPIDisabled:  {Kind: HealthNone, Label: "ordering off", Text: "The restaurant has online ordering switched off. " + goesOn},
	StateOff:          {Kind: HealthNone, Label: "off", Text: "Not configured, or the key lacks the scope."},
	StateWaiting:      {Kind: HealthNone, Label: "waiting"},
	StateStopped:      {Kind: HealthNone, Label: "stopped"},
}

// meaning is what the state of one of the source's streams means.
func (s *SourceStatus) meaning(st *StreamStatus) Concern {
	means, known := streamTexts[st.State]
	switch {
	case st.State == StateOff && slices.Contains(s.Lacks, st.Name):
		return streamTexts[StateForbidden]
	case st.Behind && (!known || means.Tone() == ToneGood || means.Tone() == ToneBusy):
		return Concern{Kind: HealthBehind, Label: "behind"}
	case !known: // a state of another version is not called good
		return Concern{Kind: HealthNone, Label: strings.ReplaceAll(st.State, "_", " ")}
	}
	return means
}

// Light is how one of the source's streams is, its label in a word or two: green only when it is
// fresh, nothing of it is in quarantine, and for the orders, no day differs.
func (s *SourceStatus) Light(st *StreamStatus) Concern {
	means := s.meaning(st)
	switch {
	case (st.State == StateUnstored || st.State == StateOff) && means.Kind == HealthNone:
	case s.unserved():
		return Concern{Kind: HealthNone, Label: "not asked"}
	case st.Damaged:
		return Concern{Kind: HealthDamage, Label: "rows missing"}
	case means.Tone() == ToneTrouble:
	case st.Name == registry.Orders && s.Proof != nil && s.Proof.DriftDays > 0:
		return Concern{Kind: HealthDrift, Label: text.Counted(s.Proof.DriftDays, "day", "differs", "differ")}
	case st.Quarantined > 0:
		return Concern{Kind: HealthQuarantine, Label: st.inQuarantine()}
	}
	return means
}

// unserved reports whether nothing is asked for the source's streams, and its own words
// say why.
func (s *SourceStatus) unserved() bool {
	own, served := s.own()
	return !served && own.Tone() == ToneTrouble
}

// StreamNotes are what there is to say about one of the source's streams beside its light: rows in
// quarantine, the syncer's words or what a state without any means, and the last error. The trouble
// of a source that is not served explains the last two.
func (s *SourceStatus) StreamNotes(now time.Time, st *StreamStatus) (notes []string) {
	if st.Quarantined > 0 && s.Light(st).Label != st.inQuarantine() {
		notes = append(notes, st.inQuarantine())
	}
	unserved, note := s.unserved(), s.note(st)
	if note != "" && (!unserved || st.State == StateOff) {
		notes = append(notes, note)
	}
	if !unserved && st.LastError != "" && !strings.Contains(note, st.LastError) {
		when := "last error"
		if !st.LastErrorAt.IsZero() { // a walk may have gone well since
			when += " " + text.Ago(now, st.LastErrorAt)
		}
		notes = append(notes, when+": "+st.LastError)
	}
	return notes
}

// note is what the syncer says of a stream, or else what its state means.
func (s *SourceStatus) note(st *StreamStatus) string {
	late := st.Behind && !st.LastErrorAt.After(st.LastSuccess)
	if st.Detail != "" && (!late || st.State != StateRunning) {
		return st.Detail
	}
	if means := s.meaning(st); means.Text != "" || !late {
		return means.Text
	}
	since := ""
	if st.Lag > 0 {
		since = " for " + text.Span(st.Lag.Duration())
	}
	const slow = "the service answers slowly or not at all, or there is more to fetch than the limits allow"
	return "No walk has ended" + since + ": " + cmp.Or(s.Budget.Pause(), slow) + "."
}

// inQuarantine is how many rows are in quarantine.
func (st *StreamStatus) inQuarantine() string { return text.Count(st.Quarantined) + " in quarantine" }

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
