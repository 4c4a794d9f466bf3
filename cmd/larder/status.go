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

	"github.com/larder-sync/larder/internal/lifecycle"
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
				return &lifecycle.ExitError{Err: errors.New(s.Health().Text), Code: lifecycle.ExitProblem, Printed: true}
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
	if s.Processes > 1 {
		line("", fmt.Sprintf("%d processes share %s; this one has %s of them.", s.Processes, text.Plural(s.Configured, "source"), text.Count(len(s.Sources))))
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
		var head []string
		if src.BusinessName != "" {
			head = append(head, src.BusinessName)
		}
		if src.Budget.KeyLimit > 0 {
			head = append(head, fmt.Sprintf("%d of %s in the last minute", src.Budget.KeyUsed, text.Plural(src.Budget.KeyLimit, "request")))
		}
		concerns, notes := src.Shown(s.Now)
		if head = append(head, notes...); len(head) > 0 {
			line("  ", strings.Join(head, "; "))
		}
		for _, c := range concerns {
			line("  ", strings.TrimSpace(c.Text+" "+c.Advice))
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
		notes := src.StreamNotes(now, st)
		if st.Progress != nil && st.State != status.StateStarting {
			notes = append([]string{st.Progress.Text()}, notes...)
		}
		t.add(st.Name, src.Light(st).Label, lag, cmp.Or(st.NextWalk(now), "-"), watermark, rows,
			strings.ReplaceAll(strings.Join(notes, "; "), ".; ", "; "))
	}
	return t
}

// marks are how the lines of a tone begin; those of another begin with "…".
var marks = map[status.Tone]string{status.ToneTrouble: "!", status.ToneGood: "✓"}
