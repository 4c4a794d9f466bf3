package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

func reconcileCommand(g *globals) *cobra.Command {
	var r syncer.ReconcileRequest
	var wait time.Duration
	var format string
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare every day with the service's own totals, and heal what differs",
		Long: `Asks the service for its totals of each day, overall and by location, and for what it
sold by product, and compares every figure with what the mirrored orders add up to, to
the last ban. The daemon does so by itself for the last 92 days (schedule.reconcile and
schedule.reconcile_deep); this does it for any days, back to the first order, in steps
of 92 days. Beside a running daemon on the same embedded warehouse, the daemon does the
work. A backfill that has not come to its end is waited for, or made, first.

The orders are walked before and after each question, so that a day that moves is no
alarm. A day that differs is looked at once more some minutes later. With --heal its
orders are then fetched anew, those that the service does not have any more are removed,
and it is compared again; without, it is only reported. What differs still owes a full
resync of the orders, at most one in 20 hours: it is made, or the daemon's is waited for,
and the days are compared once more.

Verdicts are rows of the warehouse: proven; healed (it differed, and is proven now);
explained (it differs by what the API leaves open, and counts as proven); drift (it
differs); unsettled (orders of it changed all the while); unproven (the service did not
answer, or not with figures). Each is stored when its day is done, so that a command that
is ended in the middle has lost nothing. Printed are those that are not proven: in a line
as soon as they are stored, and at the end with both figures. With --format json each of
them is one JSON object on a line, printed as soon as it is stored, and the last line is a
summary; its "kind" is verdict or summary. The location is empty in verdicts about all
locations together, and figures are decimals in strings. The summary counts verdicts, of
which a day has several, and under days the days, by their worst.

One question covers at most 92 days of one location, or of all together, and the service
takes 30 a minute: progress shows how many are left, and how long they take; then how many
days are healed, and how long the rest will take. A day that differs is a warning in the
log when it is found.

Exit codes: 0 nothing differs, but for what is explained; 1 a drift, or something could
not be compared; 2 usage or configuration; 3 the API refused, or the key lacks sales:read;
4 the warehouse could not be reached.`,
		Example: `  larder reconcile
  larder reconcile --from 2026-01-01 --to 2026-03-31 --heal
  larder reconcile --source bistro --from 2026-10-25 --to 2026-10-25
  larder reconcile --format json | jq 'select(.verdict == "drift")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(r.Check(), checkFormat(format)); err != nil {
				return exit.UsageError(err)
			}
			return runReconcile(cmd, g, r, wait, format)
		},
	}
	sourcesFlag(cmd, &r.Sources)
	cmd.Flags().StringVar(&r.From, "from", "", "first `day`, as 2026-03-29 (default: the day of the first order)")
	cmd.Flags().StringVar(&r.To, "to", "", "last `day` (default today)")
	cmd.Flags().BoolVar(&r.Heal, "heal", false, "fetch the orders of days that differ anew, and compare again")
	formatFlag(cmd, &format)
	waitFlag(cmd, &wait)
	return cmd
}

func runReconcile(cmd *cobra.Command, g *globals, r syncer.ReconcileRequest, wait time.Duration, format string) error {
	a, show, err := g.beginPass(cmd.Context(), syncer.Selection{Sources: r.Sources})
	if err != nil {
		return err
	}
	p := &printer{out: show.above(g.out), json: format == formatJSON}
	verdicts := &verdictLines{printer: p, beside: show.found, shown: map[string]bool{}}
	report, err := a.Reconcile(cmd.Context(), r, wait, func(so syncer.ReconcileReport) {
		verdicts.print(so)
		show.underWay(comparisonsOf(so))
	})
	verdicts.print(report)
	show.end()
	p.out = g.out
	if len(report.Sources) > 0 {
		printReconciled(p, report, err)
	}
	return errors.Join(p.err, err)
}

// verdictLines shows each verdict that is not proven as soon as it is stored: as a line of JSON,
// or, before the table at the end, as one in words beside the progress.
type verdictLines struct {
	printer *printer
	beside  func(what, text string)
	shown   map[string]bool
}

func (l *verdictLines) print(r syncer.ReconcileReport) {
	for i := range r.Sources {
		for _, v := range r.Sources[i].Open {
			key := strings.Join([]string{r.Sources[i].Source, v.Day, v.Location, v.Subject, v.Verdict}, "\x00")
			if l.shown[key] {
				continue
			}
			l.shown[key] = true
			if l.printer.json {
				l.printer.line(openVerdict{"verdict", r.Sources[i].Source, v})
			} else {
				l.beside(r.Sources[i].Source, verdictInWords(v))
			}
		}
	}
}

// verdictInWords is a verdict in a line.
func verdictInWords(v sinks.Verdict) string {
	place := ""
	if v.Location != "" {
		place = " at " + v.Location
	}
	verdict := fmt.Sprintf("%s %s%s: %s", v.Day, v.Subject, place, v.Verdict)
	if len(v.Differences) == 0 {
		return strings.TrimSuffix(verdict+": "+v.Reason, ": ")
	}
	more := ""
	if n := len(v.Differences) - 1; n > 0 {
		more = ", and " + text.Plural(n, "more figure")
	}
	return fmt.Sprintf("%s (%s%s)", verdict, bothFigures(v.Differences[0]), more)
}

func bothFigures(d sinks.Difference) string {
	return d.Figure + ": service " + d.Service + ", mirror " + d.Mirror
}

// comparisonsOf are the sources that are being compared, as walks to show.
func comparisonsOf(r syncer.ReconcileReport) []walk {
	var walks []walk
	for i := range r.Sources {
		switch s := &r.Sources[i]; {
		case s.State != "":
		case s.Backfill != nil:
			b := s.Backfill
			first := "first the backfill: "
			if b.Resync() {
				first = ""
			}
			walks = append(walks, walk{name: s.Source, place: i, done: b.Rows, total: b.TotalRows, text: first + b.Text()})
		case s.ToHeal > 0:
			walks = append(walks, walk{name: s.Source, place: i, done: uint64(s.HealedDays), total: uint64(s.ToHeal), text: comparison(s)})
		case s.Steps > 0:
			walks = append(walks, walk{name: s.Source, place: i, done: uint64(s.Asked), total: uint64(s.Steps), text: comparison(s)})
		}
	}
	return walks
}

// comparison is how far the comparison of a source is, in words.
func comparison(s *syncer.SourceReconcile) string {
	left := ""
	if s.ExpectedLeft > 0 {
		left = ", " + text.Span(s.ExpectedLeft.Duration()) + " left"
	}
	asked := fmt.Sprintf("%d of %s", s.Asked, text.Plural(s.Steps, "question"))
	differ := text.Counted(s.Suspects, "day", "differs", "differ")
	switch {
	case s.Asked < s.Steps && s.Suspects > 0:
		return asked + left + ", " + differ
	case s.Asked < s.Steps:
		return asked + left
	case s.ToHeal > 0:
		return fmt.Sprintf("healing, %d of %s done%s", s.HealedDays, text.Plural(s.ToHeal, "day"), left)
	case s.Suspects == 0:
		return asked
	case time.Until(s.SettlesAt) > 0:
		return differ + ", asked again in " + text.Span(s.ExpectedLeft.Duration())
	default:
		return differ + ", asked again now" + left
	}
}

// openVerdict is a line of --format json.
type openVerdict struct {
	Kind   string `json:"kind"` // verdict
	Source string `json:"source"`
	sinks.Verdict
}

// reconcileSummary is the last line of --format json.
type reconcileSummary struct {
	Kind        string             `json:"kind"` // summary
	StartedAt   time.Time          `json:"started_at"`
	FinishedAt  time.Time          `json:"finished_at,omitzero"`
	Interrupted bool               `json:"interrupted,omitempty"`
	Sources     []reconciledSource `json:"sources"`
}

// reconciledSource counts the verdicts of a source.
type reconciledSource struct {
	Source    string `json:"source"`
	From      string `json:"from"`
	To        string `json:"to"`
	Questions int    `json:"questions"`
	Asked     int    `json:"asked"`
	// Days are days, by the worst of their verdicts. The other counts are of verdicts: of
	// each day there is one for each subject, of all locations together and of each.
	Days      syncer.VerdictCounts `json:"days"`
	Locations int                  `json:"locations"`

	syncer.VerdictCounts
	Omitted uint64 `json:"omitted,omitempty"` // verdicts that have no line: there are too many
	Error   string `json:"error,omitempty"`

	Failure *status.Failure `json:"failure,omitempty"`
}

func summarizeReconciled(r syncer.ReconcileReport, err error) reconcileSummary {
	sum := reconcileSummary{Kind: "summary", StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Interrupted: errors.Is(err, context.Canceled)}
	for i := range r.Sources {
		s := &r.Sources[i]
		line := reconciledSource{
			Source: s.Source, From: s.From, To: s.To, Questions: s.Steps, Asked: s.Asked, Days: s.Days, Locations: s.Locations,
			VerdictCounts: s.VerdictCounts,
		}
		line.Omitted = s.All() - s.Proven - uint64(len(s.Open))
		if s.Err != nil {
			line.Error, line.Failure = s.Err.Text, s.Err
		}
		sum.Sources = append(sum.Sources, line)
	}
	return sum
}

// printReconciled prints the days that are not proven, and what all came to.
func printReconciled(p *printer, r syncer.ReconcileReport, err error) {
	sum := summarizeReconciled(r, err)
	if p.json { // the verdicts have been printed
		p.line(sum)
		return
	}
	if t := openVerdicts(r, widthOf(p.out)); len(t.rows) > 0 {
		p.failed(t.print(p.out))
	}
	for _, s := range sum.Sources {
		if s.Omitted > 0 {
			p.sentence("%s: %s not shown; the view reconciliation has them all", s.Source, text.Counted(s.Omitted, "more verdict", "is", "are"))
		}
		if s.Questions > 0 {
			p.sentence("%s from %s to %s: %s", s.Source, s.From, s.To, reconciledInWords(s))
		}
	}
}

// openVerdicts is the table of them. Which location and which figures a verdict is about are never left out.
func openVerdicts(r syncer.ReconcileReport, width int) *table {
	t := &table{width: width, columns: []column{{"source", 0}, {"day", 0}, {"location", 0}, {"subject", 0}, {"verdict", 0}, {"what differs", 0}}}
	for i := range r.Sources {
		for _, v := range r.Sources[i].Open {
			for _, what := range whatDiffers(v) {
				t.add(r.Sources[i].Source, v.Day, orDash(v.Location), v.Subject, v.Verdict, what)
			}
		}
	}
	return t
}

// reconciledInWords counts days as days, and verdicts as verdicts: there are several of a day.
func reconciledInWords(s reconciledSource) string {
	what := text.Plural(s.Days.All(), "day")
	if s.Locations > 0 {
		what += ", " + text.Plural(s.Locations, "location")
	}
	return fmt.Sprintf("%s: %s; %s: %s", what, countsInWords(text.Plural(s.Days.Proven, "day"), s.Days),
		text.Plural(s.All(), "verdict"), countsInWords(text.Count(s.Proven), s.VerdictCounts))
}

// countsInWords names those that there are beside the proven ones.
func countsInWords(proven string, c syncer.VerdictCounts) string {
	counts := proven + " proven"
	for _, of := range []struct {
		n    uint64
		name string
	}{{c.Healed, sinks.VerdictHealed}, {c.Explained, sinks.VerdictExplained}, {c.Drift, sinks.VerdictDrift}, {c.Unsettled, sinks.VerdictUnsettled}, {c.Unproven, sinks.VerdictUnproven}} {
		if of.n > 0 {
			counts += ", " + text.Count(of.n) + " " + of.name
		}
	}
	return counts
}

// figuresShown and idsShown bound what is printed of one verdict.
const (
	figuresShown = 20
	idsShown     = 10
)

// whatDiffers is what is printed of a verdict: both sides of its figures, or why it has none.
func whatDiffers(v sinks.Verdict) (lines []string) {
	for i, d := range v.Differences {
		if i == figuresShown {
			lines = append(lines, text.Plural(len(v.Differences)-i, "more figure"))
			break
		}
		lines = append(lines, bothFigures(d))
	}
	if len(lines) > 0 && v.Verdict != sinks.VerdictDrift && v.Verdict != sinks.VerdictExplained {
		return lines
	}
	if ids := v.OrderIDs; len(lines) > 0 && len(ids) > 0 {
		lines = append(lines, "of orders "+strings.Join(ids[:min(len(ids), idsShown)], ", "))
	}
	return append(lines, v.Reason)
}
