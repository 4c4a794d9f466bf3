package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/visible"
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
			return printStatus(g.out, s, widthOf(g.out))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole status as JSON")
	return cmd
}

// printStatus prints a status, in lines that fit into a width (0: any).
func printStatus(w io.Writer, s syncer.Status, width int) error {
	var b strings.Builder
	b.WriteString(wrap(headLine(s), "", width))
	for _, p := range s.Problems {
		b.WriteString(wrap("! "+visible.Text(p), "", width))
	}
	for i := range s.Sources {
		src := &s.Sources[i]
		b.WriteString("\n" + wrapParts(append([]string{src.Name, src.State}, headNotes(src)...), width))
		if src.Detail != "" {
			b.WriteString(wrap(visible.Text(src.Detail+probe(s.Now, src)), "  ", width))
		}
		if len(src.Streams) == 0 {
			continue
		}
		if err := streamTable(s, src, width).print(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func streamTable(s syncer.Status, src *syncer.SourceStatus, width int) *table {
	t := &table{width: width, indent: "  ", below: true, columns: []column{
		{"stream", 0}, {"state", 0}, {"last walk", 1}, {"newest change (UTC)", 3}, {rowsHeading(s), 2}, {"note", 0},
	}}
	for j := range src.Streams {
		st := &src.Streams[j]
		t.add(st.Name, st.State, lag(st), watermark(st.Watermark), st.Rows, note(st))
	}
	return t
}

// wrapParts is parts two spaces apart, broken between them where they do not fit.
func wrapParts(parts []string, width int) string {
	lines := []string{}
	for _, p := range parts {
		p = visible.Text(p)
		if n := len(lines) - 1; n >= 0 && (width == 0 || runewidth.StringWidth(lines[n])+gap+runewidth.StringWidth(p) <= width) {
			lines[n] += "  " + p
			continue
		}
		indent := "  "
		if len(lines) == 0 {
			indent = ""
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(wrap(p, indent, width), "\n"), "\n")...)
	}
	return strings.Join(lines, "\n") + "\n"
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
	return "rows written"
}

func headNotes(s *syncer.SourceStatus) []string {
	var parts []string
	if s.BusinessName != "" {
		parts = append(parts, s.BusinessName)
	}
	if s.Proof != nil {
		parts = append(parts, proofNote(s.Proof))
	}
	if s.Budget.KeyLimit > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d requests in the last minute", s.Budget.KeyUsed, s.Budget.KeyLimit))
	}
	return parts
}

// proofNote is until when the mirror is proven.
func proofNote(p *syncer.ProofStatus) string {
	text := "proven until " + p.ProvenUntil
	if p.ProvenUntil == "" {
		text = "not proven yet"
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
