package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/app"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer"
)

func reconcileCommand(g *globals) *cobra.Command {
	var r syncer.ReconcileRequest
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare every day with the service's own totals, and heal what differs",
		Long: `Asks the service for its totals of each day, overall and by location, and for what it
sold by product, and compares every figure with what the mirrored orders add up to, to
the last ban. The daemon does so by itself for the last 92 days (schedule.reconcile and
schedule.reconcile_deep); this does it for any days, back to the first order, in steps
of 92 days. Beside a running daemon on the same embedded warehouse, the daemon does the
work.

The orders are walked before and after each question, so that a day that moves is no
alarm. A day that differs is looked at once more some minutes later. With --heal its
orders are then fetched anew, those that the service does not have any more are removed,
and it is compared again; without, it is only reported.

Verdicts are rows of the warehouse: proven; healed (it differed, and is proven now);
drift (it differs); unsettled (orders of it changed all the while); unproven (the service
did not answer, or not with figures). Printed are those that are not proven, with the
figures of both sides.

Exit codes: 0 nothing differs; 1 a drift, or something could not be compared; 2 usage
or configuration; 3 the API refused; 4 the warehouse could not be reached.`,
		Example: `  larder reconcile
  larder reconcile --from 2026-01-01 --to 2026-03-31 --heal
  larder reconcile --source bistro --from 2026-10-25 --to 2026-10-25`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.Check(); err != nil {
				return app.UsageError(err)
			}
			a, err := g.loadLogging(false, g.err, "")
			if err != nil {
				return err
			}
			t := &reconcileTeller{out: g.err, told: time.Now()}
			report, err := a.Reconcile(cmd.Context(), r, wait, t.tell)
			return errors.Join(printReconciled(g.out, report), err)
		},
	}
	cmd.Flags().StringArrayVar(&r.Sources, "source", nil, "only this `source`; may be repeated")
	cmd.Flags().StringVar(&r.From, "from", "", "first `day`, as 2026-03-29 (default that of the first order)")
	cmd.Flags().StringVar(&r.To, "to", "", "last `day` (default today)")
	cmd.Flags().BoolVar(&r.Heal, "heal", false, "fetch the orders of days that differ anew, and compare again")
	cmd.Flags().DurationVar(&wait, "wait", 30*time.Second, "how long to wait for a remote warehouse that is down")
	return cmd
}

// reconcileTeller tells now and then how far a reconciliation is.
type reconcileTeller struct {
	out  io.Writer
	told time.Time
}

func (t *reconcileTeller) tell(r syncer.ReconcileReport) {
	if time.Since(t.told) < linesEvery {
		return
	}
	t.told = time.Now()
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.Steps == 0 || s.State != "" {
			continue
		}
		text := fmt.Sprintf("%s: %d of %d ranges of days asked", s.Source, s.Asked, s.Steps)
		if s.Suspects > 0 {
			text += fmt.Sprintf(", %d days differ at first sight and are asked again", s.Suspects)
			if left := time.Until(s.SettlesAt); s.Asked == s.Steps && left > 0 {
				text += " in " + age(left)
			}
		}
		_, _ = fmt.Fprintln(t.out, text) // progress only
	}
}

// printReconciled prints the days that are not proven, and what all came to.
func printReconciled(out io.Writer, r syncer.ReconcileReport) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := false
	for i := range r.Sources {
		for _, v := range r.Sources[i].Open {
			if !head {
				fmt.Fprintln(t, "source\tday\tlocation\tsubject\tverdict\tfigure\tservice\tmirror")
				head = true
			}
			printVerdict(t, r.Sources[i].Source, v)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.Steps == 0 {
			continue
		}
		_, err := fmt.Fprintf(out, "%s from %s to %s: %d proven, %d healed, %d drift, %d unsettled, %d unproven\n",
			s.Source, s.From, s.To, s.Proven, s.Healed, s.Drift, s.Unsettled, s.Unproven)
		if err != nil {
			return err
		}
	}
	return nil
}

// figuresShown bounds the figures printed of one verdict.
const figuresShown = 20

func printVerdict(t io.Writer, source string, v sinks.Verdict) {
	row := fmt.Sprintf("%s\t%s\t%s\t%s\t%s", source, v.Day, orDash(v.Location), v.Subject, v.Verdict)
	if len(v.Differences) == 0 {
		fmt.Fprintf(t, "%s\t%s\t\t\n", row, v.Reason)
		return
	}
	for i, d := range v.Differences {
		if i == figuresShown {
			fmt.Fprintf(t, "%s\t%d more figures\t\t\n", row, len(v.Differences)-i)
			return
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", row, d.Figure, d.Service, d.Mirror)
	}
}
