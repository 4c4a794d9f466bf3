package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

func syncCommand(g *globals) *cobra.Command {
	var sel syncer.Selection
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Make one pass of everything, then exit",
		Long: `Brings every source and stream up to date once, backfills included, and exits. Beside a
running daemon on the same embedded warehouse, the daemon does the work, so that the API's
limits are used once.

With --full every cursor list is walked from its start once more, and what the
service no longer shows is removed (marked gone, or no_access where the key has lost
the location): permanently deleted products, say. The service's totals are asked for once
more for all days. If more than 20 % of a stream's live rows, and more than 100, would be
removed, nothing is: look whether they are really gone, then confirm with --full
--confirm-sweep.

What fails is tried again from where it stopped, with pauses that grow to a minute, until
it has come no further for as long as --retry-for says; a wrong key ends it at once.
With 0s only single requests are tried again.

A stream that failed, a sweep that is held and rows in quarantine end with exit code 1; a
key without the scopes that configured streams need with 3. Online ordering that is off is
no failure, also when the key has nothing else to read.`,
		Example: `  larder sync
  larder sync --full
  larder sync --full --retry-for 2h
  larder sync --full --confirm-sweep --source bistro --stream products
  larder sync --source bistro --stream products --stream sales_orders`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sel.ConfirmSweep && !sel.Full {
				return lifecycle.UsageError(errors.New("--confirm-sweep needs --full: what is removed is found by a full resync"))
			}
			if sel.RetryFor < 0 {
				return lifecycle.UsageError(fmt.Errorf("--retry-for %s: it must not be below 0s", sel.RetryFor))
			}
			a, show, err := g.beginPass(false, sel)
			if err != nil {
				return err
			}
			report, err := a.Sync(cmd.Context(), sel, wait, show.update)
			show.end()
			if len(report.Sources) > 0 {
				err = errors.Join(err, printReport(g.out, report, widthOf(g.out)))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&sel.Full, "full", false, "a full resync: walk everything again and remove what the service no longer shows")
	cmd.Flags().BoolVar(&sel.ConfirmSweep, "confirm-sweep", false, "let a full resync remove more than its guard allows")
	sourcesFlag(cmd, &sel.Sources)
	streamsFlag(cmd, &sel.Streams)
	cmd.Flags().DurationVar(&sel.RetryFor, "retry-for", 5*time.Minute, "how long to try again what fails and comes no further")
	waitFlag(cmd, &wait)
	return cmd
}

// printReport prints what a pass did, in lines that fit into a width (0: any).
func printReport(w io.Writer, r syncer.Report, width int) error {
	t := &table{width: width, least: len("  interrupted"), optional: []string{"unchanged", "requests", "quarantined", "removed"}}
	t.add("source", "stream", "rows", "removed", "unchanged", "quarantined", "requests", "result")
	var rows, requests uint64
	for _, s := range r.Sources {
		if len(s.Streams) == 0 {
			t.add(s.Source, "-", "", "", "", "", "", s.State)
		}
		for _, st := range s.Streams {
			rows += st.Upserts
			requests += st.Requests
			t.add(s.Source, st.Stream, st.Upserts, st.Tombstones, st.Unchanged, st.InQuarantine, st.Requests, outcome(st.StreamOutcome, "ok"))
		}
	}
	if err := t.print(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "rows: %d, requests: %d, time: %s\n", rows, requests, r.FinishedAt.Sub(r.StartedAt).Round(100*time.Millisecond))
	return err
}

// outcome is how a pass has ended for a stream, in a word or two; well when nothing is wrong.
func outcome(o status.StreamOutcome, well string) string {
	_, held := errors.AsType[*status.SweepHeld](o.Err)
	switch {
	case errors.Is(o.Err, context.Canceled):
		return "interrupted"
	case held:
		return "sweep held"
	case o.Err != nil:
		return "failed"
	case o.Off != "":
		reason, _, _ := strings.Cut(o.Off, ": ") // what to do about it follows
		return "off: " + reason
	case o.InQuarantine > 0:
		return "quarantined"
	}
	return well
}
