package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

func reconcileCommand(g *globals) *cobra.Command {
	var r syncer.ReconcileRequest
	var wait time.Duration
	var asJSON bool
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
orders are then fetched anew, and it is compared again; without, it is only reported. What
differs still owes a full resync of the orders, at most one in 20 hours: it is made, or
the daemon's is waited for, and the days are compared once more.

Verdicts are rows of the warehouse: proven; healed (it differed, and is proven now);
explained (it differs by what the API leaves open, and counts as proven); drift (it
differs); unsettled (orders of it changed all the while); unproven (the service did not
answer, or not with figures). Each is stored when its day is done, and printed, if it is
not proven, with both figures: a command that is ended in the middle has lost nothing.
With --format json it is a JSON object, and the last line is a summary. The location is
empty in verdicts about all locations together. A verdict may come again, when a day was
compared once more: of a source, day, location and subject the last line counts. The
summary counts verdicts, of which a day has several, and under days the days, by their
worst. A drift, and what could not be compared, end with exit code 1; a key without
sales:read with 3.`,
		Example: `  larder reconcile
  larder reconcile --from 2026-01-01 --to 2026-03-31 --heal
  larder reconcile --source bistro --from 2026-10-25 --to 2026-10-25
  larder reconcile --format json |
    jq -n 'INDEX(inputs; [.source, .day, .location, .subject])[] | select(.verdict == "drift")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.Check(); err != nil {
				return lifecycle.UsageError(err)
			}
			a, show, err := g.beginPass(false, syncer.Selection{Sources: r.Sources})
			if err != nil {
				return err
			}
			p := &printer{out: show.above(g.out), json: asJSON}
			report, err := a.Reconcile(cmd.Context(), r, wait, func(so syncer.ReconcileReport) {
				p.verdicts(so)
				show.underWay(comparisonsOf(so))
			})
			p.verdicts(report)
			show.end()
			p.out = g.out
			if len(report.Sources) > 0 {
				p.reconciled(report, err)
			}
			return errors.Join(p.err, err)
		},
	}
	sourcesFlag(cmd, &r.Sources)
	cmd.Flags().StringVar(&r.From, "from", "", "first `day`, as 2026-03-29 (default: the day of the first order)")
	cmd.Flags().StringVar(&r.To, "to", "", "last `day` (default today)")
	cmd.Flags().BoolVar(&r.Heal, "heal", false, "fetch the orders of days that differ anew, and compare again")
	formatFlag(cmd, &asJSON)
	waitFlag(cmd, &wait)
	return cmd
}

// verdicts prints each verdict that is not proven as soon as it is stored, and again when another
// comparison has found something else: both sides of its figures, and why it is not proven.
func (p *printer) verdicts(r syncer.ReconcileReport) {
	for i := range r.Sources {
		for _, v := range r.Sources[i].Open {
			verdict := strings.Join([]string{r.Sources[i].Source, v.Day, v.Subject}, " ")
			if v.Location != "" {
				verdict += " at " + v.Location
			}
			verdict += ": " + v.Verdict
			var figures []string
			for _, d := range v.Differences {
				figures = append(figures, d.Figure+": service "+d.Service+", mirror "+d.Mirror)
			}
			details := text.Few(figures)
			if len(v.OrderIDs) > 0 {
				details = append(details, "of orders "+strings.Join(text.Few(v.OrderIDs), ", "))
			}
			if v.Reason != "" {
				details = append(details, v.Reason)
			}
			if !p.first(verdict + "\n" + strings.Join(details, "\n")) {
				continue
			}
			if p.json {
				p.line(openVerdict{"verdict", r.Sources[i].Source, v})
				continue
			}
			lines := text.Visible(verdict) + "\n"
			for _, line := range details {
				lines += wrap(text.Visible(line), "  ", widthOf(p.out))
			}
			p.printf("%s", lines) // at once: bars are drawn anew for each write
		}
	}
}

// comparisonsOf are the sources that are being compared, as walks to show.
func comparisonsOf(r syncer.ReconcileReport) []walk {
	var walks []walk
	for i := range r.Sources {
		switch s := &r.Sources[i]; {
		case s.State != "": // it has ended
		case s.Backfill != nil:
			walks = append(walks, walk{s.Source, s.Backfill.Rows, s.Backfill.TotalRows, "first the orders: " + s.Backfill.Text()})
		case s.ToHeal > 0:
			done := fmt.Sprintf("healing, %d of %s done", s.HealedDays, text.Plural(s.ToHeal, "day"))
			walks = append(walks, walk{s.Source, uint64(s.HealedDays), uint64(s.ToHeal), done + timeLeft(s)})
		case s.Steps > 0:
			done := fmt.Sprintf("%d of %s", s.Asked, text.Plural(s.Steps, "question"))
			if s.Suspects > 0 {
				done += ", " + text.Counted(s.Suspects, "day", "differs", "differ") + " at first sight"
			}
			walks = append(walks, walk{s.Source, uint64(s.Asked), uint64(s.Steps), done + timeLeft(s)})
		}
	}
	return walks
}

func timeLeft(s *syncer.SourceReconcile) string {
	if s.ExpectedLeft <= 0 {
		return ""
	}
	return ", " + text.Span(s.ExpectedLeft.Duration()) + " left"
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

// reconciled prints what all came to.
func (p *printer) reconciled(r syncer.ReconcileReport, err error) {
	sum := reconcileSummary{Kind: "summary", StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Interrupted: errors.Is(err, context.Canceled)}
	for i := range r.Sources {
		s := &r.Sources[i]
		line := reconciledSource{
			Source: s.Source, From: s.From, To: s.To, Questions: s.Steps, Asked: s.Asked, Days: s.Days, Locations: s.Locations,
			VerdictCounts: s.VerdictCounts, Omitted: s.All() - s.Proven - uint64(len(s.Open)),
		}
		if s.Err != nil {
			line.Error, line.Failure = s.Err.Text, s.Err
		}
		sum.Sources = append(sum.Sources, line)
	}
	if p.json {
		p.line(sum)
		return
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

// reconciledInWords counts the days, by the worst of their verdicts.
func reconciledInWords(s reconciledSource) string {
	words := text.Plural(s.Days.All(), "day")
	if s.Locations > 0 {
		words += " of " + text.Plural(s.Locations, "location")
	}
	words += ": " + text.Count(s.Days.Proven) + " proven"
	for _, of := range []struct {
		n    uint64
		name string
	}{{s.Days.Healed, sinks.VerdictHealed}, {s.Days.Explained, sinks.VerdictExplained}, {s.Days.Drift, sinks.VerdictDrift}, {s.Days.Unsettled, sinks.VerdictUnsettled}, {s.Days.Unproven, sinks.VerdictUnproven}} {
		if of.n > 0 {
			words += ", " + text.Count(of.n) + " " + of.name
		}
	}
	return words
}
