package status

import (
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/registry"
)

// What to do about what is found, and where to look.
const (
	AdviceQuarantine = "What could not be understood is kept whole. Look at it with: larder sql \"SELECT stream, row_id, field, reason FROM quarantine\". An entry closes by itself when the row can be understood."
	adviceProblem    = "The problems of the status say why, and what to do."
	goesOn           = "Larder goes on by itself."
)

// stateText has the words for a source in a state. hint is what a person can do, and also follows the
// error of a command; daemon is added to it in the status, and is what the daemon does by itself.
type stateText struct{ kind, label, text, hint, daemon string }

func (i stateText) advice() string { return strings.TrimSpace(i.hint + " " + i.daemon) }

// stateTexts has the states of sources that are not served.
var stateTexts = map[string]stateText{
	StateUnauthorized: {HealthRefused, "key refused", "The service refuses the key.", "Put a valid key where key_file or key_env says; the restaurant makes keys.", goesOn},
	StateKeyDisabled:  {HealthRefused, "key disabled", "The restaurant has disabled the key.", "Ask the restaurant to enable the key, or to make another.", goesOn},
	StateForbidden: {
		HealthRefused, "no access", "The key may not read this.",
		"Ask the restaurant to widen the key's scopes or locations, or leave out of the configuration what the key may not read.", goesOn,
	},
	StateUnreachable: {
		HealthUnserved, "no answer", "The service does not answer.",
		"Check base_url (as the service gives it, /v1 included) and the network.", "Larder keeps trying, and nothing is lost.",
	},
	StateFailing:  {HealthUnserved, "failing", "The source cannot be served.", "", "Larder keeps trying."},
	StateUnstored: {HealthWarehouse, "not stored", "The warehouse takes no rows.", "", adviceProblem},
	StateStarting: {HealthStarting, "starting", "Waiting for the first answer.", "", ""},
	StateWaiting: {
		HealthWaiting, "waiting", "Another process serves this source.",
		"Nothing is wrong when that process is yours: it keeps the source up to date.", "This one takes over when that one ends.",
	},
	StateStopped: {HealthStopped, "no daemon", "No daemon runs.", "", "larder run starts one."},
}

// streamConcerns are the concerns that streams cause; %s is their names, in a label their number when
// there are several. A source that is not served has the first two alone.
var streamConcerns = []Concern{
	{Kind: HealthDamage, Label: "rows missing", Text: "Part of the warehouse is damaged: rows are missing of %s.", Advice: adviceProblem},
	{Kind: HealthHeld, Label: "sweep held", Text: "A sweep of %s is held: a full resync did not see many of its live rows."},
	{Kind: HealthRefused, Label: "no access to %s", Text: "The key may not read %s.", Advice: stateTexts[StateForbidden].advice()},
	{Kind: HealthBehind, Label: "%s behind", Text: "Larder is behind with %s.", Advice: "The note of the stream says why. Larder keeps trying."},
	{Kind: HealthBackfill, Label: "backfill", Text: "Backfill under way."},
	{Kind: HealthStarting, Label: "starting", Text: "Waiting for the first answers of %s."},
}

// Concerns are what there is to know about how well the source is, the worst first, one of a kind.
// There is at least one: a source without trouble has the concern that all is well.
func (s *SourceStatus) Concerns() []Concern {
	var all []Concern
	own, served := s.own()
	if !served {
		all = append(all, own)
	}
	if s.State == StateStarting || s.State == StateWaiting { // nothing else is known
		return all
	}
	all = append(all, s.ofStreams(served)...)
	all = append(all, s.ofDays(served)...)
	rows := 0
	for i := range s.Streams {
		rows += s.Streams[i].Quarantined
	}
	if rows > 0 {
		all = append(all, Concern{
			Kind: HealthQuarantine, Amount: rows, Label: text.Plural(rows, "row") + " in quarantine",
			Text: text.Counted(rows, "row", "is", "are") + " in quarantine.", Advice: AdviceQuarantine,
		})
	}
	if len(all) == 0 {
		proven := ""
		if s.Proof != nil && s.Proof.ProvenUntil != "" { // else it was never compared
			proven = " and proven"
		}
		all = append(all, Concern{Kind: HealthGood, Label: "up to date", Text: "Everything is up to date" + proven + "."})
	}
	slices.SortStableFunc(all, Concern.Compare)
	return all
}

// own is the concern that the source's state is, in the syncer's words where it has some, and
// whether the source is served: then there is none.
func (s *SourceStatus) own() (c Concern, served bool) {
	in, known := stateTexts[s.State]
	if !known {
		return c, true
	}
	c = Concern{Kind: in.kind, Label: in.label, Text: in.text, Advice: in.advice()}
	switch s.State {
	case StateStarting:
		if s.Detail != "" {
			c.Text = text.Sentence(s.Detail)
		}
		if pause := s.Budget.Pause(); pause != "" {
			c.Text = strings.TrimSuffix(c.Text, ".") + ": " + pause + "."
		}
	case StateForbidden, StateUnreachable, StateFailing, StateWaiting, StateStopped:
		if s.Detail != "" {
			c.Advice = text.Sentence(s.Detail) // it says what to do
		}
	}
	return c, false
}

// ofStreams are the concerns that the source's streams cause.
func (s *SourceStatus) ofStreams(served bool) (all []Concern) {
	names, details := map[string][]string{}, map[string][]string{} // by kind
	var left Seconds                                               // of the longest backfill
	for i := range s.Streams {
		st := &s.Streams[i]
		kind := s.meaning(st).Kind
		names[kind] = append(names[kind], st.Name)
		if st.Detail != "" {
			details[kind] = append(details[kind], text.Sentence(st.Detail))
		}
		if p := st.Progress; p != nil && kind == HealthBackfill && !p.Deep() && !p.Resync() {
			left = max(left, p.ExpectedLeft)
		}
		if st.Behind && kind == HealthHeld {
			names[HealthBehind] = append(names[HealthBehind], st.Name)
		}
		if st.Damaged {
			names[HealthDamage] = append(names[HealthDamage], st.Name)
		}
	}
	for _, c := range streamConcerns {
		if c.Amount = len(names[c.Kind]); c.Amount == 0 || !served && c.Kind != HealthDamage && c.Kind != HealthHeld {
			continue
		}
		which := names[c.Kind][0]
		if c.Amount > 1 {
			which = text.Plural(c.Amount, "stream")
		}
		c.Label = strings.ReplaceAll(c.Label, "%s", which)
		c.Text = strings.ReplaceAll(c.Text, "%s", strings.Join(text.Few(names[c.Kind]), ", "))
		switch {
		case c.Kind == HealthHeld:
			c.Advice = strings.Join(details[c.Kind], " ") // how to confirm
		case c.Kind == HealthBackfill && left > 0:
			c.Text = "Backfill under way, " + text.Span(left.Duration()) + " left."
		}
		all = append(all, c)
	}
	return all
}

// ofDays are the concerns about the days. Days that are not compared at the moment are not late: the
// source is not served, the orders or the totals are not mirrored, or a backfill of them is under way.
func (s *SourceStatus) ofDays(served bool) (all []Concern) {
	p := s.Proof
	if p != nil && p.DriftDays > 0 {
		differ := text.Counted(p.DriftDays, "day", "differs", "differ")
		all = append(all, Concern{
			Kind: HealthDrift, Amount: p.DriftDays, Label: differ, Text: differ + " from the service's totals.",
			Advice: "larder reconcile names the days and figures, larder reconcile --heal fetches them anew; the view reconciliation has them too.",
		})
	}
	compared := 0
	for i := range s.Streams {
		st := &s.Streams[i]
		if (st.Name == registry.Orders || st.Name == registry.Daily) && !slices.Contains([]string{StateOff, StateForbidden, StateStarting, StateBackfill}, st.State) {
			compared++
		}
	}
	if !served || compared < 2 || p != nil && (!p.Late || p.DriftDays > 0 && p.OpenDays == 0) { // what differs is not proven either
		return all
	}
	c := Concern{
		Kind: HealthUnproven, Label: "not proven yet", Text: "Not proven yet.",
		Advice: "Days were not compared with the service's totals, or could not be. The daemon compares them at the turns of schedule.reconcile; larder reconcile does it now, and says why it cannot be. So does the view reconciliation.",
	}
	if p != nil {
		c.Amount = p.OpenDays + p.UnaskedDays
		if p.ProvenUntil != "" {
			c.Label, c.Text = "proven until "+p.ProvenUntil, "Proven until "+p.ProvenUntil+" only."
		}
	}
	return append(all, c)
}

// Concerns are what there is to know about how well all of it is, the worst first, one of a kind:
// what several sources have is the concern of the first of them, and names that one.
func (s *Status) Concerns() []Concern {
	all := s.own()
	own := len(all)
	sources := map[string][]string{} // by kind
	for i := range s.Sources {
		for _, c := range s.Sources[i].Concerns() {
			sources[c.Kind] = append(sources[c.Kind], s.Sources[i].Name)
			at := slices.IndexFunc(all, func(other Concern) bool { return other.Kind == c.Kind })
			switch {
			case at < 0:
				all = append(all, c)
			case at < own: // the daemon's own words are better
			case c.Kind == HealthGood && len(c.Text) < len(all[at].Text):
				all[at] = c // not all of them are proven
			default:
				all[at].Amount += c.Amount
			}
		}
	}
	for i := own; i < len(all) && len(s.Sources) > 1; i++ {
		c, names := &all[i], sources[all[i].Kind]
		if c.Kind == HealthGood || c.Kind == HealthWarehouse || c.Kind == HealthStopped { // which all of them have
			continue
		}
		more := len(names) - 1
		if more > 0 && c.Kind == HealthBackfill {
			c.Text = "Backfill under way." // the first may not be the one that takes longest
		}
		c.Text = names[0] + ": " + c.Text
		if more > 0 {
			c.Text += " " + text.Counted(more, "more source", "has", "have") + " a concern of this kind."
		}
	}
	if len(s.Sources) == 0 {
		c := Concern{Kind: HealthNone, Label: "no sources", Text: "No sources are configured."}
		if s.Configured > 0 {
			c.Text = "Other processes have all sources."
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, Concern.Compare)
	for i, c := range all {
		if i > 0 && c.Tone() != ToneTrouble && c.Tone() != ToneBusy {
			return all[:i] // the sources that are well, while others are not
		}
	}
	return all
}

// own are the daemon's own problems; the status has their words.
func (s *Status) own() (all []Concern) {
	add := func(kind, label, text string) {
		all = append(all, Concern{Kind: kind, Label: label, Text: text, Advice: adviceProblem})
	}
	if s.WarehouseUnavailable {
		add(HealthWarehouse, "warehouse away", "The warehouse takes no rows.")
	}
	if s.Damaged {
		add(HealthDamage, "warehouse damaged", "Part of the warehouse is damaged: rows are missing.")
	}
	if s.Refused {
		add(HealthConfiguration, "configuration refused", "The changed configuration is refused.")
	}
	if len(s.Problems) > 0 && len(all) == 0 { // of the engine, or of the process that answers readers
		add(HealthWarehouse, "needs attention", "Larder needs attention.")
	}
	return all
}
