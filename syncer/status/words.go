package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
)

// Text is how far the walk is and how long it takes still, in parts between commas: the last ones
// can be left out.
func (p *Progress) Text() string {
	left := text.Span(p.ExpectedLeft.Duration())
	switch {
	case p.Deep() && p.Suspects > 0:
		return "deep run: " + text.Counted(p.Suspects, "day", "differs", "differ") + ", asked again in " + left
	case p.Deep():
		return fmt.Sprintf("deep run: %d of %s, %s left", p.Pages, text.Plural(p.Pages+p.RequestsLeft, "question"), left)
	case p.Suspects > 0:
		return text.Counted(p.Suspects, "row", "differs", "differ") + " at first sight, compared again in " + left
	case p.Walk == sinks.WalkTotals && !p.Reached.IsZero():
		return text.Plural(p.Rows, "row") + ", back to " + p.Reached.Format(time.DateOnly)
	}
	rows := text.Plural(p.Rows, "row")
	if p.TotalRows > 0 {
		rows = text.Count(p.Rows) + " of " + text.Plural(p.TotalRows, "row")
	}
	if p.AtLeast {
		rows = "at least " + rows
	}
	if p.Resync() {
		rows = "full resync: " + rows
	}
	switch {
	case p.TotalRows == 0 || p.RequestsLeft == 0:
		return rows
	case p.RequestsLeft == 1:
		return rows + ", 1 request left"
	}
	return fmt.Sprintf("%s, %s left, %s", rows, left, text.Plural(p.RequestsLeft, "request"))
}

// Text is until when the mirror is proven.
func (p *ProofStatus) Text() string {
	switch {
	case p.ProvenUntil == "":
		return "not proven yet"
	case p.ExplainedDays > 0:
		return "proven until " + p.ProvenUntil + ", " + text.Plural(p.ExplainedDays, "day") + " explained"
	}
	return "proven until " + p.ProvenUntil
}

// Shown is what a person reads beside the source: its concerns, the worst first, but not that all is
// well and no backfill, whose progress is shown; and notes: when a source in trouble is asked again,
// until when it is proven, and what is unusual.
func (s *SourceStatus) Shown(now time.Time) (concerns []Concern, notes []string) {
	all := s.Concerns()
	worst, unproven := all[0].Text, slices.ContainsFunc(all, func(c Concern) bool { return c.Kind == HealthUnproven })
	if s.NextProbe.After(now) {
		again := "asked again in " + text.Span(s.NextProbe.Sub(now))
		if !s.Since.IsZero() {
			again = "in trouble for " + text.Span(now.Sub(s.Since)) + ", " + again
		}
		notes = append(notes, again)
	}
	if s.Proof != nil && !unproven { // else the concern has it
		notes = append(notes, s.Proof.Text())
	}
	for _, note := range s.Budget.Notes() {
		if !strings.Contains(worst, note) {
			notes = append(notes, note)
		}
	}
	if !s.LastPing.IsZero() {
		notes = append(notes, "last ping "+text.Ago(now, s.LastPing))
	}
	if s.PersonalData == "keep" {
		notes = append(notes, "all personal data is kept: names, phones, addresses (personal_data: keep)")
	}
	return slices.DeleteFunc(all, func(c Concern) bool {
		return c.Kind == HealthGood || c.Kind == HealthBackfill || c.Kind == HealthStopped && s.Detail == ""
	}), notes
}

// Percent is how far the walk is, -1 when that is not known.
func (p *Progress) Percent() int {
	switch {
	case p.Deep() && p.Suspects > 0:
		return 100
	case p.Deep():
		return int(p.Pages * 100 / max(p.Pages+p.RequestsLeft, 1))
	case p.TotalRows > 0 && p.Walk != sinks.WalkTotals:
		return int(min(p.Rows*100/p.TotalRows, 100))
	}
	return -1
}
