package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

  state          up to date; backfill; behind, no walk has ended well for long; failing, the
                 note says why; N in quarantine; N days differ, from the service's totals;
                 sweep held, waits for a person; not asked, the source is not served; not
                 stored, the warehouse takes no rows; rows missing, it has lost some; no access,
                 the key may not read what it should; off, for lack of a scope or by
                 configuration; waiting, for another process; stopped, no daemon runs
  last walk      how long ago the list was last walked to its end
  next walk      when it is asked for next, and why if that is not its turn of the schedule
  newest change  the newest change that is durable in the warehouse (watermark)
  rows           live rows of the restaurant in the warehouse, counted now and then
  note           progress and forecast of a walk; rows in quarantine; the last error

--ready, for the probe of a container, asks the daemon at web.listen for /readyz: the exit
code is 0 when it serves and has reached the warehouse, else 1.`,
		Example: `  larder status
  larder status --ready
  larder status --json | jq '.sources[].state'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.load(false, g.err, "warn")
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
	line := func(indent, words string) { b.WriteString(wrap(text.Visible(words), indent, width)) }
	if s.StartedAt.IsZero() {
		line("", "No daemon runs (larder run starts one); this is what the warehouse knows.")
	} else {
		line("", fmt.Sprintf("A daemon has been running for %s, since %s UTC.", text.Span(s.Now.Sub(s.StartedAt)), s.StartedAt.UTC().Format(time.DateTime)))
	}
	for _, c := range s.Concerns() {
		if c.Kind != status.HealthStopped { // said already
			line("", cmp.Or(marks[c.Tone()], "…")+" "+c.Text)
		}
	}
	for _, p := range s.Problems {
		line("", "! "+p)
	}
	for i := range s.Sources {
		src := &s.Sources[i]
		b.WriteString("\n")
		line("", src.Name+": "+src.Health().Label)
		if notes := headNotes(s.Now, src); len(notes) > 0 {
			line("  ", strings.Join(notes, "; "))
		}
		for _, concern := range concernsOf(s.Now, src) {
			line("  ", concern)
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
	t := &table{width: width, indent: "  ", optional: []string{"next walk", "newest change (UTC)", "rows", "last walk"}}
	t.add("stream", "state", "last walk", "next walk", "newest change (UTC)", "rows", "note")
	for j := range src.Streams {
		st := &src.Streams[j]
		light := src.Light(st)
		lag, watermark, rows := "never walked", "-", "-"
		if st.Lag >= 0 {
			lag = text.Ago(now, now.Add(-st.Lag.Duration()))
		}
		if !st.Watermark.IsZero() {
			watermark = st.Watermark.UTC().Format(time.DateTime)
		}
		if st.Rows != nil {
			rows = fmt.Sprint(*st.Rows)
		}
		t.add(st.Name, light.Label, lag, cmp.Or(st.NextWalk(now), "-"), watermark, rows, note(now, src, st, light))
	}
	return t
}

// marks are how the lines of a tone begin; those of another begin with "…".
var marks = map[status.Tone]string{status.ToneTrouble: "!", status.ToneGood: "✓"}

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
