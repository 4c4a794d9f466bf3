package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/syncer"
)

func statusCommand(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show every source and stream: state, lag, rows, last error",
		Long: `Shows the state of the daemon that serves this configuration, or, when none runs,
what the warehouse knows about the last one. Rows are those written since the daemon
started, or without one, those that the warehouse holds.

  state          running; backfill; sweep_held, waits for a person; off, for lack of a
                 scope or by configuration; waiting, another process serves the source;
                 unauthorized, key_disabled, unreachable, failing: the note says why and
                 what to do, and it is tried again by itself; stopped, no daemon runs
  last walk      how long ago the list was last walked to its end
  newest change  the watermark: the newest change that is durable in the warehouse; lists
                 without such a date have none
  note           progress and forecast of a backfill, a full resync, or a deep run of
                 reconciliation (questions are requests to the two routes of totals);
                 rows in quarantine; the last error

In --json, lag_seconds is null before the first walk, and a time of the year 1 is one that
has not come yet.`,
		Example: `  larder status
  larder status --json | jq '.sources[].state'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.loadLogging(false, g.err, "warn")
			if err != nil {
				return err
			}
			s, err := a.Status(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(g.out)
				e.SetIndent("", "  ")
				return e.Encode(s)
			}
			return printStatus(g.out, s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole status as JSON")
	return cmd
}

func printStatus(w io.Writer, s syncer.Status) error {
	fmt.Fprintln(w, headLine(s))
	for _, p := range s.Problems {
		fmt.Fprintf(w, "! %s\n", p)
	}
	for i := range s.Sources {
		src := &s.Sources[i]
		fmt.Fprintf(w, "\n%s  %s%s\n", src.Name, src.State, headNote(src))
		if src.Detail != "" {
			fmt.Fprintf(w, "  %s%s\n", src.Detail, probe(s.Now, src))
		}
		if len(src.Streams) == 0 {
			continue
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "  stream\tstate\tlast walk\tnewest change (UTC)\t%s\tnote\n", rowsHeading(s))
		for j := range src.Streams {
			st := &src.Streams[j]
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%d\t%s\n", st.Name, st.State, lag(st), watermark(st.Watermark), st.Rows, note(st))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// stored tells a status that is what the warehouse knows: no daemon runs.
func stored(s syncer.Status) bool { return s.StartedAt.IsZero() }

func headLine(s syncer.Status) string {
	if stored(s) {
		return "No daemon runs (larder run starts one); this is what the warehouse knows."
	}
	return fmt.Sprintf("A daemon has been running for %s, since %s UTC.", age(s.Now.Sub(s.StartedAt)), s.StartedAt.UTC().Format(time.DateTime))
}

// probe tells when a source in trouble is asked again.
func probe(now time.Time, s *syncer.SourceStatus) string {
	if !s.NextProbe.After(now) {
		return ""
	}
	return " (asked again in " + age(s.NextProbe.Sub(now)) + ")"
}

func rowsHeading(s syncer.Status) string {
	if stored(s) {
		return "rows"
	}
	return "rows written since the start"
}

func headNote(s *syncer.SourceStatus) string {
	text := ""
	if s.BusinessName != "" {
		text += "  " + s.BusinessName
	}
	text += proofNote(s.Proof)
	if s.Budget.KeyLimit > 0 {
		text += fmt.Sprintf("  %d of %d requests in the last minute", s.Budget.KeyUsed, s.Budget.KeyLimit)
	}
	return text
}

// proofNote is until when the mirror is proven.
func proofNote(p *syncer.ProofStatus) string {
	if p == nil {
		return ""
	}
	text := "  proven until " + p.ProvenUntil
	if p.ProvenUntil == "" {
		text = "  not proven yet"
	}
	switch p.DriftDays {
	case 0:
		return text
	case 1:
		return text + ", 1 day differs from the service (larder reconcile)"
	default:
		return fmt.Sprintf("%s, %d days differ from the service (larder reconcile)", text, p.DriftDays)
	}
}

func lag(st *syncer.StreamStatus) string {
	if st.Lag < 0 {
		return "never walked"
	}
	return age(st.Lag.Duration()) + " ago"
}

// age is a duration in the two units that matter: 5m15s, 3h5m, 2d4h.
func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

func watermark(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateTime)
}

func note(st *syncer.StreamStatus) string {
	var parts []string
	if st.Progress != nil && st.State != syncer.StateStarting {
		parts = append(parts, forecast(st.Progress))
	}
	if st.Quarantined > 0 {
		parts = append(parts, fmt.Sprintf("%d in quarantine", st.Quarantined))
	}
	if st.Detail != "" {
		parts = append(parts, st.Detail)
	} else if st.LastError != "" {
		parts = append(parts, "last error: "+st.LastError)
	}
	return strings.Join(parts, "; ")
}
