package clickhouse_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

// lookUps counts the look-ups of columns that a connection sends.
type lookUps struct {
	net.Conn
	n *atomic.Int64
}

func (l lookUps) Write(p []byte) (int, error) {
	l.n.Add(int64(bytes.Count(p, []byte("system.columns"))))
	return l.Conn.Write(p)
}

// TestColumnsAreLookedUpOnce has many who need them at once, as at a start.
func TestColumnsAreLookedUpOnce(t *testing.T) {
	_, database := migrated(t, clickhouse.Options{})
	var n atomic.Int64
	dial := enginetest.Engine(t).Dial
	s := openSink(t, clickhouse.Options{Database: database, Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		conn, err := dial(ctx, addr)
		return lookUps{conn, &n}, err
	}})
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() {
			if _, err := s.Live(t.Context(), sinks.LiveQuery{Table: "allergens", Business: "b"}); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	if n.Load() != 1 {
		t.Errorf("%d look-ups", n.Load())
	}
}

// answers keeps what a connection receives.
type answers struct {
	net.Conn
	all *polling.Text
}

func (a answers) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	_, _ = a.all.Write(p[:n]) // a text takes everything
	return n, err
}

// TestNoRowsComeWithoutColumns: the engine would read the statement a second time for them.
func TestNoRowsComeWithoutColumns(t *testing.T) {
	var all polling.Text // a connection that ends may still be read from
	dial := enginetest.Engine(t).Dial
	s := openSink(t, clickhouse.Options{Database: "default", Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		conn, err := dial(ctx, addr)
		return answers{conn, &all}, err
	}})
	for sql, want := range map[string]int{"SELECT 1 AS column_of_one": 1, "SELECT 1 AS column_of_none WHERE 0": 0} {
		if err := clickhouse.Ask(t.Context(), s, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		if got := strings.Count(all.Take(), "column_of_"); got != want {
			t.Errorf("%s: %d columns", sql, got)
		}
	}
	var answer bytes.Buffer
	if err := s.Query(t.Context(), "SELECT 1 AS x WHERE 0", "Native", &answer); err != nil || !strings.Contains(answer.String(), "UInt8") {
		t.Errorf("a person's query: %q, %v", answer.String(), err)
	}
}

// hanging keeps look-ups of columns from being sent while n is above zero.
type hanging struct {
	net.Conn
	n   *atomic.Int64
	ctx context.Context
}

func (h hanging) Write(p []byte) (int, error) {
	if h.n.Load() > 0 && bytes.Contains(p, []byte("system.columns")) {
		h.n.Add(1)
		<-h.ctx.Done()
		return 0, net.ErrClosed
	}
	return h.Conn.Write(p)
}

// TestKnownColumnsWaitForNobody: rows are written while the look-up of a table that is not known, as an
// erasing makes them, has no answer.
func TestKnownColumnsWaitForNobody(t *testing.T) {
	_, database := migrated(t, clickhouse.Options{})
	var n atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	dial := enginetest.Engine(t).Dial
	s := openSink(t, clickhouse.Options{Database: database, Dial: func(c context.Context, addr string) (net.Conn, error) {
		conn, err := dial(c, addr)
		return hanging{conn, &n, ctx}, err
	}})
	known := sinks.LiveQuery{Table: "allergens", Business: "b"}
	if _, err := s.Live(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	n.Store(1)
	var asking sync.WaitGroup
	asking.Go(func() { _, _ = s.Live(ctx, sinks.LiveQuery{Table: "unknown", Business: "b"}) })
	defer asking.Wait()
	defer cancel()
	polling.Until(t, "the look-up is under way", func() bool { return n.Load() > 1 })
	limited, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	if _, err := s.Live(limited, known); err != nil {
		t.Error(err)
	}
}

// askedAlone are questions of a column that need none of its values: the engine reads only
// which are null, or how long they are, and must find that in a view's column too.
var askedAlone = map[string]string{
	"Nullable(":                "isNotNull(`%s`)",
	"LowCardinality(Nullable(": "isNotNull(`%s`)",
	"Array(":                   "notEmpty(`%s`)",
	"Map(":                     "notEmpty(`%s`)",
	"String":                   "notEmpty(`%s`)",
	"LowCardinality(String":    "notEmpty(`%s`)",
}

// TestColumnsAreAskedAlone counts the rows of every view by which of their values are null
// or empty, and by nothing else.
func TestColumnsAreAskedAlone(t *testing.T) {
	notInShort(t)
	s, database := migrated(t, clickhouse.Options{})
	questions := map[string][]string{}
	for line := range strings.Lines(query(t, s, "SELECT table, name, type FROM system.columns WHERE database = "+sqlText(database)+" ORDER BY table, position", "TSVRaw")) {
		column := strings.Split(strings.TrimSpace(line), "\t")
		for prefix, question := range askedAlone {
			if strings.HasPrefix(column[2], prefix) {
				questions[column[0]] = append(questions[column[0]], fmt.Sprintf(question, column[1]))
			}
		}
	}
	if len(questions) < 30 {
		t.Errorf("%d views are asked, want nearly all", len(questions))
	}
	for view, of := range questions {
		sql := "SELECT count() FROM " + view + " WHERE " + strings.Join(of, " OR ")
		if err := s.Query(t.Context(), sql, "TSV", io.Discard); err != nil {
			t.Errorf("%s: %v", view, err)
		}
	}
}

// TestSessionsSettingsLeaveViewsAlone reads every view in a session with settings that
// analysts have for their own joins and sums. TestEachSessionSettingLeavesViewsAlone has them
// in sessions of their own.
func TestSessionsSettingsLeaveViewsAlone(t *testing.T) {
	s, database := migrated(t, clickhouse.Options{})
	readViews(t, s, database, strings.Join(analysts, ", "))
}

// analysts have these settings.
var analysts = []string{
	"join_use_nulls = 1, final = 1, prefer_column_name_to_alias = 1, join_default_strictness = 'ANY'", "aggregate_functions_null_for_empty = 1",
}

// readViews reads all columns of every view.
func readViews(t *testing.T, s *clickhouse.Sink, database, settings string) {
	t.Helper()
	for view := range strings.Lines(query(t, s, "SELECT name FROM system.tables WHERE database = "+sqlText(database), "TSVRaw")) {
		sql := "SELECT * FROM " + strings.TrimSpace(view)
		if settings != "" {
			sql += " SETTINGS " + settings
		}
		if err := s.Query(t.Context(), sql, "TSV", io.Discard); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
