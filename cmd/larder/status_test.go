package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer/status"
)

func TestStatusOfADaemonAndOfNone(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := status.Status{Now: now, StartedAt: now.Add(-5*time.Minute - 15*time.Second), Sources: []status.SourceStatus{{
		Name: "bistro", State: "running", BusinessName: "Bistro", Budget: status.BudgetStatus{KeyUsed: 3, KeyLimit: 120},
		Streams: []status.StreamStatus{
			{Name: "api_keys", State: "running", Lag: 0, Rows: new(uint64(1))},
			{Name: "sales_orders", State: "backfill", Lag: status.Seconds(3*time.Hour + 5*time.Minute), Watermark: now, Rows: new(uint64(400)),
				Progress: &status.Progress{Pages: 2, Rows: 400, TotalRows: 600, RequestsLeft: 1, ExpectedLeft: status.Seconds(time.Second)}},
			{Name: "sales_daily", State: "running", Lag: status.Seconds(7 * time.Second),
				Progress: &status.Progress{Walk: status.WalkDeep, Pages: 1, RequestsLeft: 10, ExpectedLeft: status.Seconds(20 * time.Second)}},
		},
	}}}
	want(t, s, `A daemon has been running for 5 min, since 2026-03-01 11:54:45 UTC.
… Backfill under way, 1 s left.

bistro: backfill
  Bistro; 3 of 120 requests in the last minute
  stream        state       last walk  next walk  newest change (UTC)  rows  note
  api_keys      up to date  just now   -          -                    1
  sales_orders  backfill    3 h ago    -          2026-03-01 12:00:00  400   400 of 600 rows, 1 request left
  sales_daily   up to date  7 s ago    -          -                    -     deep run: 1 of 11 questions, 20 s left
`)
	s.Sources[0].State, s.Sources[0].Detail, s.Sources[0].NextProbe = "unreachable", "no answer", now.Add(8*time.Second)
	s.Sources[0].Streams = []status.StreamStatus{{Name: "sales_daily", State: "starting", Lag: -1, Progress: &status.Progress{}}}
	want(t, s, `A daemon has been running for 5 min, since 2026-03-01 11:54:45 UTC.
! The service does not answer.

bistro: no answer
  Bistro; 3 of 120 requests in the last minute; asked again in 8 s
  The service does not answer. No answer.
  stream       state      last walk     next walk  newest change (UTC)  rows  note
  sales_daily  not asked  never walked  -          -                    -
`)
	s.Sources[0].State, s.Sources[0].Detail, s.Sources[0].NextProbe = "starting", "", time.Time{}
	s.Sources[0].Budget.PausedUntil, s.Sources[0].Budget.Shared = now.Add(40*time.Minute), "key"
	want(t, s, `A daemon has been running for 5 min, since 2026-03-01 11:54:45 UTC.
… Waiting for the first answer: the service answers 429 and asks to wait until 12:40:00 UTC.

bistro: starting
  Bistro; 3 of 120 requests in the last minute; someone else seems to use the key, and leaves few requests
  Waiting for the first answer: the service answers 429 and asks to wait until 12:40:00 UTC.
  stream       state     last walk     next walk  newest change (UTC)  rows  note
  sales_daily  starting  never walked  -          -                    -
`)
	s.Sources[0].Budget.PausedUntil, s.Sources[0].Budget.Shared = time.Time{}, ""
	s.Sources[0].State = "stopped"
	s.StartedAt = time.Time{}
	s.Sources[0].Streams = []status.StreamStatus{{Name: "sales_orders", State: "stopped", Lag: status.Seconds(52 * time.Hour), Rows: new(uint64(7)), Detail: "backfill not finished"}}
	want(t, s, `No daemon runs (larder run starts one); this is what the warehouse knows.

bistro: no daemon
  Bistro; 3 of 120 requests in the last minute
  stream        state    last walk   next walk  newest change (UTC)  rows  note
  sales_orders  stopped  2 days ago  -          -                    7     backfill not finished
`)
}

func TestStatusSaysAmongHowManyProcessesTheSourcesAre(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	want(t, status.Status{Now: now, StartedAt: now.Add(-time.Hour), Processes: 4, Configured: 1000}, `A daemon has been running for 60 min, since 2026-03-01 11:00:00 UTC.
4 processes share 1,000 sources; this one has 0 of them.
… Other processes have all sources.
`)
}

func TestStatusSaysWhatIsWrongAndWhereToLook(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := status.Status{Now: now, StartedAt: now.Add(-time.Hour), Sources: []status.SourceStatus{{
		Name: "bistro", State: "running", Proof: &status.ProofStatus{ProvenUntil: "2025-12-01", DriftDays: 90},
		Streams: []status.StreamStatus{{Name: "products", State: "running", Quarantined: 3, Rows: new(uint64(12))}},
	}}}
	want(t, s, `A daemon has been running for 60 min, since 2026-03-01 11:00:00 UTC.
! 90 days differ from the service's totals.
! 3 rows are in quarantine.

bistro: 90 days differ
  proven until 2025-12-01
  90 days differ from the service's totals. larder reconcile names the days and figures, larder reconcile --heal fetches them anew; the view reconciliation has them too.
  3 rows are in quarantine. What could not be understood is kept whole. Look at it with: larder sql "SELECT stream, row_id, field, reason FROM quarantine". An entry closes by itself when the row can be understood.
  stream    state            last walk  next walk  newest change (UTC)  rows  note
  products  3 in quarantine  just now   -          -                    12
`)
	s.Sources[0].Proof.DriftDays, s.Sources[0].Streams[0].Quarantined = 0, 0
	s.Sources[0].Streams[0].LastError, s.Sources[0].Streams[0].LastErrorAt = "GET /products: no answer", now.Add(-130*time.Second)
	want(t, s, `A daemon has been running for 60 min, since 2026-03-01 11:00:00 UTC.
✓ Everything is up to date and proven.

bistro: up to date
  proven until 2025-12-01
  stream    state       last walk  next walk  newest change (UTC)  rows  note
  products  up to date  just now   -          -                    12    last error 2 min ago: GET /products: no answer
`)
}

// The notes of a stream are one line, however many sentences they are.
func TestStatusJoinsNotesWithoutFullStops(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	want(t, status.Status{Now: now, StartedAt: now.Add(-time.Hour), Sources: []status.SourceStatus{{
		Name: "bistro", State: "running", PersonalData: "keep",
		Streams: []status.StreamStatus{{
			Name: "products", State: "running", Detail: "Some were skipped. They come again.", LastError: "GET /products: no answer", LastErrorAt: now.Add(-time.Minute),
		}},
	}}}, `A daemon has been running for 60 min, since 2026-03-01 11:00:00 UTC.
✓ Everything is up to date.

bistro: up to date
  all personal data is kept: names, phones, addresses (personal_data: keep)
  stream    state       last walk  next walk  newest change (UTC)  rows  note
  products  up to date  just now   -          -                    -     Some were skipped. They come again; last error 60 s ago: GET /products: no answer
`)
}

func want(t *testing.T, s status.Status, text string) {
	t.Helper()
	var out strings.Builder
	if err := printStatus(&out, s, 0); err != nil || out.String() != text {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), text)
	}
}

// The probe of a container asks the daemon, and starts nothing itself.
func TestStatusReady(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(local("embedded:./data"))
	h.migrated()
	h.want(2, "web.listen is off, so the daemon cannot be asked", "status", "--ready", "--set", "web.listen=")
	h.want(1, "connection refused", "status", "--ready", "--set", "web.listen=127.0.0.1:1")
	page := h.start()
	polling.Page(t, page+"/readyz", http.StatusOK, "ready")
	listen := "web.listen=" + strings.TrimPrefix(page, "http://")
	if r := h.want(0, "", "status", "--ready", "--set", listen); r.out+r.errors != "" {
		t.Errorf("a daemon that is ready: %s%s", r.out, r.errors)
	}

	away := newHouse(t)
	away.configure("warehouse: {dsn: 'http://127.0.0.1:1/larder'}\n")
	page = away.start()
	polling.Page(t, page+"/readyz", http.StatusServiceUnavailable, "connection refused")
	away.want(1, "Waiting for the warehouse", "status", "--ready", "--set", "web.listen="+strings.TrimPrefix(page, "http://"))
}
