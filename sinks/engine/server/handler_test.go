package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

// asker sends raw requests, as curl does.
type asker struct {
	t      testing.TB
	client *http.Client
	base   string
}

func inside(t testing.TB) *asker {
	engine := enginetest.Engine(t)
	transport := &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return engine.Dial(ctx, addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &asker{t: t, client: &http.Client{Transport: transport}, base: "http://embedded/"}
}

type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

// ask sends a request; params are name, value pairs.
func (a *asker) ask(method, body string, params ...string) reply {
	a.t.Helper()
	return a.do(method, strings.NewReader(body), nil, params...)
}

func (a *asker) do(method string, body io.Reader, header http.Header, params ...string) reply {
	a.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	request, err := http.NewRequest(method, a.base+"?"+values.Encode(), body)
	if err != nil {
		a.t.Fatal(err)
	}
	for name := range header {
		request.Header.Set(name, header.Get(name))
	}
	return a.read(request)
}

func (a *asker) read(request *http.Request) reply {
	a.t.Helper()
	response, err := a.client.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return reply{status: response.StatusCode, header: response.Header, body: string(content), err: err}
}

// must asks by POST and wants 200.
func (a *asker) must(body string, params ...string) string {
	a.t.Helper()
	r := a.ask(http.MethodPost, body, params...)
	if r.status != http.StatusOK || r.err != nil {
		a.t.Fatalf("%.200s: %d %s %v", body, r.status, r.body, r.err)
	}
	return r.body
}

func TestCurlAsksInEveryWay(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	for name, c := range map[string]struct {
		method, body string
		params       []string
		want         string
	}{
		"query in the body":        {"POST", "SELECT 1", nil, "1\n"},
		"query in the URL":         {"GET", "", []string{"query", "SELECT 1"}, "1\n"},
		"query in both":            {"POST", "+ 1", []string{"query", "SELECT 1"}, "2\n"},
		"closing semicolon":        {"POST", "SELECT 1;\n -- done\n", nil, "1\n"},
		"comments around":          {"POST", "/* a */ SELECT 1 -- b", nil, "1\n"},
		"format of the URL":        {"POST", "SELECT 1 AS x", []string{"default_format", "JSONEachRow"}, "{\"x\":1}\n"},
		"format of the statement":  {"POST", "SELECT 1 AS x FORMAT CSVWithNames", []string{"default_format", "JSONEachRow"}, "\"x\"\n1\n"},
		"format then settings":     {"POST", "SELECT 1 AS x FORMAT CSV SETTINGS max_threads = 1", nil, "1\n"},
		"format with no rows":      {"POST", "SELECT 1 AS x WHERE 0 FORMAT CSVWithNames", nil, "\"x\"\n"},
		"database":                 {"POST", "SELECT currentDatabase()", []string{"database", db}, db + "\n"},
		"setting":                  {"POST", "SELECT getSetting('max_threads')", []string{"max_threads", "3"}, "3\n"},
		"no setting left behind":   {"POST", "SELECT getSetting('max_threads') = 3", nil, "0\n"},
		"parameter":                {"POST", "SELECT {x:UInt64} + 1, {s:String}", []string{"param_x", "41", "param_s", `it\'s\tok\\`}, "42\tit\\'s\\tok\\\\\n"},
		"parameter of arrays":      {"POST", "SELECT {a:Array(String)}", []string{"param_a", `['x','y\'z']`}, "['x','y\\'z']\n"},
		"parameter null":           {"POST", "SELECT {a:Nullable(String)} IS NULL", []string{"param_a", `\N`}, "1\n"},
		"parameter name":           {"POST", "SELECT {c:Identifier} FROM (SELECT 7 AS `a``b`)", []string{"param_c", "a`b"}, "7\n"},
		"braces that are no param": {"POST", "SELECT '{x:UInt8}' /* {y:UInt8} */", nil, "{x:UInt8}\n"},
		"whole answers":            {"POST", "SELECT number FROM numbers(2)", []string{"wait_end_of_query", "1"}, "0\n1\n"},
		"show":                     {"POST", "SHOW DATABASES LIKE '" + db + "'", nil, db + "\n"},
		"session parameters":       {"POST", "SELECT 1", []string{"session_id", "x", "session_timeout", "10", "quota_key", "k"}, "1\n"},
		"empty get":                {"GET", "", nil, "Ok.\n"},
		"nothing to answer":        {"POST", "CREATE TABLE IF NOT EXISTS " + db + ".x (a UInt8) ENGINE = Memory", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := a.ask(c.method, c.body, c.params...)
			if r.status != http.StatusOK || r.body != c.want {
				t.Errorf("got %d %q, want %q", r.status, r.body, c.want)
			}
		})
	}
}

func TestErrorsAreClickHouses(t *testing.T) {
	a := inside(t)
	for name, c := range map[string]struct {
		method, body string
		params       []string
		status       int
		code         string
		text         string
	}{
		"syntax":            {"POST", "SELEC 1 FROM", nil, 400, "62", "Syntax error"},
		"table":             {"POST", "SELECT * FROM no_such", nil, 404, "60", "no_such"},
		"column":            {"POST", "SELECT no_such", nil, 404, "47", "no_such"},
		"database":          {"POST", "SELECT 1", []string{"database", "no_such"}, 404, "81", "no_such"},
		"format":            {"POST", "SELECT 1", []string{"default_format", "NoSuch"}, 404, "73", "NoSuch"},
		"setting":           {"POST", "SELECT 1", []string{"no_such_setting", "1"}, 404, "115", "no_such_setting"},
		"option of a path":  {"POST", "SELECT 1", []string{"path", "/tmp"}, 404, "115", "path"},
		"value of setting":  {"POST", "SELECT 1", []string{"max_threads", "lots"}, 400, "36", "max_threads"},
		"parameter":         {"POST", "SELECT {x:UInt8}", nil, 400, "456", "x"},
		"two statements":    {"POST", "SELECT 1; SELECT 2", nil, 400, "62", "Multi-statements"},
		"write by GET":      {"GET", "", []string{"query", "CREATE DATABASE nope"}, 403, "164", "GET"},
		"insert by GET":     {"GET", "", []string{"query", "INSERT INTO x VALUES (1)"}, 403, "164", "POST"},
		"nothing":           {"POST", "", nil, 400, "62", "empty"},
		"a comment":         {"POST", "/* nothing */", nil, 400, "62", "empty"},
		"method":            {"DELETE", "", nil, 501, "48", "DELETE"},
		"time out":          {"POST", "SELECT sum(sipHash64(number)) FROM numbers(100000000000)", []string{"max_execution_time", "1"}, 408, "159", "Timeout"},
		"insert from input": {"POST", "INSERT INTO x SELECT * FROM input('a UInt8') FORMAT CSV\n1", nil, 501, "48", "input"},
		"memory":            {"POST", "SELECT groupArray(number) FROM numbers(100000000)", []string{"max_memory_usage", "50000000"}, 500, "241", "memory"},
	} {
		t.Run(name, func(t *testing.T) {
			r := a.ask(c.method, c.body, c.params...)
			if r.status != c.status || r.header.Get("X-ClickHouse-Exception-Code") != c.code {
				t.Errorf("got %d, code %q: %s", r.status, r.header.Get("X-ClickHouse-Exception-Code"), r.body)
			}
			if !strings.HasPrefix(r.body, "Code: "+c.code+". DB::Exception: ") || !strings.Contains(r.body, c.text) {
				t.Errorf("text %q", r.body)
			}
		})
	}
}

func TestHealthAndUnknownPaths(t *testing.T) {
	a := inside(t)
	for path, want := range map[string]int{"ping": 200, "replicas_status": 200, "nothing": 404} {
		response, err := a.client.Get(a.base + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("/%s: %d", path, response.StatusCode)
		}
	}
}

func TestHeadersOfAnAnswer(t *testing.T) {
	r := inside(t).ask("POST", "SELECT number FROM numbers(10)", "query_id", "mine", "default_format", "CSV")
	for name, want := range map[string]string{
		"X-ClickHouse-Query-Id": "mine", "X-ClickHouse-Format": "CSV", "X-ClickHouse-Timezone": "UTC",
		"Content-Type": "text/csv; charset=UTF-8; header=absent",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	var summary map[string]string
	if err := json.Unmarshal([]byte(r.header.Get("X-ClickHouse-Summary")), &summary); err != nil || summary["read_rows"] != "10" {
		t.Errorf("summary %v %v", summary, err)
	}
}

// Several chunks must read as one answer, whatever the format.
func TestLargeResultsReadAsOne(t *testing.T) {
	if testing.Short() {
		t.Skip("one statement after the other")
	}
	a := inside(t)
	const n = 300000
	for _, format := range []string{"CSV", "CSVWithNames", "CSVWithNamesAndTypes", "TSVWithNames", "TabSeparatedWithNamesAndTypes", "JSONCompactEachRowWithNames", "JSONEachRow"} {
		body := a.must(fmt.Sprintf("SELECT number AS \"a\nb\" FROM numbers(%d) FORMAT %s", n, format))
		whole := a.must(fmt.Sprintf("SELECT number AS \"a\nb\" FROM numbers(%d) FORMAT %s", n, format), "wait_end_of_query", "1")
		if body != whole {
			t.Errorf("%s: %d bytes streamed, %d bytes whole", format, len(body), len(whole))
		}
	}
	var document struct{ Data []any }
	if err := json.Unmarshal([]byte(a.must(fmt.Sprintf("SELECT number FROM numbers(%d) FORMAT JSON", n))), &document); err != nil || len(document.Data) != n {
		t.Errorf("JSON: %d rows, %v", len(document.Data), err)
	}
}

func TestEncodings(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	a.must("CREATE TABLE e (a UInt64) ENGINE = Memory", "database", db)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for i := range 1000 {
		fmt.Fprintln(z, i)
	}
	z.Close()
	r := a.do("POST", &zipped, http.Header{"Content-Encoding": {"gzip"}}, "query", "INSERT INTO e FORMAT CSV", "database", db)
	if r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for accept, decode := range map[string]func(io.Reader) (io.Reader, error){
		"gzip":               func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"gzip;q=0, zstd":     func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		"identity":           func(r io.Reader) (io.Reader, error) { return r, nil },
		"gzip, deflate, br ": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	} {
		r := a.do("POST", strings.NewReader("SELECT count(), sum(a) FROM e"), http.Header{"Accept-Encoding": {accept}}, "database", db)
		reader, err := decode(strings.NewReader(r.body))
		if err != nil {
			t.Fatalf("%s: %v", accept, err)
		}
		if got, err := io.ReadAll(reader); err != nil || string(got) != "1000\t499500\n" {
			t.Errorf("%s: %q %v", accept, got, err)
		}
	}
	if r := a.do("POST", strings.NewReader("SELECT 1"), http.Header{"Content-Encoding": {"xz"}}); r.status != 501 {
		t.Errorf("unknown encoding: %d", r.status)
	}
	if r := a.do("POST", strings.NewReader("SELECT 1"), http.Header{"Content-Encoding": {"gzip"}}); r.status != 400 {
		t.Errorf("not gzip: %d", r.status)
	}
}

// The plugin's request, see what it sends in a test of the server: revision 54460,
// Basic auth, gzip, the SQL in the body.
func TestGrafanaRequest(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	a.must("CREATE TABLE s (day Date, net Decimal(18,2), name LowCardinality(String), tags Array(String), m Map(String, UInt64), n Nullable(Int32), at DateTime64(6,'UTC')) ENGINE = MergeTree ORDER BY day", "database", db)
	a.must("INSERT INTO s VALUES ('2026-01-01', 10.50, 'lei', ['a'], {'x':1}, NULL, '2026-01-01 00:00:00.5')", "database", db)
	r := a.do("POST", strings.NewReader("SELECT * FROM s"), http.Header{"Accept-Encoding": {"gzip"}, "Authorization": {"Basic ZGVmYXVsdDo="}},
		"client_protocol_version", "54460", "database", db, "default_format", "Native", "max_execution_time", "60")
	if r.status != 200 || r.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%d %v", r.status, r.header)
	}
	z, err := gzip.NewReader(strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	block := proto.Block{ServerContext: &column.ServerContext{}}
	if err := block.Decode(chproto.NewReader(z), 54460); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"day", "net", "name", "tags", "m", "n", "at"}, block.ColumnsNames()); diff != "" || block.Rows() != 1 {
		t.Errorf("%d rows %s", block.Rows(), diff)
	}
	old := a.ask("POST", "SELECT toUInt16(7) AS x", "default_format", "Native")
	if want := "\x01\x01\x01x\x06UInt16" + string(binary.LittleEndian.AppendUint16(nil, 7)); old.body != want {
		t.Errorf("without a version blocks are plain: %q", old.body)
	}
}

func TestParallelQueries(t *testing.T) {
	a := inside(t)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			want := fmt.Sprint(i, "\t", i, "\n")
			got := a.ask("POST", "SELECT sleep(0.05) + {i:UInt32}, getSetting('max_threads')", "param_i", fmt.Sprint(i), "max_threads", fmt.Sprint(i))
			if i > 0 && got.body != want {
				t.Errorf("%q, want %q", got.body, want)
			}
		})
	}
	group.Wait()
}

func TestSessionStateDoesNotLeak(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	a.must("USE " + db)
	a.must("SET max_threads = 7")
	a.must("CREATE TEMPORARY TABLE gone (a UInt8)")
	for range 5 {
		if got := a.must("SELECT currentDatabase(), getSetting('max_threads') = 7"); got != "default\t0\n" {
			t.Fatalf("%q", got)
		}
		if r := a.ask("POST", "SELECT * FROM gone"); r.status != 404 {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
}

func TestMidStreamErrorsAreSeen(t *testing.T) {
	ctx := context.Background()
	sql := "SELECT throwIf(number = 9000000, 'half way') FROM numbers(10000000)"
	rows, err := enginetest.Conn(t, "default").Query(ctx, sql)
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "half way") {
		t.Errorf("the driver saw %v", err)
	}
	r := inside(t).ask("POST", sql)
	if r.status != 200 || r.err == nil || !strings.Contains(r.body, "\r\n__exception__\r\n"+r.header.Get("X-ClickHouse-Exception-Tag")) {
		t.Errorf("%d, broken off: %v, %q", r.status, r.err, r.body[max(0, len(r.body)-300):])
	}
}

func TestGoSurvivesItsOwnFaults(t *testing.T) {
	enginetest.Engine(t)
	defer func() {
		if recover() == nil {
			t.Error("a nil pointer did not become a panic: the engine took the signal handlers")
		}
	}()
	var nothing *clickhouse.Options
	_ = nothing.Addr
}
