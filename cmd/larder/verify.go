package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

func verifyCommand(g *globals) *cobra.Command {
	var sel syncer.Selection
	var wait time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare every row with the API and print each difference",
		Long: `Walks every list of the API whole and compares each row with the warehouse: the
JSON as received, unknown fields included, the typed columns with what the stored JSON
says, and what was removed and why. It writes nothing. It uses what the daemon leaves of
the API's limits, so it delays nothing; a list takes as long as its first backfill took.
Beside a running daemon on the same embedded warehouse, the daemon does the work.

Rows may change meanwhile. So what differs is compared once more, when the daemon has had
two turns of its schedule (1 hour at most). It is a difference when the API showed the
same before and after; a row that had changed is moving; settled are rows that did not
differ any more. Where no daemon serves a source, nothing is waited for: let larder sync
bring what changed first. Totals (sales_daily) of days before yesterday, and of single
locations, may differ until the nightly deep run or larder reconcile.

Each line has kind, source, stream, id, field and both values. A field is a path in the
API's JSON, or a column of the table. With --format json it is a JSON object, and the last
line is a summary: unjudged are rows that were too many to compare again. A difference,
and what could not be compared, as rows in quarantine, end with exit code 1.`,
		Example: `  larder verify
  larder verify --source bistro --stream sales_orders
  larder verify --format json | jq 'select(.kind == "difference")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, show, err := g.beginPass(false, sel)
			if err != nil {
				return err
			}
			p := &printer{out: show.above(g.out), json: asJSON}
			report, err := a.Verify(cmd.Context(), sel, wait, p.finding, func(v verify.Progress) { show.update(v.Status) })
			show.end()
			p.out = g.out
			if len(report.Sources) > 0 {
				p.verified(report, err)
			}
			return errors.Join(p.err, err)
		},
	}
	sourcesFlag(cmd, &sel.Sources)
	streamsFlag(cmd, &sel.Streams)
	formatFlag(cmd, &asJSON)
	waitFlag(cmd, &wait)
	return cmd
}

// finding prints one as soon as it is there.
func (p *printer) finding(f verify.Finding) {
	if p.json {
		p.line(f)
		return
	}
	field, values := cmp.Or(f.Field, "(row)"), f.Reason
	if f.Column {
		field = "column " + field
	}
	if f.API != nil || f.Mirror != nil {
		values = "API " + shownValue(f, f.API) + ", mirror " + shownValue(f, f.Mirror)
	}
	id := f.ID
	if id == "" || strings.ContainsAny(id, ` "`) {
		id = strconv.Quote(id) // it cannot pass for what follows
	}
	line := fmt.Sprintf("%s: %s %s %s %s: %s", f.Kind, f.Source, f.Stream, id, field, values)
	p.printf("%s\n", text.Visible(strings.TrimSuffix(line, ": ")))
	if f.Hint != "" && p.first(f.Hint) {
		p.sentence("→ %s", f.Hint)
	}
}

// shownValue is a value of a finding; of a whole row it is a word or two.
func shownValue(f verify.Finding, v json.RawMessage) string {
	switch {
	case len(v) == 0:
		return "(none)"
	case f.Field == "":
		return strings.Trim(string(v), `"`)
	default:
		return text.Short(string(v), 200)
	}
}

// verifySummary is the last line of --format json.
type verifySummary struct {
	Kind        string         `json:"kind"` // summary
	StartedAt   time.Time      `json:"started_at"`
	FinishedAt  time.Time      `json:"finished_at,omitzero"`
	Rows        uint64         `json:"rows"`
	Differences uint64         `json:"differences"`
	Moving      uint64         `json:"moving"`
	Quarantined uint64         `json:"quarantined"`
	Interrupted bool           `json:"interrupted,omitempty"`
	Streams     []verifyStream `json:"streams"`
}

type verifyStream struct {
	Source string `json:"source"`
	verify.StreamReport
	Error string `json:"error,omitempty"`
}

// verified prints what all came to.
func (p *printer) verified(r verify.Report, err error) {
	s := verifySummary{Kind: "summary", StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Differences: r.Differences(), Interrupted: errors.Is(err, context.Canceled)}
	for _, source := range r.Sources {
		streams := source.Streams
		if source.Err != nil {
			streams = append([]verify.StreamReport{{StreamOutcome: status.StreamOutcome{Err: source.Err}}}, streams...)
		}
		for _, st := range streams {
			s.Rows += st.Rows
			s.Moving += st.Moving
			s.Quarantined += st.InQuarantine
			line := verifyStream{Source: source.Source, StreamReport: st}
			if st.Err != nil {
				line.Error = st.Err.Text
			}
			s.Streams = append(s.Streams, line)
		}
	}
	if p.json {
		p.line(s)
		return
	}
	t := &table{width: widthOf(p.out), least: len("  interrupted"), optional: []string{"settled", "time", "moving", "quarantined"}}
	t.add("source", "stream", "rows", "differ", "moving", "settled", "quarantined", "time", "result")
	for _, st := range s.Streams {
		t.add(st.Source, cmp.Or(st.Stream, "-"), st.Rows, st.Differences, st.Moving, st.Settled, st.InQuarantine,
			st.Took.Duration().Round(100*time.Millisecond), verifyOutcome(st))
	}
	p.failed(t.print(p.out))
	for _, st := range s.Streams {
		if st.Unjudged > 0 {
			why := "so many are not compared again. larder sync --full fetches them anew: verify after it"
			if !st.Done {
				why = "not compared again: verify again"
			}
			p.sentence("%s %s: %s differed at first sight; %s", st.Source, st.Stream, text.Plural(st.Unjudged, "more row"), why)
		}
	}
	p.sentence("rows: %d, differences: %d, still moving: %d, quarantined: %d, time: %s", s.Rows, s.Differences, s.Moving, s.Quarantined,
		s.FinishedAt.Sub(s.StartedAt).Round(100*time.Millisecond))
}

func verifyOutcome(st verifyStream) string {
	if st.Err == nil && st.Off == "" {
		switch {
		case !st.Done:
			return "interrupted"
		case st.Differences+st.Unjudged > 0:
			return "differs"
		}
	}
	return outcome(st.StreamOutcome, "equal")
}
