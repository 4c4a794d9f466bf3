package reader_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tools are the tests of TestTools, by name.
var tools = map[string]func(*testing.T, *front){
	"odbc": testODBC, "jdbc": testJDBC, "grafana": testGrafana, "python": testPython,
	"first statements": testFirstStatements, "parameters": testParameters, "counts": testCounts,
	"settings": testSettings, "natural SQL": testNaturalSQL, "views": testSomeViews, "spreadsheet": testSpreadsheet,
}

// TestTools sends the requests of tools to the reading interface of one mirrored restaurant,
// as their sources make them.
func TestTools(t *testing.T) {
	notInShort(t)
	f := served(t)
	for name, test := range tools {
		t.Run(name, func(t *testing.T) { test(t, f) })
	}
}

// testPython asks what clickhouse-connect 1.7 asks when it connects (driver/_backend), and
// what Superset and dbt, which use it, ask first.
func testPython(t *testing.T, f *front) {
	connection := url.Values{
		"session_id": {"8a1f"}, "http_headers_progress_interval_ms": {"120000"}, "send_progress_in_http_headers": {"1"},
		"wait_end_of_query": {"1"}, "enable_http_compression": {"1"}, "date_time_input_format": {"best_effort"}, "cancel_http_readonly_queries_on_client_close": {"1"},
	}
	headers := map[string]string{"Accept-Encoding": "zstd", "Content-Type": "text/plain; charset=utf-8", "User-Agent": "superset/5.0.0 sqlalchemy/1.4.54 clickhouse-connect/1.7.2 (lv:py/3.11.9; mode:sync; os:linux)"}
	for _, c := range []struct{ sql, format, protocol, want string }{
		{"SELECT version(), timezone()", "TabSeparated", "", "\tEurope/Bucharest\n"},
		{"SELECT 1 AS check", "Native", "54405", "\x01\x01\x05check\x05UInt8"},
		{"EXISTS DATABASE `larder`", "TabSeparated", "", "1\n"},
		{"SHOW TABLES FROM `larder` LIKE 'cash_up'", "TabSeparated", "", ""},
		{"SELECT * FROM ( \nSELECT count() AS n, max(net_sales) AS best FROM sales_daily \n) LIMIT 0\n FORMAT JSON", "", "54405", `"name": "best"`},
		{"SELECT name, value, readonly FROM system.settings LIMIT 10000\n FORMAT Native", "", "54405", "\x08readonly"},
	} {
		query := url.Values{"database": {"larder"}, "default_format": {c.format}}
		for name, values := range connection {
			query[name] = values
		}
		if c.protocol != "" {
			query.Set("client_protocol_version", c.protocol)
		}
		answer, body := f.ask(t, asked{query: query, headers: headers, body: []byte(c.sql)})
		if text := unpacked(t, answer, body); answer.StatusCode != http.StatusOK || !strings.Contains(text, c.want) {
			t.Errorf("clickhouse-connect: %s: %s %q, without %q", c.sql, answer.Status, text, c.want)
		}
	}
}

// testFirstStatements asks what programs ask when they meet a warehouse.
func testFirstStatements(t *testing.T, f *front) {
	const superset = "session_id=8a1f&client_protocol_version=54405&http_headers_progress_interval_ms=120000&send_progress_in_http_headers=1&wait_end_of_query=1&enable_http_compression=1&default_format=TSV"
	const metabase = "database=default&select_sequential_consistency=1&max_result_rows=2000&result_overflow_mode=break&default_format=TSV"
	for _, c := range []struct{ program, parameters, sql, want string }{
		{"anybody", "", "SHOW TABLES LIKE 'sales_daily%'", "sales_daily\nsales_daily_by_location\nsales_daily_computed\nsales_daily_computed_by_location\n"},
		{"anybody", "", "SELECT currentDatabase(), timezone(), toDate(now()) = today()", "larder\tEurope/Bucharest\t1\n"},
		{"curl", "database=larder", "SELECT count() > 0 FROM locations", "1\n"},
		{"clickhouse-connect", superset, "SELECT count() = 1, any(timezone()) FROM (SELECT version(), timezone())", "1\tEurope/Bucharest\n"},
		{"Superset's tables", superset, "SHOW TABLES FROM `larder` LIKE 'day_close'", "day_close\n"},
		{"Superset's views", superset, "SELECT name FROM system.tables WHERE database = 'larder' AND engine LIKE '%View' AND name = 'sales_items'", "sales_items\n"},
		{"Superset's preview", superset, "SELECT count() FROM (SELECT * FROM `larder`.`locations` LIMIT 100)", "2\n"},
		{"Superset's time grain", superset, "SELECT count() > 0 FROM (SELECT toStartOfDay(toDateTime(created_at)) AS __timestamp, sum(totals_net_sales) AS net FROM larder.sales_orders WHERE created_at >= toDateTime('2020-01-01 00:00:00') AND created_at < toDateTime('2100-01-01 00:00:00') GROUP BY toStartOfDay(toDateTime(created_at)) ORDER BY net DESC LIMIT 1000)", "1\n"},
		{"JDBC's tables", metabase, "SELECT t.name, t.engine, t.comment FROM system.tables t WHERE t.database LIKE 'larder' AND t.name LIKE 'sales_payments'", "sales_payments\tView\tOne row per restaurant, order and payment. Amounts include tips and deposits, so they add up to more than net sales, and method protocol is no money\n"},
		{"JDBC's columns", metabase, "SELECT name, type, position, default_expression, comment FROM system.columns WHERE database = 'larder' AND table = 'sales_payments' AND name = 'at'", "at\tDateTime64(6, \\'Europe/Bucharest\\')\t16\t\tWhen it was paid\n"},
		{"Metabase's field", metabase, "SELECT `larder`.`locations`.`timezone` AS `timezone` FROM `larder`.`locations` GROUP BY `larder`.`locations`.`timezone` ORDER BY `larder`.`locations`.`timezone` ASC LIMIT 1001", "Europe/Bucharest\n"},
		{"Metabase's day", metabase, "SELECT count() > 0 FROM (SELECT toStartOfDay(`larder`.`sales_orders`.`created_at`) AS `created_at`, sum(`larder`.`sales_orders`.`totals_net_sales`) AS `sum` FROM `larder`.`sales_orders` WHERE (`larder`.`sales_orders`.`created_at` >= parseDateTimeBestEffort('2020-01-01T00:00:00')) GROUP BY `created_at` ORDER BY `created_at` ASC)", "1\n"},
		{"JDBC's catalogue", metabase, "SELECT countIf(name = 'larder'), countIf(name = 'larder_raw') FROM system.databases", "1\t0\n"},
		{"DBeaver's tables", "session_id=sess_1&default_format=TSV", "SELECT count(), any(TABLE_TYPE) FROM (SELECT name as TABLE_NAME, engine as TABLE_TYPE, database as TABLE_SCHEM,comment as REMARKS, * FROM system.tables\nWHERE database = 'larder' and name='locations')", "1\tView\n"},
		{"DBeaver's engines", "session_id=sess_1", "SELECT count() > 0 FROM (SELECT name FROM system.table_engines)", "1\n"},
		{"a day of Grafana's $__timeInterval", "", "SELECT toHour(toStartOfInterval(toDateTime(created_at), INTERVAL 86400 second)) IN (2, 3), toHour(toStartOfDay(created_at)) FROM sales_orders LIMIT 1", "1\t0\n"},
		{"information_schema", "", "SELECT table_name FROM information_schema.tables WHERE table_schema = currentDatabase() AND table_name = 'products'", "products\n"},
		{"Tableau's types", "join_use_nulls=1&session_id=tableau-jdbc-connector-1", "SELECT CAST('x' AS LowCardinality(String)), toTypeName(CAST(NULL AS Nullable(Int32)))", "x\tNullable(Int32)\n"},
	} {
		if got := f.text(t, c.parameters, c.sql); got != c.want {
			t.Errorf("%s: %s\n%s", c.program, c.sql, got)
		}
	}
}

// testCounts reads what the headers of an answer count.
func testCounts(t *testing.T, f *front) {
	const sql = "SELECT sum(number) FROM numbers(1000000)"
	answer, _ := f.ask(t, asked{query: url.Values{"send_progress_in_http_headers": {"1"}, "wait_end_of_query": {"1"}}, body: []byte(sql)})
	for _, name := range []string{"X-ClickHouse-Summary", "X-ClickHouse-Progress"} {
		var counted map[string]string
		if err := json.Unmarshal([]byte(answer.Header.Get(name)), &counted); err != nil {
			t.Errorf("%s: %v: %s", name, err, answer.Header.Get(name))
			continue
		}
		elapsed, err := strconv.ParseInt(counted["elapsed_ns"], 10, 64)
		if counted["read_rows"] != "1000000" || counted["result_rows"] != "1" || elapsed <= 0 || err != nil {
			t.Errorf("%s: %v", name, counted)
		}
	}
	if answer, _ := f.ask(t, asked{body: []byte(sql)}); answer.Header["X-Clickhouse-Progress"] != nil {
		t.Error("progress that was not asked for:", answer.Header)
	}
}

// testSettings compares what system.settings says of a setting with what is taken: clients
// send only what is not readonly there.
func testSettings(t *testing.T, f *front) {
	if got := f.text(t, "", "SELECT name FROM system.settings WHERE readonly"); got != "readonly\n" {
		t.Errorf("not changeable: %s", got)
	}
	for _, parameters := range []string{"max_threads=2", "max_result_rows=9223372036854775807", "output_format_json_quote_64bit_integers=1", "date_time_output_format=iso", "max_execution_time=30", "session_timezone=Asia/Tokyo", "allow_experimental_analyzer=1"} {
		name, value, _ := strings.Cut(parameters, "=")
		if got := f.text(t, parameters, "SELECT toString(getSetting('"+name+"'))"); !strings.HasPrefix(got, value[:1]) && got != "true\n" && got != "false\n" {
			t.Errorf("%s: %s", parameters, got)
		}
		f.text(t, "", "SELECT 1 SETTINGS "+name+" = '"+value+"'")
	}
	answer, body := f.ask(t, asked{query: url.Values{"readonly": {"0"}}, body: []byte("SELECT getSetting('readonly')")})
	if string(body) != "2\n" {
		t.Errorf("readonly = 0: %s %s", answer.Status, body)
	}
}

// testNaturalSQL asks what people ask who know SQL and not ClickHouse, and what a program
// gets that has its own mind.
func testNaturalSQL(t *testing.T, f *front) {
	const bothWays = "SELECT * FROM (SELECT 1 AS a UNION SELECT 1 AS a)"
	for _, c := range []struct{ what, sql, want, own, ofOwn string }{
		{"an outer join finds nothing: NULL", "SELECT countIf(o.number IS NULL) = count(), count() > 0 FROM products p LEFT JOIN sales_orders o ON o.id = p.id", "1\t1\n", "join_use_nulls=0", "1\t1\n"},
		{"of a column that is never NULL", "SELECT any(n) FROM (SELECT o.line_count AS n FROM products p LEFT JOIN sales_orders o ON o.id = p.id)", "\\N\n", "join_use_nulls=0", "0\n"},
		{"a CAST of it", "SELECT any(n) FROM (SELECT CAST(o.line_count AS Int32) AS n FROM products p LEFT JOIN sales_orders o ON o.id = p.id)", "\\N\n", "join_use_nulls=0&cast_keep_nullable=0", "0\n"},
		{"a column's name for its sum", "SELECT sum(totals_net_sales) AS totals_net_sales, avg(totals_net_sales) > 0 FROM sales_orders FORMAT Null", "", "prefer_column_name_to_alias=0", "Code: 184"},
		{"UNION", bothWays, "1\n", "union_default_mode=ALL", "1\n1\n"},
		{"a zone", "SELECT toString(toDateTime(0))", "1970-01-01 02:00:00\n", "session_timezone=UTC", "1970-01-01 00:00:00\n"},
		{"a database", "SELECT currentDatabase()", "larder\n", "database=system", "system\n"},
	} {
		if got := f.text(t, "", c.sql); got != c.want {
			t.Errorf("%s: %s\n%s", c.what, c.sql, got)
		}
		query, err := url.ParseQuery(c.own)
		if err != nil {
			t.Fatal(err)
		}
		if _, body := f.ask(t, asked{query: query, body: []byte(c.sql)}); !strings.HasPrefix(string(body), c.ofOwn) {
			t.Errorf("%s, with %s: %s\n%s", c.what, c.own, c.sql, body)
		}
	}
	if got := f.text(t, "", bothWays+" SETTINGS union_default_mode = 'ALL'"); got != "1\n1\n" {
		t.Error("a setting of the statement itself:", got)
	}
}

// testSomeViews compares one view in eight; TestViewsUnderOtherDefaults compares all.
func testSomeViews(t *testing.T, f *front) { testViews(t, f, 8) }

// testViews compares views under the session's defaults with the same under the engine's:
// what a program sets must not change what the views say.
func testViews(t *testing.T, f *front, step int) {
	const engines = "join_use_nulls=0&prefer_column_name_to_alias=0&union_default_mode=&cast_keep_nullable=0"
	views := strings.Fields(f.text(t, "", "SELECT name FROM system.tables WHERE database = 'larder' ORDER BY name"))
	if len(views) < 40 {
		t.Error("views:", views)
	}
	for i, view := range views {
		if i%step != 0 {
			continue
		}
		sql := "SELECT count(), sum(cityHash64(toString(tuple(*)))) FROM " + view
		if got, want := f.text(t, "", sql), f.text(t, engines, sql); got != want {
			t.Errorf("%s: %s, under the engine's defaults %s", view, got, want)
		}
	}
}

// recipe is a request in docs/bi-tools.md, and delimited a row of its answer.
var (
	recipe    = regexp.MustCompile("(?s)'http://127.0.0.1:8123/\\?(\\S+)' --data-binary @- <<'SQL'\n(.*?)\nSQL\n")
	delimited = regexp.MustCompile(`^"\d{4}-\d\d-\d\d";\d+;"-?\d+(,\d+)?";("-?\d+(,\d+)?")?;"\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d"$`)
)

// testSpreadsheet sends the recipe of docs/bi-tools.md for Excel in Romania.
func testSpreadsheet(t *testing.T, f *front) {
	page, err := os.ReadFile("../../../docs/bi-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	found := recipe.FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/bi-tools.md has no recipe")
	}
	head, rows, _ := strings.Cut(strings.TrimSpace(f.text(t, string(found[1]), string(found[2]))), "\n")
	if head != `"Zi";"Comenzi";"Vânzări nete";"Discount, %";"Actualizat"` {
		t.Error("names:", head)
	}
	for row := range strings.SplitSeq(rows, "\n") {
		if !delimited.MatchString(row) {
			t.Error("a row:", row)
		}
	}
	const empty = "SELECT replaceOne(toString(toDecimal64(-1234.5, 2)), '.', ','), CAST(NULL AS Nullable(Float64)), 'ș; \"da\"' FORMAT CSV"
	if got, want := f.text(t, string(found[1]), empty), "\"-1234,5\";;\"ș; \"\"da\"\"\"\n"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
