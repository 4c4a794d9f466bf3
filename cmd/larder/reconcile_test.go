package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

func TestReconcileInJSON(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.want(2, `invalid argument "xml" for "--format" flag: known are text, json`, "reconcile", "--format", "xml")
	h.want(2, `from "soon" is no day`, "reconcile", "--from", "soon")
	h.migrated()
	h.engineStays()
	h.want(0, "ok", "sync")
	if r := h.want(0, "", "reconcile", "--format", "json"); strings.Count(r.out, "\n") != 1 || !strings.HasPrefix(r.out, `{"kind":"summary"`) {
		t.Errorf("nothing differs:\n%s", r.out)
	}
	h.key(sandbox.RoleSales)
	if err := h.UpdateKey(h.Key(0, sandbox.RoleSales).Value, func(k *sandbox.Key) { k.Scopes = []string{"menu:read"} }); err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Kind    string
		Sources []struct{ Source, Error string }
	}
	r := h.want(3, "the key lacks the scope sales:read", "reconcile", "--format", "json")
	if err := json.Unmarshal([]byte(r.out), &summary); err != nil || len(summary.Sources) != 1 || summary.Sources[0].Source != "bistro" || summary.Sources[0].Error == "" {
		t.Errorf("%v, %+v", err, summary)
	}
}

func TestOpenVerdictsAreLinesOfJSON(t *testing.T) {
	asked := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	report := syncer.ReconcileReport{Sources: []syncer.SourceReconcile{{
		Source: "bistro", From: "2026-03-01", To: "2026-03-29", Steps: 4, Asked: 4, VerdictCounts: syncer.VerdictCounts{Proven: 9, Drift: 1, Unproven: 1, Healed: 20_000},
		Days: syncer.VerdictCounts{Proven: 1, Healed: 26, Drift: 1, Unproven: 1}, Locations: 4,
		Open: []sinks.Verdict{
			{Day: "2026-03-28", Subject: sinks.SubjectDaily, Verdict: sinks.VerdictDrift, Requests: 3, HealingTried: true, AskedAt: asked, OrderIDs: []string{"o1"},
				Differences: []sinks.Difference{{Figure: "net_sales", Service: "99999999999999999.10", Mirror: "0.30"}}},
			{Day: "2026-03-29", Location: "l1", Subject: sinks.SubjectDaily, Verdict: sinks.VerdictUnproven, Reason: "no answer", AskedAt: asked},
		},
	}, {Source: "bar", Err: status.FailureOf(errors.New("key refused"))}}}
	var out strings.Builder
	p := &printer{out: &out, json: true}
	p.verdicts(report)
	p.verdicts(report) // each is printed once
	p.reconciled(report, nil)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		`{"kind":"verdict","source":"bistro","location":"","day":"2026-03-28","subject":"daily","verdict":"drift",` +
			`"differences":[{"figure":"net_sales","service":"99999999999999999.10","mirror":"0.30"}],"order_ids":["o1"],"requests":3,"healing_tried":true,"asked_at":"2026-03-29T12:00:00Z"}`,
		`{"kind":"verdict","source":"bistro","location":"l1","day":"2026-03-29","subject":"daily","verdict":"unproven",` +
			`"requests":0,"reason":"no answer","asked_at":"2026-03-29T12:00:00Z"}`,
		`{"kind":"summary","started_at":"0001-01-01T00:00:00Z","sources":[` +
			`{"source":"bistro","from":"2026-03-01","to":"2026-03-29","questions":4,"asked":4,"days":{"proven":1,"healed":26,"explained":0,"drift":1,"unsettled":0,"unproven":1},"locations":4,"proven":9,"healed":20000,"explained":0,"drift":1,"unsettled":0,"unproven":1,"omitted":20000},` +
			`{"source":"bar","from":"","to":"","questions":0,"asked":0,"days":{"proven":0,"healed":0,"explained":0,"drift":0,"unsettled":0,"unproven":0},"locations":0,"proven":0,"healed":0,"explained":0,"drift":0,"unsettled":0,"unproven":0,"error":"key refused","failure":{"text":"key refused","code":1}}]}`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), strings.Join(want, "\n"))
	}
	out.Reset()
	writes := writeCounter{Writer: &out}
	p = &printer{out: &writes}
	p.verdicts(report)
	report.Sources[0].Open[0].Reason = "not healed"
	report.Sources[0].Open[1].Reason = "no answer again"
	p.verdicts(report) // what is the same is not repeated
	if want := `bistro 2026-03-28 daily: drift
  net_sales: service 99999999999999999.10, mirror 0.30
  of orders o1
bistro 2026-03-29 daily at l1: unproven
  no answer
bistro 2026-03-28 daily: drift
  net_sales: service 99999999999999999.10, mirror 0.30
  of orders o1
  not healed
bistro 2026-03-29 daily at l1: unproven
  no answer again
`; out.String() != want || writes.n != 4 {
		t.Errorf("while it runs, in %d writes:\n%s", writes.n, out.String())
	}
	(&printer{out: &out}).reconciled(report, nil)
	for _, want := range []string{
		"bistro: 20,000 more verdicts are not shown; ",
		"bistro from 2026-03-01 to 2026-03-29: 29 days of 4 locations: 1 proven, 26 healed, 1 drift, 1 unproven\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told:\n%s", want, out.String())
		}
	}
}

type writeCounter struct {
	io.Writer
	n int
}

func (c *writeCounter) Write(b []byte) (int, error) {
	c.n++
	return c.Writer.Write(b)
}

func TestAReconciliationTellsItsQuestions(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	r := syncer.ReconcileReport{Sources: []syncer.SourceReconcile{
		{Source: "starting"},
		{Source: "asking", Steps: 240, Asked: 12, ExpectedLeft: status.Seconds(456 * time.Second)},
		{Source: "differing", Steps: 24, Asked: 12, Suspects: 1, SettlesAt: soon, ExpectedLeft: status.Seconds(24 * time.Second)},
		{Source: "waiting", Steps: 24, Asked: 24, Suspects: 3, SettlesAt: soon, ExpectedLeft: status.Seconds(140 * time.Second)},
		{Source: "again", Steps: 24, Asked: 24, Suspects: 3, SettlesAt: time.Now()},
		{Source: "healing", Steps: 24, Asked: 24, Suspects: 398, ToHeal: 398, HealedDays: 12, ExpectedLeft: status.Seconds(10 * time.Minute)},
		{Source: "at its end", Steps: 24, Asked: 24, Suspects: 2, ToHeal: 2, HealedDays: 2},
		{Source: "gained", Backfill: &status.Progress{Walk: sinks.WalkBackfill, Rows: 400, TotalRows: 2400, RequestsLeft: 10, ExpectedLeft: status.Seconds(5 * time.Second)}},
		{Source: "left", Backfill: &status.Progress{Walk: sinks.WalkFull, Rows: 400, TotalRows: 2400, RequestsLeft: 10, ExpectedLeft: status.Seconds(5 * time.Second)}},
		{Source: "ended", Steps: 24, Asked: 24, State: status.StateRunning},
	}}
	want := []string{
		"asking: 12 of 240 questions, 7 min left", "differing: 12 of 24 questions, 1 day differs at first sight, 24 s left",
		"waiting: 24 of 24 questions, 3 days differ at first sight, 2 min left", "again: 24 of 24 questions, 3 days differ at first sight",
		"healing: healing, 12 of 398 days done, 10 min left",
		"at its end: healing, 2 of 2 days done",
		"gained: first the orders: 400 of 2,400 rows, 5 s left, 10 requests", "left: first the orders: full resync: 400 of 2,400 rows, 5 s left, 10 requests",
	}
	var got []string
	for _, w := range comparisonsOf(r) {
		got = append(got, w.name+": "+w.text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
