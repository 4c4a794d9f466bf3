package status

import (
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/text"
)

// Concerns are what there is to know about how well all of it is, the worst first. A
// thing that several sources have is one concern.
func (s *Status) Concerns() []Concern {
	all := s.own()
	if len(s.Sources) == 0 {
		return worstFirst(append(all, Concern{Kind: HealthNone, Label: "no sources", Text: "No sources are configured."}))
	}
	if len(s.Sources) == 1 {
		return s.withoutGood(addMissing(all, s.Sources[0].Concerns()))
	}
	by := map[string]*sum{}
	for i := range s.Sources {
		counted := map[string]bool{}
		for _, c := range s.Sources[i].Concerns() {
			if by[c.Kind] == nil {
				by[c.Kind] = &sum{first: c}
			}
			if c.Kind == HealthGood && len(c.Text) < len(by[c.Kind].first.Text) {
				by[c.Kind].first = c // not all of them are proven
			}
			by[c.Kind].amount += c.Amount
			by[c.Kind].left = max(by[c.Kind].left, s.Sources[i].backfillLeft())
			if !counted[c.Kind] {
				by[c.Kind].sources++
				counted[c.Kind] = true
			}
		}
	}
	var ofSources []Concern
	for _, k := range severity {
		if c := by[k.kind]; c != nil {
			ofSources = append(ofSources, c.concern(len(s.Sources)))
		}
	}
	return s.withoutGood(addMissing(all, ofSources))
}

// addMissing adds to the daemon's own concerns those of its sources that have another kind.
func addMissing(own, ofSources []Concern) []Concern {
	said := len(own)
	for _, c := range ofSources {
		if !slices.ContainsFunc(own[:said], func(o Concern) bool { return o.Kind == c.Kind }) {
			own = append(own, c)
		}
	}
	return own
}

// own are the daemon's own problems; the status has their words.
func (s *Status) own() (all []Concern) {
	if s.WarehouseUnavailable {
		all = append(all, Concern{Kind: HealthWarehouse, Label: "warehouse away", Text: "The warehouse takes no rows.", Advice: adviceProblem})
	}
	if s.Damaged {
		all = append(all, Concern{Kind: HealthDamage, Label: "warehouse damaged", Text: "Part of the warehouse is damaged: rows are missing.", Advice: adviceProblem})
	}
	if s.Refused {
		all = append(all, Concern{Kind: HealthConfiguration, Label: "configuration refused", Text: "The changed configuration is refused.", Advice: adviceProblem})
	}
	if len(all) == 0 && len(s.Problems) > 0 { // of another version
		all = append(all, Concern{Kind: HealthWarehouse, Label: "needs attention", Text: "Larder needs attention.", Advice: adviceProblem})
	}
	return all
}

const adviceProblem = "The problems of the status say why, and what to do."

// withoutGood leaves out the sources that are well while others are not.
func (s *Status) withoutGood(all []Concern) []Concern {
	worstFirst(all)
	for i, c := range all {
		if i > 0 && c.Tone() != ToneTrouble && c.Tone() != ToneBusy {
			return all[:i]
		}
	}
	return all
}

// sum is one kind of concern of several sources.
type sum struct {
	first   Concern
	sources int
	amount  int
	left    Seconds
}

// concern puts it into words; there are n sources in all.
func (x *sum) concern(n int) Concern {
	some := fmt.Sprintf("%s of %s", text.Count(x.sources), text.Plural(n, "source"))
	c := Concern{Kind: x.first.Kind, Amount: x.amount, Label: some + ": " + x.first.Label, Advice: x.first.Advice}
	is := text.Verb(x.sources, " is ", " are ")
	switch x.first.Kind {
	case HealthRefused:
		c.Text = text.Verb(x.sources, "The key of ", "The keys of ") + some + is + "refused, or may not read all."
	case HealthUnserved:
		c.Text = some + " cannot be asked."
	case HealthHeld:
		c.Text = text.Counted(x.amount, "sweep", "is", "are") + " held: a person has to confirm."
	case HealthDrift:
		c.Text = text.Plural(x.amount, "day") + " of " + some + text.Verb(x.amount, " differs", " differ") + " from the service's totals."
	case HealthQuarantine:
		c.Text = text.Plural(x.amount, "row") + " of " + some + text.Verb(x.amount, " is ", " are ") + "in quarantine."
	case HealthBehind:
		c.Text = some + is + "behind."
	case HealthUnproven:
		c.Text = some + is + "not proven yet."
	case HealthStarting:
		c.Text = some + is + "getting under way."
	case HealthBackfill:
		c.Text = "Backfill of " + some + " under way" + andLeft(x.left) + "."
	case HealthWaiting:
		c.Text = some + is + "served by another process."
	default:
		c.Text, c.Label = x.first.Text, x.first.Label
	}
	return c
}
