package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/engine/server"
)

func TestInsertsBringDataInEveryWay(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	a.must("CREATE TABLE `values` (a UInt64, b String) ENGINE = MergeTree ORDER BY a", "database", db)
	for name, c := range map[string]struct {
		body   string
		params []string
	}{
		"format in the URL":    {"1,a\n2,b\n", []string{"query", "INSERT INTO `values` FORMAT CSV"}},
		"columns":              {"a,1\nb,2\n", []string{"query", "INSERT INTO `values` (b, a) FORMAT CSV"}},
		"values in the body":   {"INSERT INTO `values` VALUES (1,'a'), (2,'b')", nil},
		"values, binary":       {"INSERT INTO `values` VALUES (1,'a\x00b'), (2,'b');", nil},
		"values in the URL":    {"", []string{"query", "INSERT INTO `values` VALUES (1,'a'), (2,'b')"}},
		"values apart":         {"(1,'a'), (2,'b')", []string{"query", "INSERT INTO `values` VALUES"}},
		"no format":            {"(1,'a'), (2,'b')", []string{"query", "INSERT INTO `values`"}},
		"format in the body":   {"INSERT INTO TABLE `values` FORMAT CSV\n1,a\n2,b\n", nil},
		"format, semicolon":    {"INSERT INTO `values` FORMAT CSV;\r\n1,a\n2,b\n", nil},
		"data on both sides":   {"2,b\n", []string{"query", "INSERT INTO `values` FORMAT CSV\n1,a\n"}},
		"settings":             {"1|a\n2|b\n", []string{"query", "INSERT INTO `values` SETTINGS format_csv_delimiter='|' FORMAT CSV"}},
		"settings of the URL":  {"1|a\n2|b\n", []string{"query", "INSERT INTO `values` FORMAT CSV", "format_csv_delimiter", "|"}},
		"comments":             {"1,a\n2,b\n", []string{"query", "/* SELECT */ INSERT INTO -- VALUES\n `values` /* FORMAT x */ FORMAT CSV"}},
		"select":               {"INSERT INTO `values` SELECT number, 'x' FROM numbers(2)", nil},
		"select in brackets":   {"INSERT INTO `values` (SELECT number, 'x' FROM numbers(2))", nil},
		"select with":          {"INSERT INTO `values` WITH 2 AS n SELECT number, 'x' FROM numbers(2)", nil},
		"name with database":   {"1,a\n2,b\n", []string{"query", "INSERT INTO " + db + ".`values` FORMAT CSV"}},
		"keyword in a string":  {"INSERT INTO `values` VALUES (1,' FORMAT CSV'), (2,'SELECT 1')", nil},
		"json":                 {`{"a":1,"b":"ș"}{"a":2}`, []string{"query", "INSERT INTO `values` FORMAT JSONEachRow"}},
		"parameter of a table": {"1,a\n2,b\n", []string{"query", "INSERT INTO {t:Identifier} FORMAT CSV", "param_t", "values"}},
	} {
		t.Run(name, func(t *testing.T) {
			a.must("TRUNCATE TABLE `values`", "database", db)
			a.must(c.body, append([]string{"database", db}, c.params...)...)
			if got := a.must("SELECT count() FROM `values`", "database", db); got != "2\n" {
				t.Errorf("%s rows", got)
			}
		})
	}
}

func TestInsertFormatNative(t *testing.T) {
	ctx := context.Background()
	db := enginetest.Database(t)
	conn := enginetest.Conn(t, db)
	if err := conn.Exec(ctx, "CREATE TABLE n (id UInt64, lines Array(Array(String))) ENGINE = MergeTree ORDER BY id"); err != nil {
		t.Fatal(err)
	}
	block := proto.Block{ServerContext: &column.ServerContext{}}
	for name, typ := range map[string]column.Type{"id": "UInt64", "lines": "Array(Array(String))"} {
		if err := block.AddColumn(name, typ); err != nil {
			t.Fatal(err)
		}
	}
	const rows = 200000
	for i := range rows {
		value := map[string]any{"id": uint64(i), "lines": [][]string{{"a\x00b", fmt.Sprint(i)}, {}}}
		for _, c := range block.Columns {
			if err := c.AppendRow(value[c.Name()]); err != nil {
				t.Fatal(err)
			}
		}
	}
	buffer := &chproto.Buffer{}
	if err := block.Encode(buffer, 0); err != nil {
		t.Fatal(err)
	}
	if err := conn.InsertFormat(ctx, "Native", "INSERT INTO n (id, lines)", bytes.NewReader(buffer.Buf)); err != nil {
		t.Fatal(err)
	}
	var count, sum uint64
	if err := conn.QueryRow(ctx, "SELECT count(), sum(length(lines[1])) FROM n WHERE lines[1][2] = toString(id)").Scan(&count, &sum); err != nil || count != rows || sum != 2*rows {
		t.Errorf("%d rows, %d lines, %v", count, sum, err)
	}
}

func TestAFailedInsertLeavesItsTableFree(t *testing.T) {
	ctx := context.Background()
	a := inside(t)
	db := enginetest.Database(t)
	a.must("CREATE TABLE f (a UInt64, CONSTRAINT small CHECK a < 1000) ENGINE = MergeTree ORDER BY a", "database", db)
	for name, body := range map[string]string{
		"unreadable":    "1\nx\n",
		"constraint":    "1\n2000\n",
		"late":          strings.Repeat("1\n", 2_000_000) + "x\n",
		"wrong columns": "{\"b\":1}",
	} {
		r := a.ask("POST", body, "query", "INSERT INTO f FORMAT CSV", "database", db)
		if r.status == 200 || !strings.HasPrefix(r.body, "Code: ") {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		a.must("3\n", "query", "INSERT INTO f FORMAT CSV", "database", db)
		a.must("TRUNCATE TABLE f", "database", db)
		a.must("ALTER TABLE f ADD COLUMN IF NOT EXISTS b UInt8", "database", db)
		a.must("ALTER TABLE f DROP COLUMN b", "database", db)
	}
	conn := enginetest.Conn(t, db)
	var exception *clickhouse.Exception
	if err := conn.InsertFormat(ctx, "CSV", "INSERT INTO f", strings.NewReader("5000\n")); !errors.As(err, &exception) || exception.Code != 469 {
		t.Errorf("the driver's error: %v", err)
	}
	if err := conn.InsertFormat(ctx, "CSV", "INSERT INTO f", strings.NewReader("5\n")); err != nil {
		t.Error(err)
	}
}

// A body that breaks off must not count as one that ended.
func TestATruncatedInsertInsertsNothing(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	a.must("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a", "database", db)
	for _, params := range [][]string{nil, {"decompress", "1"}} {
		conn := enginetest.Conn(t, db)
		broken := io.MultiReader(strings.NewReader("1\n2\n3\n"), failing{})
		if err := conn.InsertFormat(context.Background(), "CSV", "INSERT INTO t", broken); err == nil {
			t.Error("no error")
		}
		r := a.ask("POST", "not frames of ClickHouse's compression", append([]string{"query", "INSERT INTO t FORMAT CSV", "database", db, "decompress", "1"}, params...)...)
		if r.status != 400 {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if got := a.must("SELECT count() FROM t", "database", db); got != "0\n" {
		t.Errorf("%s rows", got)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the network is gone") }

func TestParallelInsertsIntoOneTable(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	a.must("CREATE TABLE p (a UInt64) ENGINE = MergeTree ORDER BY a", "database", db)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				if r := a.ask("POST", strings.Repeat("1\n", 1000), "query", "INSERT INTO p FORMAT CSV", "database", db); r.status != 200 {
					t.Errorf("%d %s", r.status, r.body)
				}
			}
		})
	}
	group.Wait()
	if got := a.must("SELECT count() FROM p", "database", db); got != "40000\n" {
		t.Errorf("%s rows", got)
	}
}

// The settings of docs/architecture/engine.md must hold in the engine, which ignores silently what
// it does not take.
func TestTheEngineTakesItsSettings(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	want := "optimize_move_to_prewhere_if_final\t1\noptimize_on_insert\t0\nsession_timezone\tUTC\n"
	if got := a.must("SELECT name, value FROM system.settings WHERE name IN ('optimize_on_insert', 'optimize_move_to_prewhere_if_final', 'session_timezone') ORDER BY name"); got != want {
		t.Errorf("settings:\n%s", got)
	}
	want = "default_compression_codec\tZSTD(1)\nfsync_after_insert\t1\nfsync_part_directory\t1\n" +
		"max_suspicious_broken_parts\t1000000\nmax_suspicious_broken_parts_bytes\t1000000000000000\nmerge_max_block_size_bytes\t10485760\nmerge_selector_base\t10\n" +
		"number_of_free_entries_in_pool_to_execute_mutation\t1\nnumber_of_free_entries_in_pool_to_execute_optimize_entire_partition\t1\n" +
		"number_of_free_entries_in_pool_to_lower_max_size_of_merge\t1\n"
	if got := a.must("SELECT name, value FROM system.merge_tree_settings WHERE changed ORDER BY name"); got != want {
		t.Errorf("settings of MergeTree:\n%s", got)
	}
	want = "max_server_memory_usage\t2147483648\nmemory_worker_period_ms\t1000000000\nmemory_worker_use_cgroup\t0\n"
	if got := a.must("SELECT name, value FROM system.server_settings WHERE name IN ('max_server_memory_usage', 'memory_worker_period_ms', 'memory_worker_use_cgroup') ORDER BY name"); got != want {
		t.Errorf("memory: %s", got)
	}
	a.must("CREATE TABLE c (a UInt64) ENGINE = MergeTree ORDER BY a", "database", db)
	a.must("1\n", "query", "INSERT INTO c FORMAT CSV", "database", db)
	if got := a.must("SELECT default_compression_codec FROM system.parts WHERE database = '" + db + "'"); got != "ZSTD(1)\n" {
		t.Errorf("codec: %s", got)
	}
}

// A body is longer than what is read ahead, and its rows are refused at once: the rest is read,
// so that the client gets the answer, and the table takes the next insert.
func TestARefusedInsertOfALongBody(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	a.must("CREATE TABLE long (a UInt64) ENGINE = MergeTree ORDER BY a", "database", db)
	insert := []string{"database", db, "query", "INSERT INTO long FORMAT CSV"}
	if got := a.ask(http.MethodPost, strings.Repeat("no number\n", 1<<19), insert...); got.status == http.StatusOK || !strings.Contains(got.body, "DB::Exception") {
		t.Errorf("%d %s", got.status, got.body)
	}
	a.must(strings.Repeat("1\n", 1<<20), insert...)
	if got := a.must("SELECT count() FROM long", "database", db); got != "1048576\n" {
		t.Errorf("%s rows", got)
	}
}

// What fails while a body is read ahead is told when its turn comes, a panic of a decoder too.
func TestReadingAhead(t *testing.T) {
	for name, last := range map[string]badBody{"cut short": {err: io.ErrUnexpectedEOF}, "a panic": {panics: true}} {
		next, end := server.ReadAhead(io.MultiReader(strings.NewReader(strings.Repeat("x", 3<<20)), last))
		n := 0
		for {
			data, err := next()
			n += len(data)
			if err == nil {
				continue
			}
			if errors.Is(err, io.EOF) || last.panics != strings.Contains(err.Error(), "panic") {
				t.Errorf("%s: %v", name, err)
			}
			break
		}
		if end(); !last.panics && n != 3<<20 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}

// badBody is a body that cannot be read.
type badBody struct {
	err    error
	panics bool
}

func (r badBody) Read([]byte) (int, error) {
	if r.panics {
		panic("a fault")
	}
	return 0, r.err
}
