package server_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
)

// outside asks over the read-only TCP listener.
func outside(t testing.TB, user, password string) *asker {
	addr, err := embeddedtest.Engine(t).ListenTCP(context.Background(), "127.0.0.1:0", user, password)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &asker{t: t, client: &http.Client{Transport: transport}, base: "http://" + addr.String() + "/"}
}

func TestOutsideReads(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	db := embeddedtest.Database(t)
	in.must("CREATE TABLE r (a UInt64, at DateTime, file_name String) ENGINE = MergeTree ORDER BY a", "database", db)
	in.must("INSERT INTO r SELECT number, toDateTime(number * 3600), 'x' FROM numbers(100)", "database", db)
	in.must("CREATE VIEW v AS SELECT a FROM r", "database", db)
	for sql, want := range map[string]string{
		"SELECT count() FROM r":                     "100\n",
		"(SELECT count() FROM v)":                   "100\n",
		"WITH x AS (SELECT 1 AS y) SELECT y FROM x": "1\n",
		"/* INSERT INTO */ SELECT 'INSERT INTO r; DROP TABLE r -- `file`(' FORMAT TSV": "INSERT INTO r; DROP TABLE r -- `file`(\n",
		"SHOW TABLES":                         "r\nv\n",
		"EXISTS TABLE r":                      "1\n",
		"SELECT sum(number) FROM numbers(10)": "45\n",
		"SELECT \"file_name\" FROM `" + db + "`.r LIMIT 1":                                                 "x\n",
		"SELECT count() FROM r WHERE at >= toDateTime(0) AND at <= toDateTime(3600)":                       "2\n",
		"SELECT 'ș', 'a$b', '#'":                                                                           "ș\ta$b\t#\n",
		"SELECT count() FROM r FINAL WHERE file_name = {n:String}":                                         "100\n",
		"SELECT getSetting('max_threads') SETTINGS max_threads = 3, session_timezone = 'Europe/Bucharest'": "3\n",
		"SELECT toHour(toDateTime(0)) FORMAT CSV SETTINGS session_timezone = 'Europe/Bucharest'":           "2\n",
		"SELECT toHour(toDateTime(0)) SETTINGS session_timezone = 'Europe/Bucharest' FORMAT CSV;":          "2\n",
		"SELECT format('{}-{}', 'a', 'b'), (1, 2).1":                                                       "a-b\t1\n",
		"SELECT count() > 100 FROM system.settings":                                                        "1\n",
		"SELECT s.name FROM system.settings AS s WHERE s.name = 'readonly'":                                "readonly\n",
	} {
		r := out.ask("POST", sql, "database", db, "param_n", "x", "max_execution_time", "10", "output_format_json_quote_64bit_integers", "0")
		if strings.Contains(sql, "FINAL") {
			continue // ReplacingMergeTree only: what counts is that it is not refused as a write
		}
		if r.status != 200 || r.body != want {
			t.Errorf("%s: %d %q", sql, r.status, r.body)
		}
	}
	for _, sql := range []string{"DESCRIBE TABLE r", "EXPLAIN SELECT * FROM r", "SHOW CREATE TABLE r", "SELECT version()", "SHOW DATABASES", "SHOW SETTINGS LIKE 'max_threads'", "EXPLAIN indexes = 1 SELECT * FROM r"} {
		if r := out.ask("GET", "", "query", sql, "database", db); r.status != 200 || r.body == "" {
			t.Errorf("%s: %d %q", sql, r.status, r.body)
		}
	}
}

// What a reader sets for the answer does not hold for the look at the statement.
func TestAnswersHaveTheReadersLimits(t *testing.T) {
	out := outside(t, "", "")
	const sql = "SELECT number, number + 1, number + 2 FROM numbers(3)"
	for _, settings := range [][]string{
		{"max_result_rows", "3"}, {"max_result_rows", "1", "result_overflow_mode", "break"}, {"limit", "1"}, {"offset", "1"}, {"max_rows_to_read", "3"},
		{"max_result_bytes", "100"},
	} {
		if r := out.ask("POST", sql, settings...); r.status != 200 || !strings.Contains(r.body, "\n") {
			t.Errorf("%v: %d %q", settings, r.status, r.body)
		}
	}
	if r := out.ask("POST", sql, "max_result_rows", "2"); r.status == 200 || !strings.Contains(r.body, "TOO_MANY_ROWS") {
		t.Errorf("%d %q", r.status, r.body)
	}
}

// What is mistyped is told in the engine's own words, with the places counted in
// the statement as it was sent.
func TestOutsideTellsWhatIsMistyped(t *testing.T) {
	out := outside(t, "", "")
	for sql, want := range map[string]string{
		"SELCT 1":                             "failed at position 1 (SELCT)",
		"SELECT 1 FRM t":                      "failed at position 14 (t)",
		"SELECT 1,\n  FROM system.one\nWHERE": "line 3, col 6",
		"SELECT 'a":                           "Single quoted string is not closed",
		"SELECT (1":                           "Unmatched parentheses",
		// With the format that the server adds these are something else, or nothing.
		"SELECT 1 FROM":                          "failed at position 14 (end of query)",
		"  SELECT 1\nFROM ":                      "(line 2, col 5)",
		"SELECT 1 WHERE":                         "(end of query)",
		"SELECT 1 AS":                            "(end of query)",
		"SELECT 1,":                              "failed at position 9 (,): nothing follows this comma",
		"DESCRIBE":                               "failed at position 9 (end of query)",
		"SHOW":                                   "(end of query)",
		"SELECT {x:UInt8} + {x:UInt8} FRM t":     "failed at position 34 (t)",
		"SELECT 1 SETTINGS max_threads = 1 FRM":  "failed at position 35 (FRM)",
		"SELECT 1 SETTINGS max_threads 1":        "failed at position 31 (1)",
		"SELECT 1 FRM t FORMAT JSN":              "failed at position 14 (t)",
		"SELECT nofunction(1) FRM t":             "failed at position 26 (t)",
		"SELECT 1 FRM t SETTINGS max_thread = 2": "failed at position 14 (t)",
	} {
		r := out.ask("POST", sql, "param_x", "1")
		if r.status != 400 || !strings.Contains(r.body, want) || !strings.Contains(r.body, "(SYNTAX_ERROR)") || strings.Contains(r.body, "formatQuery") {
			t.Errorf("%s: %d %q", sql, r.status, r.body)
		}
	}
}

// So are names that it does not know, of whatever: with those that may have been meant.
func TestOutsideTellsWhichNameIsMistyped(t *testing.T) {
	out := outside(t, "", "")
	for sql, want := range map[string][]string{
		"SELECT x FROM system.one":                        {"UNKNOWN_IDENTIFIER"},
		"SELECT dumy FROM system.one":                     {"UNKNOWN_IDENTIFIER", "Maybe you meant: ['dummy']"},
		"SELECT * FROM nothing":                           {"UNKNOWN_TABLE"},
		"SELECT * FROM nowhere.nothing":                   {"UNKNOWN_DATABASE"},
		"SELECT * FROM system.tabels":                     {"UNKNOWN_TABLE", "Maybe you meant"},
		"SELECT nofunction(1)":                            {"UNKNOWN_FUNCTION", "nofunction"},
		"SELECT toStrng(1)":                               {"UNKNOWN_FUNCTION", "'toString'"},
		"SELECT * APPLY(toStrng) FROM system.one":         {"UNKNOWN_FUNCTION", "'toString'"},
		"SELECT * FROM numbes(3)":                         {"UNKNOWN_FUNCTION", "'numbers'"},
		"DESCRIBE TABLE numbes(3)":                        {"UNKNOWN_FUNCTION", "'numbers'"},
		"SELECT * FROM (SELECT 1 FROM view(SELECT f(1)))": {"UNKNOWN_FUNCTION"},
		"SELECT CAST(1 AS Strng)":                         {"UNKNOWN_TYPE", "'String'"},
		"SELECT 1::Nullable(Strng)":                       {"UNKNOWN_TYPE", "'String'"},
		"SELECT {x:Strng}":                                {"UNKNOWN_TYPE", "'String'"},
		"SELECT JSONExtract('{}', 'a', 'Strng')":          {"UNKNOWN_TYPE", "'String'"},
		"SELECT 1 FORMAT JSN":                             {"UNKNOWN_FORMAT", "'JSON'"},
		"SELECT 1 SETTINGS max_thread=2":                  {"UNKNOWN_SETTING", "'max_threads'"},
		"SELECT 1 FORMAT CSV SETTINGS max_thread=2":       {"UNKNOWN_SETTING", "'max_threads'"},
	} {
		for _, method := range []string{"GET", "POST"} {
			r := out.ask(method, "", "query", sql, "param_x", "1")
			for _, part := range want {
				if !strings.Contains(r.body, part) {
					t.Errorf("%s: %d %q, want %s", sql, r.status, r.body, part)
				}
			}
			if r.status != 404 && r.status != 400 || strings.Contains(r.body, "cope SELECT CAST(NULL") || strings.Contains(r.body, "DESCRIBE (") || strings.Contains(r.body, "()") || strings.Count(r.body, "Code: ") != 1 {
				t.Errorf("%s: %d %q", sql, r.status, r.body)
			}
		}
	}
	for name, value := range map[string]string{"max_thread": "2", "default_format": "JSN"} {
		if r := out.ask("POST", "SELECT 1", name, value); r.status != 404 || !strings.Contains(r.body, "Maybe you meant") {
			t.Errorf("%s: %d %q", name, r.status, r.body)
		}
	}
	// What the engine knows and readers may not have is still refused as that.
	for sql, want := range map[string]string{
		"SELECT file('x')": "function file is not taken here", "SELECT * FROM file('x')": "function file is not taken here",
		"SELECT CAST('{}' AS JSON)": "makes no value of type JSON here", "SELECT 1 FORMAT Template": "the format Template is not taken here",
		"SELECT 1 INTO OUTFILE 'x'":              "files are not written or read here",
		"SELECT 1 SETTINGS max_memory_usage = 0": "Cannot modify 'max_memory_usage' setting",
		"SET max_threads=2":                      "nothing can be set for later statements here: write SETTINGS name = value at the end of a statement",
		"USE larder":                             "pass ?database=", "SYSTEM FLUSH LOGS": "only SELECT, WITH, SHOW, DESCRIBE, EXPLAIN and EXISTS are taken here",
	} {
		if r := out.ask("POST", sql); r.status != 403 || !strings.Contains(r.body, want) || !strings.Contains(r.body, "(READONLY)") {
			t.Errorf("%s: %d %q, want %s", sql, r.status, r.body, want)
		}
	}
}

// waysAround are statements that would change a table r, or read or write a file.
func waysAround(secret, written string) []string {
	return []string{
		"INSERT INTO r VALUES (2)",
		"INSERT INTO r SELECT 2",
		"INSERT INTO r FORMAT CSV\n2\n",
		"/* SELECT */ INSERT INTO r VALUES (2)",
		"-- SELECT\nINSERT INTO r VALUES (2)",
		"  \n\t(INSERT INTO r VALUES (2))",
		"WITH x AS (SELECT 2 AS a) INSERT INTO r SELECT a FROM x",
		"WITH 2 AS a INSERT INTO r SELECT a",
		"SELECT 1; INSERT INTO r VALUES (2)",
		"SELECT 1;\n;DROP TABLE r",
		"SELECT 1 PARALLEL WITH DROP TABLE r",
		"EXPLAIN SELECT 1; DROP TABLE r",
		"SELECT 1 /* */ ; /* */ DROP TABLE r",
		"SELECT 1 /* /* */ ; DROP TABLE r -- */",
		"SELECT 'a\\'' ; DROP TABLE r -- '",
		"SELECT $x$ $x$; DROP TABLE r",
		"SELECT 1 # \n; DROP TABLE r",
		"SELECT ‘a’; DROP TABLE r",
		"DROP TABLE r", "TRUNCATE TABLE r", "ALTER TABLE r DELETE WHERE 1", "DELETE FROM r WHERE 1", "UPDATE r SET a = 2 WHERE 1",
		"RENAME TABLE r TO q", "OPTIMIZE TABLE r FINAL", "DETACH TABLE r", "EXCHANGE TABLES r AND r", "UNDROP TABLE r",
		"CREATE TABLE q (a UInt8) ENGINE = Memory", "CREATE TEMPORARY TABLE q (a UInt8)", "CREATE VIEW q AS SELECT 1",
		"CREATE DATABASE q", "CREATE FUNCTION q AS x -> x", "CREATE USER q", "CREATE NAMED COLLECTION q AS a = 1",
		"CREATE DICTIONARY q (a UInt64) PRIMARY KEY a SOURCE(FILE(path '" + secret + "' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
		"ATTACH TABLE q FROM '/tmp' (a UInt8) ENGINE = MergeTree ORDER BY a",
		"SYSTEM FLUSH LOGS", "SYSTEM SHUTDOWN", "SYSTEM STOP MERGES", "KILL QUERY WHERE 1 ASYNC", "GRANT ALL ON *.* TO default",
		"SET readonly = 0", "SET max_threads = 1", "USE system", "BEGIN TRANSACTION", "CHECK TABLE r", "1 + 1", "",
		"BACKUP TABLE r TO File('" + written + "')", "EXECUTE AS default SELECT 1",
		"SELECT 1 SETTINGS readonly = 0", "SELECT * FROM (SELECT 1 SETTINGS readonly = 0)",
		"SELECT * FROM (SELECT * FROM `" + secret + "` SETTINGS readonly = 0)", "SELECT * FROM (SELECT * FROM default.`" + secret + "` SETTINGS/**/`readonly` = 0)", "SELECT 1 FORMAT TSV SETTINGS readonly = 0",
		"SELECT 1 SETTINGS max_memory_usage = 0", "SELECT 1 SETTINGS format_schema_source = 'file'",
		"SELECT 1 INTO OUTFILE '" + written + "'", "SELECT 1 INTO/**/OUTFILE '" + written + "' FORMAT CSV",
		"EXPLAIN SELECT 1 INTO OUTFILE '" + written + "'", "SHOW TABLES INTO OUTFILE '" + written + "'",
		"SELECT * FROM file('" + secret + "')", "SELECT * FROM file ( '" + secret + "', CSV)", "SELECT * FROM FILE('" + secret + "')",
		"SELECT file('" + secret + "')", "SELECT FILE('" + secret + "')", "SELECT `file`('" + secret + "')", "SELECT \"file\"('" + secret + "')",
		"SELECT `fi\\x6ce`('" + secret + "')", "SELECT fi/**/le('" + secret + "')", "SELECT file/**/('" + secret + "')", "SELECT file--\n('" + secret + "')",
		"SELECT * APPLY(file) FROM (SELECT '" + secret + "' AS a)", "SELECT COLUMNS('a') APPLY `file` FROM (SELECT '" + secret + "' AS a)",
		"SELECT * APPLY(x -> file(x)) FROM (SELECT '" + secret + "' AS a)", "SELECT arrayMap(x -> file(x), ['" + secret + "'])",
		"SELECT {f:Identifier}('" + secret + "')", "SELECT * FROM {f:Identifier}('" + secret + "')",
		"DESCRIBE TABLE file('" + secret + "')", "DESCRIBE file('" + secret + "')", "EXPLAIN SELECT file('" + secret + "')",
		"SELECT * FROM `" + secret + "`", "SELECT * FROM '" + secret + "'", "SELECT * FROM default.`" + secret + "`", "SELECT * FROM \"" + secret + "\"",
		"SELECT * FROM `file:" + secret + "`", "EXISTS TABLE file('" + secret + "')", "DESCRIBE `" + secret + "`",
		"SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')", "SELECT * FROM `http://127.0.0.1:1/x.csv`",
		"SELECT * FROM s3('http://127.0.0.1:1/b/k', CSV)", "SELECT * FROM remote('127.0.0.1', system.one)", "SELECT * FROM remoteSecure('127.0.0.1', system.one)",
		"SELECT * FROM cluster('default', system.one)", "SELECT * FROM mysql('127.0.0.1:1', 'd', 't', 'u', 'p')", "SELECT * FROM postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')",
		"SELECT * FROM sqlite('" + secret + "', 't')", "SELECT * FROM executable('id', TSV, 'a String')", "SELECT * FROM hdfs('hdfs://127.0.0.1:1/', CSV, 'a String')",
		"SELECT * FROM filesystem('/')", "SELECT * FROM eval('SELECT 1')", "SELECT * FROM Python('x')", "SELECT * FROM python(x)", "SELECT * FROM input('a UInt8')",
		"SELECT * FROM iceberg('http://127.0.0.1:1/')", "SELECT * FROM deltaLakeLocal('/tmp')", "SELECT * FROM mongodb('127.0.0.1:1','d','c','u','p','a String')",
		"SELECT hasColumnInTable('127.0.0.1:1', 'd', 't', 'c')", "SELECT reverseDNSQuery('127.0.0.1')", "SELECT catboostEvaluate('" + secret + "', 1)",
		"SELECT 1 FROM view(SELECT file('" + secret + "'))", "SELECT * FROM loop(file('" + secret + "'))", "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT file('" + secret + "')))",
		"SELECT joinGet(`file`, 'a', 1)", "SELECT 1 WHERE (SELECT file('" + secret + "')) != ''", "WITH file('" + secret + "') AS x SELECT x",
		"SELECT * FROM merge(REGEXP('.*'), file('" + secret + "'))", "SELECT * FROM r FORMAT Template SETTINGS format_template_row = '" + secret + "'",
	}
}

// Each is a way around that was thought of. None may change anything, read a
// file, or reach another machine.
func TestOutsideCannotGetAround(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	db := embeddedtest.Database(t)
	in.must("CREATE TABLE r (a UInt64) ENGINE = MergeTree ORDER BY a", "database", db)
	in.must("INSERT INTO r VALUES (1)", "database", db)
	secret := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("1234567\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(t.TempDir(), "written")
	before := in.must("SELECT groupArray((database, name, total_rows)) FROM (SELECT * FROM system.tables WHERE database = '" + db + "' ORDER BY name)")
	for _, sql := range waysAround(secret, written) {
		for _, method := range []string{"POST", "GET"} {
			r := out.ask(method, "", "query", sql, "database", db, "param_f", "file")
			if r.status == 200 && sql != "" {
				t.Errorf("%s %s: %q", method, sql, r.body)
			}
			if strings.Contains(r.body, "1234567") {
				t.Errorf("%s %s tells the secret: %q", method, sql, r.body)
			}
		}
	}
	out.refusesSettings(t, db, secret, written)
	after := in.must("SELECT groupArray((database, name, total_rows)) FROM (SELECT * FROM system.tables WHERE database = '" + db + "' ORDER BY name)")
	if before != after {
		t.Errorf("before %s after %s", before, after)
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("a file was written")
	}
}

func (out *asker) refusesSettings(t *testing.T, db, secret, written string) {
	t.Helper()
	for _, setting := range []string{"readonly=0", "readonly=2", "allow_ddl=1", "max_memory_usage=0", "format_template_row=" + secret,
		"output_format_schema=" + written, "format_schema=" + secret, "log_queries=1", "s3_max_connections=1", "allow_introspection_functions=1"} {
		name, value, _ := strings.Cut(setting, "=")
		r := out.ask("POST", "INSERT INTO r VALUES (2)", "database", db, name, value)
		if r.status == 200 || r.header.Get("X-ClickHouse-Exception-Code") != "164" {
			t.Errorf("%s: %d %s", setting, r.status, r.body)
		}
		if name != "readonly" {
			if r := out.ask("POST", "SELECT 1", "database", db, name, value); r.status != 403 {
				t.Errorf("%s: %d %s", setting, r.status, r.body)
			}
		}
	}
	if r := out.ask("POST", "SELECT getSetting('readonly')", "readonly", "0"); r.body != "1\n" {
		t.Errorf("readonly=0 of the URL: %s", r.body)
	}
	if r := out.ask("POST", "1\n", "query", "INSERT INTO r FORMAT CSV", "database", db); r.status != 403 {
		t.Errorf("insert: %d", r.status)
	}
}

func TestOutsideAsksForThePassword(t *testing.T) {
	out := outside(t, "bi", "s3cret")
	basic := func(user, password string) http.Header {
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return r.Header
	}
	for name, c := range map[string]struct {
		header http.Header
		params []string
		want   int
	}{
		"none":         {nil, nil, 403},
		"basic":        {basic("bi", "s3cret"), nil, 200},
		"wrong":        {basic("bi", "s3cre"), nil, 403},
		"wrong user":   {basic("default", "s3cret"), nil, 403},
		"headers":      {http.Header{"X-Clickhouse-User": {"bi"}, "X-Clickhouse-Key": {"s3cret"}}, nil, 200},
		"URL":          {nil, []string{"user", "bi", "password", "s3cret"}, 200},
		"wrong URL":    {nil, []string{"user", "bi", "password", ""}, 403},
		"empty basic":  {basic("", ""), nil, 403},
		"basic first":  {basic("bi", "wrong"), []string{"user", "bi", "password", "s3cret"}, 403},
		"only the key": {http.Header{"X-Clickhouse-Key": {"s3cret"}}, nil, 403},
	} {
		r := out.do("POST", strings.NewReader("SELECT 1"), c.header, c.params...)
		if r.status != c.want {
			t.Errorf("%s: %d", name, r.status)
		}
		if strings.Contains(r.body, "s3cret") {
			t.Errorf("%s: the password is in the answer", name)
		}
	}
	conn, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{strings.TrimSuffix(strings.TrimPrefix(out.base, "http://"), "/")}, Auth: clickhouse.Auth{Username: "bi", Password: "s3cret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Ping(context.Background()); err != nil {
		t.Error(err)
	}
	if err := conn.Exec(context.Background(), "CREATE DATABASE nope"); err == nil {
		t.Error("the driver could write")
	}
}

// A web page can give this machine a name of its own, and would read along.
func TestOutsideIsNoneOfAWebPagesBusiness(t *testing.T) {
	out := outside(t, "", "")
	for host, want := range map[string]int{"localhost:8123": 200, "127.0.0.1": 200, "[::1]:8123": 200, "evil.example:8123": 403, "": 200} {
		request, err := http.NewRequest(http.MethodPost, out.base, strings.NewReader("SELECT 1"))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := out.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d", host, response.StatusCode)
		}
		if cors := response.Header.Get("Access-Control-Allow-Origin"); cors != "" {
			t.Errorf("CORS: %s", cors)
		}
	}
}

func TestAnOpenAddressNeedsAPassword(t *testing.T) {
	engine := embeddedtest.Engine(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "nonsense"} {
		if _, err := engine.ListenTCP(context.Background(), address, "", ""); err == nil || !strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := engine.ListenTCP(context.Background(), "0.0.0.0:0", "bi", "x"); err != nil {
		t.Error(err)
	}
	addr, err := engine.ListenTCP(context.Background(), "127.0.0.1:0", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.ListenTCP(context.Background(), addr.String(), "", ""); err == nil || !strings.Contains(err.Error(), "http_listen") {
		t.Errorf("port taken: %v", err)
	}
}
