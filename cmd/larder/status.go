package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
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
what the warehouse knows about the last one.`,
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
	for i := range s.Sources {
		src := &s.Sources[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s%s\n", src.Name, src.State, headNote(src))
		if src.Detail != "" {
			fmt.Fprintf(w, "  %s\n", src.Detail)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for j := range src.Streams {
			st := &src.Streams[j]
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", st.Name, st.State, lag(st), watermark(st.Watermark), note(st))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func headNote(s *syncer.SourceStatus) string {
	text := ""
	if s.BusinessName != "" {
		text += "  " + s.BusinessName
	}
	if s.Budget.KeyLimit > 0 {
		text += fmt.Sprintf("  %d of %d requests in the last minute", s.Budget.KeyUsed, s.Budget.KeyLimit)
	}
	return text
}

func lag(st *syncer.StreamStatus) string {
	if st.Lag < 0 {
		return "never walked"
	}
	return st.Lag.Round(time.Second).String() + " ago"
}

func watermark(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return "newest " + t.UTC().Format(time.DateTime)
}

func note(st *syncer.StreamStatus) string {
	var parts []string
	switch {
	case st.Progress != nil:
		parts = append(parts, forecast(st.Progress))
	case st.Rows > 0:
		parts = append(parts, strconv.FormatUint(st.Rows, 10)+" rows")
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
