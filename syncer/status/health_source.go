package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/registry"
)

// What to do about what is found, and where to look.
const (
	adviceDrift      = "larder reconcile names the days and figures, larder reconcile --heal fetches them anew; the view reconciliation has them too."
	AdviceQuarantine = "What could not be understood is kept whole. Look at it with: larder sql \"SELECT stream, row_id, field, reason FROM quarantine\". An entry closes by itself when the row can be understood."
	adviceBehind     = "The note of the stream says why. Larder keeps trying."
	adviceUnproven   = "larder reconcile does it now, and says why it cannot be; so does the view reconciliation."
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

// Concerns are what there is to know about how well the source is, the worst first.
// There is at least one: a source without trouble has the concern that all is well.
func (s *SourceStatus) Concerns() []Concern {
	own, ends := s.own()
	if ends {
		return []Concern{own}
	}
	var all []Concern
	if own.Kind != "" {
		all = append(all, own)
	} else {
		all = append(all, s.streamConcerns()...)
	}
	all = append(all, s.held()...)
	all = append(all, s.damaged()...)
	all = append(all, s.proofConcerns(own.Kind == "")...)
	if n := s.quarantined(); n > 0 {
		all = append(all, Concern{
			Kind: HealthQuarantine, Amount: n, Label: text.Plural(n, "row") + " in quarantine",
			Text:   text.Counted(n, "row", "is", "are") + " in quarantine.",
			Advice: AdviceQuarantine,
		})
	}
	if len(all) == 0 {
		all = append(all, s.well())
	}
	return worstFirst(all)
}

// own is what the source's own state says, in the syncer's words where it has some; ends: there is
// nothing to be said beside it. It is empty for a source that is served.
func (s *SourceStatus) own() (c Concern, ends bool) {
	in := stateTexts[s.State]
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
	return c, s.State == StateStarting || s.State == StateWaiting
}

// streamConcerns are the concerns about how fresh single streams are.
func (s *SourceStatus) streamConcerns() (all []Concern) {
	by := map[string][]string{} // streams by kind
	for i := range s.Streams {
		st := &s.Streams[i]
		kind, _ := st.freshness()
		if s.refused(st) {
			kind = HealthRefused
		}
		if kind != HealthGood {
			by[kind] = append(by[kind], st.Name)
		}
	}
	if names := by[HealthRefused]; len(names) > 0 && s.readsNothing() {
		all = append(all, Concern{Kind: HealthRefused, Amount: len(names), Label: "no access", Text: "The key may read nothing that is configured.", Advice: stateTexts[StateForbidden].advice()})
	} else if len(names) > 0 {
		all = append(all, about(HealthRefused, names, "no access to %s", "The key may not read %s.", stateTexts[StateForbidden].advice()))
	}
	if names := by[HealthBehind]; len(names) > 0 {
		all = append(all, about(HealthBehind, names, text.Verb(len(names), "%s is behind", "%s behind"),
			text.Verb(len(names), "The stream %s is behind.", "The streams %s are behind."), adviceBehind))
	}
	switch starting, filling := by[HealthStarting], by[HealthBackfill]; {
	case len(filling) > 0:
		all = append(all, Concern{Kind: HealthBackfill, Label: "backfill", Amount: len(filling), Text: "Backfill under way" + andLeft(s.backfillLeft()) + "."})
	case len(starting) > 0:
		all = append(all, Concern{Kind: HealthStarting, Label: "starting", Amount: len(starting), Text: "Waiting for the first answers of " + listed(starting) + "."})
	}
	return all
}

// readsNothing reports whether the key may read nothing but what is said of itself.
func (s *SourceStatus) readsNothing() bool {
	return !slices.ContainsFunc(s.Streams, func(st StreamStatus) bool {
		return st.Name != registry.Key && st.State != StateOff && st.State != StateForbidden
	})
}

// about is a concern of some streams, which go into label and sentence, named when they are few.
func about(kind string, names []string, label, sentence, advice string) Concern {
	which := text.Plural(len(names), "stream")
	if len(names) == 1 {
		which = names[0]
	}
	return Concern{Kind: kind, Amount: len(names), Label: fmt.Sprintf(label, which), Text: fmt.Sprintf(sentence, listed(names)), Advice: advice}
}

func listed(names []string) string {
	const most = 4
	if len(names) > most {
		return strings.Join(names[:most-1], ", ") + fmt.Sprintf(" and %d more", len(names)-most+1)
	}
	if len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return strings.Join(names, "")
}

// backfillLeft is the forecast of the longest backfill, 0 while there is none.
func (s *SourceStatus) backfillLeft() (left Seconds) {
	for i := range s.Streams {
		if p := s.Streams[i].Progress; p != nil && !p.Deep() && !p.Resync() {
			left = max(left, p.ExpectedLeft)
		}
	}
	return left
}

// andLeft is a forecast behind what it is of, empty when there is none.
func andLeft(left Seconds) string {
	if left <= 0 {
		return ""
	}
	return ", " + text.Span(left.Duration()) + " left"
}

// held are the sweeps that wait for a person.
func (s *SourceStatus) held() (all []Concern) {
	for i := range s.Streams {
		st := &s.Streams[i]
		if st.State != StateHeld {
			continue
		}
		c := Concern{Kind: HealthHeld, Amount: 1, Label: "sweep held", Text: "A sweep of " + st.Name + " is held: a full resync did not see many of its live rows.",
			Advice: "Look whether they are really gone, then confirm with: " + (&SweepHeld{Source: s.Name, Stream: st.Name}).Confirm()}
		if st.Detail != "" {
			c.Advice = text.Sentence(st.Detail)
		}
		all = append(all, c)
	}
	return all
}

// damaged is the concern that rows of some streams are lost.
func (s *SourceStatus) damaged() []Concern {
	var names []string
	for i := range s.Streams {
		if s.Streams[i].Damaged {
			names = append(names, s.Streams[i].Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	c := Concern{Kind: HealthDamage, Amount: len(names), Label: "rows missing", Advice: adviceProblem}
	c.Text = "Part of the warehouse is damaged: rows are missing of " + listed(names) + "."
	return []Concern{c}
}

// proofConcerns are the concerns about the days. Days that are not compared at the moment, since
// the source is not served, are not late.
func (s *SourceStatus) proofConcerns(served bool) (all []Concern) {
	if p := s.Proof; p != nil && p.DriftDays > 0 {
		n := p.DriftDays
		all = append(all, Concern{
			Kind: HealthDrift, Amount: n, Label: text.Counted(n, "day", "differs", "differ"),
			Text:   text.Counted(n, "day", "differs", "differ") + " from the service's totals.",
			Advice: adviceDrift,
		})
	}
	if !served || !s.comparable() || len(all) > 0 && s.Proof.OpenDays == 0 { // what differs is not proven either
		return all
	}
	switch p := s.Proof; {
	case p == nil:
		all = append(all, Concern{Kind: HealthUnproven, Label: "not proven yet", Text: "Not proven yet.", Advice: "No day has been compared with the service's totals: schedule.reconcile says when that is next, and larder reconcile does it now."})
	case p.Late && p.ProvenUntil == "" && p.OpenDays == 0:
		all = append(all, Concern{Kind: HealthUnproven, Label: "not proven yet", Amount: p.UnaskedDays, Text: "Not proven yet.",
			Advice: text.Counted(p.UnaskedDays, "day", "has", "have") + " still to be compared with the service's totals. The daemon does it at the next turn of schedule.reconcile; larder reconcile does it now."})
	case p.Late && p.ProvenUntil == "":
		all = append(all, Concern{Kind: HealthUnproven, Label: "not proven", Amount: p.OpenDays, Text: "Not proven.", Advice: "The first days of the last 92 could not be compared with the service's totals. " + adviceUnproven})
	case p.Late:
		all = append(all, Concern{Kind: HealthUnproven, Label: "proven until " + p.ProvenUntil, Amount: p.OpenDays,
			Text: "Proven until " + p.ProvenUntil + " only.", Advice: "Days after it could not be compared with the service's totals. " + adviceUnproven})
	}
	return all
}

// comparable reports whether there are days to compare: both the orders and the totals
// are mirrored, and no backfill of them is under way.
func (s *SourceStatus) comparable() bool {
	for _, name := range []string{registry.Orders, registry.Daily} {
		i := slices.IndexFunc(s.Streams, func(st StreamStatus) bool { return st.Name == name })
		if i < 0 || slices.Contains([]string{StateOff, StateForbidden, StateStarting, StateBackfill}, s.Streams[i].State) {
			return false
		}
	}
	return true
}

// well is the concern of a source without trouble. A mirror that was never compared is not
// called proven.
func (s *SourceStatus) well() Concern {
	c := Concern{Kind: HealthGood, Label: "up to date", Text: "Everything is up to date."}
	if s.Proof != nil && s.Proof.ProvenUntil != "" {
		c.Text = "Everything is up to date and proven."
	}
	return c
}

func (s *SourceStatus) quarantined() (n int) {
	for i := range s.Streams {
		n += s.Streams[i].Quarantined
	}
	return n
}
