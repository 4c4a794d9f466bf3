package server_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
)

// An answer is the same, to the byte, as the one that the engine hands over as a whole.
func TestAnswersThatFlowAreTheSame(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	const sql = "SELECT number AS n, if(n % 3 = 0, NULL, toString(n)) AS s, [n, 2] AS a, map('k', n) AS m, toDecimal64(n, 2) AS d FROM numbers(%) ORDER BY n"
	for _, format := range strings.Fields(`JSON JSONStrings JSONCompact JSONCompactStrings JSONColumns JSONColumnsWithMetadata JSONObjectEachRow
		PrettyJSONEachRow XML Vertical Values SQLInsert TSKV Markdown Pretty PrettyNoEscapes PrettyCompact PrettyCompactMonoBlock PrettySpace
		RowBinaryWithNames RowBinaryWithNamesAndTypes CustomSeparated CustomSeparatedWithNames Arrow ArrowStream Parquet ORC BSONEachRow Buffers`) {
		for _, rows := range []string{"0", "1", "20000"} {
			statement := strings.ReplaceAll(sql, "%", rows)
			params := []string{"default_format", format, "output_format_write_statistics", "0"}
			want := in.ask(http.MethodPost, statement, params...)
			got := out.ask(http.MethodPost, statement, params...)
			if got.status == http.StatusForbidden {
				continue // a format that readers do not have
			}
			if got.status != want.status || got.err != nil || got.status == http.StatusOK && got.body != want.body {
				t.Errorf("%s, %s rows: %d, %v, %d bytes; as a whole %d, %d bytes: %.300s", format, rows, got.status, got.err, len(got.body), want.status, len(want.body), got.body)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(embeddedtest.Engine(t).Path(), "larder-answer-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The answer of 300 MB is in nobody's memory: no limit of the statement would count it.
func TestALargeAnswerFlows(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	tracked := func() int {
		n, err := strconv.Atoi(strings.TrimSpace(in.must("SELECT value FROM system.metrics WHERE metric = 'MemoryTracking'")))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, format := range []string{"JSON", "XML", "Values", "RowBinaryWithNamesAndTypes"} {
		before := tracked()
		response, err := out.client.Post(out.base+"?max_block_size=2000&default_format="+format, "", strings.NewReader("SELECT repeat('a', 1000) AS s FROM numbers(300000)"))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.CopyN(io.Discard, response.Body, 1<<20); err != nil {
			t.Errorf("%s: %s, %d bytes: %v", format, response.Status, n, err)
		}
		if grown := tracked() - before; grown > 64<<20 {
			t.Errorf("%s: the engine holds %d MB more", format, grown>>20)
		}
		n, err := io.Copy(io.Discard, response.Body)
		if err != nil || n < 299_000_000 {
			t.Errorf("%s: %d bytes more, %v", format, n, err)
		}
		response.Body.Close()
	}
}

// What fails before it has an answer is told with a status; later, among the data.
func TestAnswersThatFlowFail(t *testing.T) {
	out := outside(t, "", "")
	early := out.ask(http.MethodPost, "SELECT toUInt8(concat('x', toString(number))) FROM numbers(10) FORMAT JSON")
	if early.status == http.StatusOK || !strings.Contains(early.body, "CANNOT_PARSE_TEXT") {
		t.Errorf("early: %d %s", early.status, early.body)
	}
	late := out.ask(http.MethodPost, "SELECT toUInt64(if(number = 1900000, 'late', toString(number))) FROM numbers(2000000) FORMAT JSON", "max_threads", "1")
	if late.status != http.StatusOK || late.err == nil || !strings.Contains(late.body, "__exception__") || !strings.Contains(late.body, "late") {
		t.Errorf("late: %d, %v, %d bytes", late.status, late.err, len(late.body))
	}
	waited := out.ask(http.MethodPost, "SELECT toUInt64(if(number = 1000, 'late', toString(number))) FROM numbers(2000) FORMAT JSON", "wait_end_of_query", "1", "max_block_size", "100")
	if waited.status == http.StatusOK {
		t.Errorf("waited for: %d, %d bytes", waited.status, len(waited.body))
	}
}

// Within a block the engine looks for no stop. One of rows that share a long text is a few
// hundred kilobytes as LowCardinality, and a hundred gigabytes as TSV.
func TestReadersNameNoLowCardinality(t *testing.T) {
	out := outside(t, "", "")
	for _, sql := range []string{
		"SELECT toLowCardinality(repeat('ab', 50000)) FROM numbers(60000)",
		"SELECT CAST(repeat('ab', 50000), 'LowCardinality(String)') FROM numbers(60000)",
		"SELECT repeat('ab', 50000)::Array(LowCardinality(String)) FROM numbers(60000)",
		"SELECT {p:LowCardinality(String)} FROM numbers(60000)",
	} {
		if got := out.ask(http.MethodPost, sql, "param_p", "a"); got.status != http.StatusForbidden {
			t.Errorf("%s: %d, %.100s", sql, got.status, got.body)
		}
	}
	for asked, want := range map[string]string{"1000000": "65409", "1000": "1000", "0": "65409"} {
		if got := out.must("SELECT getSetting('max_block_size')", "max_block_size", asked); strings.TrimSpace(got) != want {
			t.Errorf("max_block_size %s: %s, want %s", asked, got, want)
		}
	}
}

// Clients that go in the middle cost no place, and leave nothing behind.
func TestClientsLeaveAnswersThatFlow(t *testing.T) {
	out := outside(t, "", "")
	for range 40 {
		response, err := out.client.Post(out.base+"?max_block_size=2000", "", strings.NewReader("SELECT number, repeat('b', 500) FROM numbers(100000000) FORMAT JSON"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, response.Body, 200<<10); err != nil {
			t.Error(err)
		}
		response.Body.Close()
	}
	if got := out.must("SELECT 1 FORMAT JSONCompact"); !strings.Contains(got, `"rows": 1`) {
		t.Error(got)
	}
}

// Nor is a chunk that is many times its block: a row repeats a long name, or the name
// of an enumeration's value.
func TestALargeChunkFlows(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	tracked := func() int {
		n, err := strconv.Atoi(strings.TrimSpace(in.must("SELECT value FROM system.metrics WHERE metric = 'MemoryTracking'")))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	shared := "SELECT CAST(number % 2, 'Enum8(\\'" + strings.Repeat("e", 200_000) + "\\' = 0, \\'b\\' = 1)') AS x FROM numbers(4000) FORMAT "
	for _, sql := range []string{
		"SELECT number AS `" + strings.Repeat("n", 200_000) + "` FROM numbers(2000) FORMAT JSONEachRow", shared + "TSV", shared + "CSVWithNames", shared + "TabSeparatedWithNames",
	} {
		before := tracked()
		response, err := out.client.Post(out.base+"?max_block_size=65000&output_format_parallel_formatting=0", "", strings.NewReader(sql))
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 1<<20)
		if n, err := io.ReadFull(response.Body, head); err != nil {
			t.Errorf("%.50s … %s: %s, %v: %s", sql, sql[len(sql)-20:], response.Status, err, head[:n])
		}
		if grown := tracked() - before; grown > 64<<20 {
			t.Errorf("%.50s … %s: the engine holds %d MB more", sql, sql[len(sql)-20:], grown>>20)
		}
		if n, err := io.Copy(io.Discard, response.Body); err != nil || n < 398_000_000 {
			t.Errorf("%.50s … %s: %d bytes more, %v", sql, sql[len(sql)-20:], n, err)
		}
		response.Body.Close()
	}
}

// Columns of a block may share what they hold: 100 of 4 MB are 4 MB to the limits. Native
// flows as well, and a block that is turned for a client may be as long as its memory.
func TestColumnsThatShareFlow(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	columns := make([]string, 100)
	for i := range columns {
		columns[i] = "t AS t" + strconv.Itoa(i)
	}
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM (SELECT groupArray(number) AS t FROM numbers(500000)) FORMAT Native"
	before := atoi(t, strings.TrimSpace(in.must("SELECT value FROM system.metrics WHERE metric = 'MemoryTracking'")))
	response, err := out.client.Post(out.base, "", strings.NewReader(sql))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	head, err := io.CopyN(io.Discard, response.Body, 1<<20)
	if err != nil {
		t.Errorf("%s, %d bytes: %v", response.Status, head, err)
	}
	if grown := atoi(t, strings.TrimSpace(in.must("SELECT value FROM system.metrics WHERE metric = 'MemoryTracking'"))) - before; grown > 64<<20 {
		t.Errorf("the engine holds %d MB more", grown>>20)
	}
	if n, err := io.Copy(io.Discard, response.Body); err != nil || n < 398_000_000 {
		t.Errorf("%d bytes more, %v", n, err)
	}
	got := out.ask(http.MethodPost, sql, "client_protocol_version", "54460")
	if got.status != http.StatusNotImplemented || !strings.Contains(got.body, "a block of it is longer") {
		t.Errorf("%d, %d bytes: %.300s", got.status, len(got.body), got.body)
	}
	if got := out.ask(http.MethodPost, "SELECT number AS n FROM numbers(0) FORMAT Native"); got.status != http.StatusOK || got.body != "\x01\x00\x01n\x06UInt64" {
		t.Errorf("without rows: %d %q", got.status, got.body)
	}
}

// Pretty keeps what it is to show until it knows how wide that is: cells are cut.
func TestCellsAreCut(t *testing.T) {
	out := outside(t, "", "")
	for _, sql := range []string{"SELECT repeat('a', 5000) AS x FORMAT Pretty", "SELECT repeat('a', 5000) AS x, 1 FORMAT PrettyCompact"} {
		if got := out.must(sql); len(got) > 4000 || len(got) < 1000 {
			t.Errorf("%s: %d bytes", sql, len(got))
		}
	}
	for _, setting := range []string{"value_width", "value_width_apply_for_single_value", "rows", "column_pad_width", "column_name_width_cut_to"} {
		if got := out.ask(http.MethodPost, "SELECT 1 FORMAT Pretty", "output_format_pretty_max_"+setting, "1000000"); got.status == http.StatusOK {
			t.Errorf("%s: %d %s", setting, got.status, got.body)
		}
	}
	for _, format := range []string{"Npy", "Avro"} {
		if got := out.ask(http.MethodPost, "SELECT 1 FORMAT "+format); got.status != http.StatusForbidden {
			t.Errorf("%s: %d %q", format, got.status, got.body)
		}
	}
}

// What fails may quote a type of megabytes: the ends are told.
func TestFailuresHaveALength(t *testing.T) {
	out := outside(t, "", "")
	sql := "CAST(1, 'Enum8(\\'" + strings.Repeat("e", 2000) + "\\' = 1)') AS x"
	sql = "SELECT x + 1 FROM (" + strings.Repeat("SELECT (x, x) AS x FROM (", 10) + "SELECT " + sql + strings.Repeat(")", 10) + ")"
	got := out.ask(http.MethodPost, sql)
	if got.status == http.StatusOK || len(got.body) > 66<<10 || len(got.body) < 60<<10 || !strings.HasPrefix(got.body, "Code: 43. ") || !strings.Contains(got.body, "(ILLEGAL_TYPE_OF_ARGUMENT)") {
		t.Errorf("%d, %d bytes: %.200s … %s", got.status, len(got.body), got.body, got.body[max(len(got.body)-200, 0):])
	}
}
