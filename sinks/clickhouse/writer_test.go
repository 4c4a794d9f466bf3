package clickhouse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/sinks/sinktest"
)

// gathered is the sum of a metric over its labels; of a histogram, its count.
func gathered(t *testing.T, r *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			if label != "" && !strings.Contains(m.String(), `"`+label+`"`) {
				continue
			}
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func simple(table *sinks.Table, ids ...string) *sinks.Batch {
	b := sinks.NewBatch(table, len(ids))
	for n, id := range ids {
		for i := range b.Vectors {
			switch v := &b.Vectors[i]; {
			case len(v.Offsets) > 0:
				v.EndList(0)
			default:
				v.AppendZero()
			}
		}
		if err := b.EndRow(sinks.Row{ID: id, Version: uint64(n + 1), FetchedAt: time.Unix(1, 0)}); err != nil {
			panic(err)
		}
	}
	return b
}

// TestOneInsertPerTableAndFlush queues commits of two tables while the warehouse
// is away, and counts the statements that write them.
func TestOneInsertPerTableAndFlush(t *testing.T) {
	_, database := migrated(t, clickhouse.Options{})
	registry := prometheus.NewRegistry()
	flaky := sinktest.NewFlaky(enginetest.Engine(t).Dial)
	var log bytes.Buffer
	s := openSink(t, clickhouse.Options{Database: database, Dial: flaky.Dial, Registerer: registry, FlushInterval: time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(&log, nil))})
	all := tables(t, s)
	flaky.Down()
	var last *sinks.Receipt
	for n := range 50 {
		for _, stream := range []string{"allergens", "categories"} {
			receipt, err := s.Write(t.Context(), &sinks.Commit{Source: "s", Business: "b", Stream: stream,
				Batch:      simple(all[stream], fmt.Sprint("id-", n)),
				Tombstones: []sinks.Tombstone{{ID: fmt.Sprint("gone-", n), Version: 1, FetchedAt: time.Unix(1, 0)}},
				Checkpoint: &sinks.Checkpoint{Source: "s", Stream: stream, Walk: "full", Rows: uint64(n), UpdatedAt: time.Unix(int64(n), 0)}})
			if err != nil {
				t.Fatal(err)
			}
			last = receipt
		}
	}
	for s.Health() == nil { // until the first attempt has failed
		if err := s.Ping(t.Context()); !errors.Is(err, connection.ErrUnreachable) {
			t.Fatalf("ping: %v", err)
		}
	}
	if gathered(t, registry, "larder_sink_failing", "") != 1 || gathered(t, registry, "larder_sink_flush_retries_total", "") == 0 {
		t.Error("the metrics do not tell that the warehouse is away")
	}
	flaky.Up()
	if err := last.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The first flush takes what was there when it began, the second all others.
	for kind, want := range map[string]float64{"rows": 4, "tombstones": 4, "checkpoints": 2} {
		if got := gathered(t, registry, "larder_sink_insert_duration_seconds", kind); got > want || got == 0 {
			t.Errorf("%v statements for %s, want at most %v", got, kind, want)
		}
	}
	for kind, want := range map[string]float64{"rows": 100, "tombstones": 100} {
		if got := gathered(t, registry, "larder_sink_rows_total", kind); got != want {
			t.Errorf("%v %s written, want %v", got, kind, want)
		}
	}
	if got := gathered(t, registry, "larder_sink_failing", ""); got != 0 || s.Health() != nil {
		t.Errorf("failing: %v, %v", got, s.Health())
	}
	for _, want := range []string{"level=WARN", "the warehouse does not take rows", "level=INFO", "the warehouse takes rows again", "lasted="} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("want %q once in the log: %s", want, log.String())
		}
	}
}

// TestCountersAreThereFromTheStart: rate() of Prometheus misses the event that makes a
// series.
func TestCountersAreThereFromTheStart(t *testing.T) {
	_, database := migrated(t, clickhouse.Options{})
	registry := prometheus.NewRegistry()
	s := openSink(t, clickhouse.Options{Database: database, Registerer: registry, FlushInterval: time.Millisecond})
	families := func() map[string]int {
		t.Helper()
		all, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, f := range all {
			n[f.GetName()] = len(f.GetMetric())
		}
		return n
	}
	before := families()
	if before["larder_sink_rows_total"] < 20 || before["larder_sink_bytes_total"] < 10 || before["larder_sink_insert_duration_seconds"] != 8 {
		t.Errorf("%v", before)
	}
	receipt, err := s.Write(t.Context(), &sinks.Commit{Source: "s", Business: "b", Stream: "allergens",
		Batch:      simple(tables(t, s)["allergens"], "id"),
		Tombstones: []sinks.Tombstone{{ID: "gone", Version: 1, FetchedAt: time.Unix(1, 0)}},
		Quarantine: []sinks.Quarantined{{ID: "bad", Raw: []byte("{}"), Version: 2, FetchedAt: time.Unix(1, 0)}},
		Drift:      []sinks.Drift{{Path: "x", Kind: "field", SeenAt: time.Unix(1, 0)}},
		Verdicts:   []sinks.Verdict{{Day: "2026-03-01", Subject: sinks.SubjectDaily, Verdict: sinks.VerdictProven, AskedAt: time.Unix(1, 0)}},
		Checkpoint: &sinks.Checkpoint{Source: "s", Stream: "allergens", Walk: "full", UpdatedAt: time.Unix(1, 0)},
		Run:        &sinks.Run{Source: "s", Stream: "allergens", Walk: "full", StartedAt: time.Unix(1, 0), FinishedAt: time.Unix(1, 0)},
		Status:     &sinks.StreamStatus{Source: "s", Stream: "allergens", State: "running", ChangedAt: time.Unix(1, 0)}})
	if err == nil {
		err = receipt.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range families() {
		if n != before[name] {
			t.Errorf("%s has %d series, and had %d at the start", name, n, before[name])
		}
	}
}

// TestAnOutageThatNobodyWritesIntoIsToldOnce has a warehouse that goes away while there
// is nothing to write: whoever looks whether it is there makes it known.
func TestAnOutageThatNobodyWritesIntoIsToldOnce(t *testing.T) {
	_, database := migrated(t, clickhouse.Options{})
	flaky := sinktest.NewFlaky(enginetest.Engine(t).Dial)
	var log bytes.Buffer
	s := openSink(t, clickhouse.Options{Database: database, Dial: flaky.Dial, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ping := func(away bool) {
		t.Helper()
		for range 3 {
			if err := s.Ping(t.Context()); errors.Is(err, sinks.ErrUnreachable) != away {
				t.Fatalf("ping: %v, want one of a warehouse that is away: %v", err, away)
			}
		}
	}
	flaky.Down()
	ping(true)
	if log.Len() > 0 {
		t.Errorf("a command that only asks says by itself that it got no answer: %s", log.String())
	}
	flaky.Up()
	ping(false)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	flaky.Down()
	ping(true)
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") {
		t.Errorf("want one warning: %s", got)
	}
	log.Reset()
	flaky.Up()
	ping(false)
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "takes rows again") {
		t.Errorf("want one line of its end: %s", got)
	}
}

// TestAnOutageOutlivesTheRowsThatMetIt has rows that wait for a warehouse fenced, as when
// the process loses its sources for not being heard of: that they wait no more does not
// bring the warehouse back.
func TestAnOutageOutlivesTheRowsThatMetIt(t *testing.T) {
	_, database := migrated(t, clickhouse.Options{})
	registry := prometheus.NewRegistry()
	flaky := sinktest.NewFlaky(enginetest.Engine(t).Dial)
	var log bytes.Buffer
	s := openSink(t, clickhouse.Options{Database: database, Dial: flaky.Dial, Registerer: registry, FlushInterval: time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(&log, nil))})
	all := tables(t, s)
	flaky.Down()
	lost := errors.New("another process serves the source")
	receipt, err := s.Write(t.Context(), &sinks.Commit{Source: "s", Business: "b", Stream: "allergens", Batch: simple(all["allergens"], "id"),
		Fence: func() error {
			if s.Health() == nil {
				return nil
			}
			return lost
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := receipt.Wait(t.Context()); !errors.Is(err, lost) {
		t.Fatalf("the rows: %v", err)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") || gathered(t, registry, "larder_sink_failing", "") != 1 {
		t.Errorf("the warehouse is away still, and it says: %s", got)
	}
	log.Reset()
	flaky.Up()
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "takes rows again") || gathered(t, registry, "larder_sink_failing", "") != 0 {
		t.Errorf("the warehouse is back, and it says: %s", got)
	}
}

// TestNothingNewIsNotWritten repeats what is stored: no statement may follow.
func TestNothingNewIsNotWritten(t *testing.T) {
	_, database := migrated(t, clickhouse.Options{})
	registry := prometheus.NewRegistry()
	s := openSink(t, clickhouse.Options{Database: database, Registerer: registry, FlushInterval: time.Millisecond})
	write := func(c *sinks.Commit) {
		t.Helper()
		receipt, err := s.Write(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := receipt.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Unix(1_700_000_000, 0)
	for n := range 5 {
		write(&sinks.Commit{Source: "s", Business: "b", Stream: "products"})
		write(&sinks.Commit{Source: "s", Business: "b", Stream: "products", Checkpoint: &sinks.Checkpoint{
			Source: "s", Stream: "products", Walk: "incremental", Watermark: at, Done: true, UpdatedAt: at.Add(time.Duration(n) * time.Second)}})
	}
	if got := gathered(t, registry, "larder_sink_insert_duration_seconds", ""); got != 1 {
		t.Errorf("%v statements, want 1: the first checkpoint", got)
	}
	// What another process stored is known after State.
	other := openSink(t, clickhouse.Options{Database: database, Registerer: prometheus.NewRegistry(), FlushInterval: time.Millisecond})
	state, err := other.State(t.Context(), "s")
	if err != nil || len(state.Checkpoints) != 1 || !state.Checkpoints[0].Watermark.Equal(at) {
		t.Fatalf("state: %+v, %v", state, err)
	}
}

// TestWrongColumns writes a batch that the warehouse has no place for: the
// receipt waits, since a migration may help, and the error names the column.
func TestWrongColumns(t *testing.T) {
	for _, c := range []sinks.Column{{Name: "surprise"}, {Name: "name", Kind: sinks.Money}} {
		s, _ := migrated(t, clickhouse.Options{FlushInterval: time.Millisecond})
		receipt, err := s.Write(t.Context(), &sinks.Commit{Source: "s", Business: "b", Stream: "allergens",
			Batch: simple(&sinks.Table{Name: "allergens", Columns: []sinks.Column{c}}, "x")})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		if err := receipt.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: the receipt: %v", c.Name, err)
		}
		if err := s.Health(); err == nil || !strings.Contains(err.Error(), "column "+c.Name) {
			t.Errorf("%s: health: %v", c.Name, err)
		}
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: close: %v", c.Name, err)
		}
		cancel()
	}
}

func TestQuery(t *testing.T) {
	notInShort(t)
	m := newMirror(t)
	m.store("biz", "allergens", simple(tables(t, m.Sink)["allergens"], "a", "b"))
	for format, want := range map[string]string{
		"TSV": "biz\t2\n", "CSVWithNames": "\"business_id\",\"n\"\n\"biz\",2\n", "JSONEachRow": "{\"business_id\":\"biz\",\"n\":2}\n",
	} {
		if got := query(t, m.Sink, " SELECT business_id, count() AS n FROM allergens GROUP BY business_id ; \n", format); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	for _, sql := range commented {
		if got := query(t, m.Sink, sql, "TSVWithNames"); got != "n\n1\n" {
			t.Errorf("%s: %q", sql, got)
		}
	}
	if got := query(t, m.Sink, "SELECT 1 AS one", ""); !strings.Contains(got, "one") || strings.Contains(got, "\x1b") {
		t.Errorf("for people: %q", got)
	}
	var out bytes.Buffer
	for _, sql := range []string{"INSERT INTO allergens SELECT 1", "DROP VIEW allergens", "TRUNCATE TABLE " + m.database + "_raw.allergens", "CREATE TABLE x (a Int8) ENGINE = Memory"} {
		if err := m.Query(t.Context(), sql, "TSV", &out); err == nil {
			t.Errorf("%s: it was done", sql)
		}
	}
	if err := m.Query(t.Context(), "SELECT nothing FROM nowhere", "TSV", &out); err == nil || errors.Is(err, connection.ErrUnreachable) {
		t.Errorf("a mistake in the query: %v", err)
	}
	m.expect("SELECT count() FROM allergens", "2")
	for sql, want := range statementErrors {
		wantStatementError(t, m.Sink, sql, want)
	}
}

// commented are queries with comments where people put them.
var commented = []string{
	"SELECT 1 AS n -- note", "SELECT 1 AS n # note", "SELECT 1 AS n /* note */", "SELECT 1 AS n; -- note", "SELECT 1 AS n -- note;\n",
	"-- note\nSELECT 1 AS n", "/* note */ WITH 1 AS n SELECT n", "SELECT 1 -- note\nAS n -- and another",
}

// statementErrors are the server's own sentences, and nothing around them.
var statementErrors = map[string]string{
	"SELEC 1":                       "Syntax error: failed at position 1 (SELEC): SELEC 1. (SYNTAX_ERROR)",
	"SELECT 1 FROM":                 "Syntax error: failed at position 14 (end of query): . (SYNTAX_ERROR)",
	"SELECT nothing FROM allergens": "Unknown expression identifier `nothing` in scope SELECT nothing FROM allergens. (UNKNOWN_IDENTIFIER)",
	"DROP VIEW allergens":           "default: Cannot execute query in readonly mode. (READONLY)",
	"SELECT 1 FROM nosuch.thing":    "Database nosuch does not exist. (UNKNOWN_DATABASE)",
}

func wantStatementError(t *testing.T, s *clickhouse.Sink, sql, want string) {
	t.Helper()
	var refused *connection.StatementError
	err := s.Query(t.Context(), sql, "TSV", io.Discard)
	if !errors.As(err, &refused) || err.Error() != want {
		t.Errorf("%s:\n got %v\nwant %s", sql, err, want)
		return
	}
	if refused.ReadOnly() != strings.Contains(want, "READONLY") || refused.UnknownTable() != strings.Contains(want, "UNKNOWN_DATABASE") {
		t.Errorf("%s: read-only %v, unknown table %v", sql, refused.ReadOnly(), refused.UnknownTable())
	}
}

// TestRefusedUser is what a server answers to a wrong password: the warehouse
// cannot be reached that way, and the answer must not tell the password.
func TestRefusedUser(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "516")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "Code: 516. DB::Exception: larder: Authentication failed with hunter2. (AUTHENTICATION_FAILED) (version 26.7.2.1)\n")
	}))
	defer server.Close()
	s := openSink(t, clickhouse.Options{DSN: strings.Replace(server.URL, "http://", "http://larder:hunter2@", 1) + "/larder"})
	_, err := s.Check(t.Context())
	if !errors.Is(err, connection.ErrUnreachable) || !strings.HasSuffix(err.Error(), "): it refuses the user or the password (code 516)") {
		t.Errorf("got %v", err)
	}
}

// TestNoClickHouse is a port on which something else answers, or a proxy whose
// server is down: one sentence, without its page.
func TestNoClickHouse(t *testing.T) {
	const port = "is the port that of ClickHouse's HTTP interface (usually 8123, with TLS 8443)?"
	for status, want := range map[int]struct {
		err  error
		text string
	}{
		http.StatusNotFound:   {connection.ErrNotClickHouse, "it answers HTTP 404; " + port},
		http.StatusOK:         {connection.ErrNotClickHouse, "it answers HTTP 200 with something else; " + port},
		http.StatusBadGateway: {connection.ErrUnreachable, "the proxy in front of it answers 502 Bad Gateway"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "<html><body>welcome</body></html>")
		}))
		wantPing(t, server.URL, want.err, want.text)
		server.Close()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
		}
	}()
	wantPing(t, "clickhouse://"+l.Addr().String(), connection.ErrNotClickHouse, "is the port that of the native protocol (usually 9000, with TLS 9440)?")
}

func wantPing(t *testing.T, server string, want error, text string) {
	t.Helper()
	_, address, _ := strings.Cut(server, "://")
	s := openSink(t, clickhouse.Options{DSN: server + "/larder"})
	if err := s.Ping(t.Context()); !errors.Is(err, want) || err.Error() != want.Error()+" ("+address+"): "+text {
		t.Errorf("%s: %v", server, err)
	}
}
