package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

func statusCommand(g *globals) *cobra.Command {
	var asJSON, ready bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show every source and stream: state, lag, rows, last error",
		Long: `Shows the state of the daemon that serves this configuration, or, when none runs,
what the warehouse knows about the last one. The line at the top says how well the
mirror is, as the page does: ✓ is fresh, proven and nothing in quarantine; … comes right
by itself; ! is for a person to look at, and the exit code is then 1.

  state          up to date; backfill, of a gained location too; behind, no walk has ended
                 well for long; failing, the note says why, and it is tried again; N in
                 quarantine; N days differ, from the service's totals; sweep held, waits for a person; not asked, the source
                 is not served; not stored, the warehouse takes no rows; rows missing, it
                 has lost some; no access, the key may not read what it should; off, for lack
                 of a scope that is not needed or by configuration; waiting,
                 another process serves the source; stopped, no daemon runs
  last walk      how long ago the list was last walked to its end
  next walk      when it is asked for next: at its turn of the schedule, or later since the
                 service has asked to wait, or since the source is in trouble
  newest change  the watermark: the newest change that is durable in the warehouse; lists
                 without such a date have none
  rows           live rows of the restaurant in the warehouse, counted now and then
  note           progress and forecast of a backfill, a full resync, or a deep run of
                 reconciliation (questions are requests to the two routes of totals);
                 rows in quarantine; the last error, and how long ago it was

In --json, health is the worst of concerns; lag_seconds is null before the first walk, rows
before they are counted, and a time that is not known, or has not come yet, is left out.

--ready asks the daemon at web.listen for /readyz and nothing else: the exit code is 0
when it serves and has reached the warehouse, else 1. It is for the probe of a container.`,
		Example: `  larder status
  larder status --ready
  larder status --json | jq '.sources[].state'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.loadLogging(false, g.err, "warn")
			if err != nil {
				return err
			}
			if ready {
				return a.Ready(cmd.Context())
			}
			s, err := a.Status(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(g.out)
				e.SetIndent("", "  ")
				err = e.Encode(s)
			} else {
				err = printStatus(g.out, s, widthOf(g.out))
			}
			if err == nil && s.Health().Tone() == status.ToneTrouble {
				return &exit.Error{Err: errors.New(s.Health().Text), Code: exit.Problem, Printed: true}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole status as JSON")
	cmd.Flags().BoolVar(&ready, "ready", false, "only tell by the exit code whether the daemon is ready")
	cmd.MarkFlagsMutuallyExclusive("json", "ready")
	return cmd
}

// printStatus prints a status, in lines that fit into a width (0: any).
func printStatus(w io.Writer, s status.Status, width int) error {
	var b strings.Builder
	b.WriteString(wrap(headLine(s), "", width))
	for _, c := range s.Concerns() {
		if c.Kind != status.HealthStopped { // said already
			b.WriteString(wrap(mark(c.Tone())+" "+text.Visible(c.Text), "", width))
		}
	}
	for _, p := range s.Problems {
		b.WriteString(wrap("! "+text.Visible(p), "", width))
	}
	for i := range s.Sources {
		src := &s.Sources[i]
		b.WriteString("\n" + wrap(text.Visible(src.Name+": "+src.Health().Label), "", width))
		if notes := headNotes(s.Now, src); len(notes) > 0 {
			b.WriteString(wrap(text.Visible(strings.Join(notes, "; ")), "  ", width))
		}
		for _, concern := range concernsOf(s.Now, src) {
			b.WriteString(wrap(text.Visible(concern), "  ", width))
		}
		if len(src.Streams) == 0 {
			continue
		}
		if err := streamTable(s.Now, src, width).print(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func streamTable(now time.Time, src *status.SourceStatus, width int) *table {
	columns := []column{{"stream", 0}, {"state", 0}, {"last walk", 1}, {"next walk", 4}, {"newest change (UTC)", 3}, {"rows", 2}, {"note", 0}}
	asked := slices.ContainsFunc(src.Streams, func(st status.StreamStatus) bool { return !st.Next.IsZero() })
	if !asked {
		columns = slices.Delete(columns, 3, 4)
	}
	t := &table{width: width, indent: "  ", below: true, columns: columns}
	for j := range src.Streams {
		st := &src.Streams[j]
		light := src.Light(st)
		cells := []any{st.Name, light.Label, lag(now, st), cmp.Or(st.NextWalk(now), "-"), watermark(st.Watermark), rows(st), note(now, src, st, light)}
		if !asked {
			cells = slices.Delete(cells, 3, 4)
		}
		t.add(cells...)
	}
	return t
}

func headLine(s status.Status) string {
	if s.StartedAt.IsZero() {
		return "No daemon runs (larder run starts one); this is what the warehouse knows."
	}
	return fmt.Sprintf("A daemon has been running for %s, since %s UTC.", text.Span(s.Now.Sub(s.StartedAt)), s.StartedAt.UTC().Format(time.DateTime))
}

// mark is how a line of a tone begins.
func mark(t status.Tone) string {
	switch t {
	case status.ToneTrouble:
		return "!"
	case status.ToneGood:
		return "✓"
	default:
		return "…"
	}
}

// concernsOf is what a person should know of a source, and where to look.
func concernsOf(now time.Time, src *status.SourceStatus) (texts []string) {
	for i, c := range src.Concerns() {
		if c.Kind == status.HealthGood || c.Kind == status.HealthBackfill || c.Kind == status.HealthStopped && src.Detail == "" {
			continue
		}
		concern := c.Text
		if c.Advice != "" {
			concern += " " + c.Advice
		}
		if probe := src.Probe(now); i == 0 && probe != "" {
			concern += " " + probe
		}
		texts = append(texts, concern)
	}
	return texts
}

func rows(st *status.StreamStatus) string {
	if st.Rows == nil {
		return "-"
	}
	return fmt.Sprint(*st.Rows)
}

func headNotes(now time.Time, s *status.SourceStatus) []string {
	var parts []string
	if s.BusinessName != "" {
		parts = append(parts, s.BusinessName)
	}
	if s.Proof != nil {
		parts = append(parts, s.Proof.Text())
	}
	if s.Budget.KeyLimit > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s in the last minute", s.Budget.KeyUsed, text.Plural(s.Budget.KeyLimit, "request")))
	}
	for _, note := range s.Budget.Notes() {
		if !strings.Contains(s.Health().Text, note) { // which is below
			parts = append(parts, note)
		}
	}
	if !s.LastPing.IsZero() {
		parts = append(parts, "last ping "+text.Ago(now, s.LastPing))
	}
	if s.PersonalData == string(personal.Keep) {
		parts = append(parts, "all personal data is kept")
	}
	return parts
}

func lag(now time.Time, st *status.StreamStatus) string {
	if st.Lag < 0 {
		return "never walked"
	}
	return text.Ago(now, now.Add(-st.Lag.Duration()))
}

func watermark(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateTime)
}

func note(now time.Time, src *status.SourceStatus, st *status.StreamStatus, light status.Light) string {
	var parts []string
	if st.Progress != nil && st.State != status.StateStarting {
		parts = append(parts, st.Progress.Text())
	}
	if q := st.InQuarantine(); q != "" && q != light.Label {
		parts = append(parts, q)
	}
	if detail := src.Note(st); detail != "" {
		parts = append(parts, detail)
	} else if last := src.LastError(st); last != "" {
		when := "last error"
		if !st.LastErrorAt.IsZero() { // a walk may have gone well since
			when += " " + text.Ago(now, st.LastErrorAt)
		}
		parts = append(parts, when+": "+last)
	}
	return strings.Join(parts, "; ")
}
