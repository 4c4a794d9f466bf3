package main

import (
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer"
)

func TestStatusOfADaemonAndOfNone(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := syncer.Status{Now: now, StartedAt: now.Add(-5*time.Minute - 15*time.Second), Sources: []syncer.SourceStatus{{
		Name: "bistro", State: "running", BusinessName: "Bistro", Budget: syncer.BudgetStatus{KeyUsed: 3, KeyLimit: 120},
		Streams: []syncer.StreamStatus{
			{Name: "api_keys", State: "running", Lag: 0, Rows: 1},
			{Name: "sales_orders", State: "backfill", Lag: syncer.Seconds(3*time.Hour + 5*time.Minute), Watermark: now, Rows: 400,
				Progress: &syncer.Progress{Pages: 2, Rows: 400, TotalRows: 600, RequestsLeft: 1, ExpectedLeft: syncer.Seconds(time.Second)}},
			{Name: "sales_daily", State: "running", Lag: syncer.Seconds(7 * time.Second), Rows: 92,
				Progress: &syncer.Progress{Walk: syncer.WalkDeep, Pages: 1, RequestsLeft: 10, ExpectedLeft: syncer.Seconds(20 * time.Second)}},
		},
	}}}
	want(t, s, `A daemon has been running for 5m15s, since 2026-03-01 11:54:45 UTC.

bistro  running  Bistro  3 of 120 requests in the last minute
  stream        state     last walk  newest change (UTC)  rows written  note
  api_keys      running   0s ago     -                    1
  sales_orders  backfill  3h5m ago   2026-03-01 12:00:00  400           400 of 600 rows, 1 request left
  sales_daily   running   7s ago     -                    92            deep run: 1 of 11 questions, 20s left
`)
	s.Sources[0].State, s.Sources[0].Detail, s.Sources[0].NextProbe = "unreachable", "no answer", now.Add(8*time.Second)
	s.Sources[0].Streams = []syncer.StreamStatus{{Name: "sales_daily", State: "starting", Lag: -1, Progress: &syncer.Progress{}}}
	want(t, s, `A daemon has been running for 5m15s, since 2026-03-01 11:54:45 UTC.

bistro  unreachable  Bistro  3 of 120 requests in the last minute
  no answer (asked again in 8s)
  stream       state     last walk     newest change (UTC)  rows written  note
  sales_daily  starting  never walked  -                    0
`)
	s.Sources[0].State, s.Sources[0].Detail, s.Sources[0].NextProbe = "running", "", time.Time{}
	s.StartedAt = time.Time{}
	s.Sources[0].Streams = []syncer.StreamStatus{{Name: "sales_orders", State: "stopped", Lag: syncer.Seconds(52 * time.Hour), Rows: 7, Detail: "backfill not finished"}}
	want(t, s, `No daemon runs (larder run starts one); this is what the warehouse knows.

bistro  running  Bistro  3 of 120 requests in the last minute
  stream        state    last walk  newest change (UTC)  rows  note
  sales_orders  stopped  2d4h ago   -                    7     backfill not finished
`)
}

func want(t *testing.T, s syncer.Status, text string) {
	t.Helper()
	var out strings.Builder
	if err := printStatus(&out, s, 0); err != nil || out.String() != text {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), text)
	}
}
