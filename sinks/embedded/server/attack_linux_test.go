package server

import (
	"bufio"
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// attacks are ways into files, other machines and the warehouse's own rows that
// were found or thought of. testdata/attacks.sql holds one to a line; # begins a
// remark. {csv} and the like stand for the bait.
func attacks(t testing.TB, b *bait) (all []string) {
	t.Helper()
	file, err := os.Open("testdata/attacks.sql")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "# ") {
			all = append(all, b.fill(strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00").Replace(line)))
		}
	}
	if err := lines.Err(); err != nil || len(all) < 200 {
		t.Fatalf("%d attacks: %v", len(all), err)
	}
	return all
}

// Each attack is refused by the server, by itself: none comes as far as the engine's
// access control.
func TestAttacksEndAtTheServer(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	before := state(t, engine)
	for _, sql := range attacks(t, b) {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			w := b.ask(engine, method, sql, url.Values{"param_f": {"file"}, "param_pb": {"Protobuf"}, "param_p": {b.fill("{csv}")}})
			if w.Code == http.StatusOK {
				t.Errorf("%s %q is answered: %q", method, sql, w.Body)
			}
			if code := w.Header().Get("X-ClickHouse-Exception-Code"); code == "497" {
				t.Errorf("%s %q passed the server: %q", method, sql, w.Body)
			}
			b.untouched(sql)
		}
	}
	if after := state(t, engine); after != before {
		t.Errorf("the warehouse changed: before %s after %s", before, after)
	}
	if now := children(t); !slices.Equal(now, b.children) {
		t.Errorf("processes were started: %v, before %v", now, b.children)
	}
}

// What the server cannot see is stopped by the engine's access control: on any
// connection, whatever its settings.
func TestTheEngineHasNoSources(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	sources := []string{
		"SELECT * FROM file('{csv}')", "SELECT * FROM file('{csv}', CSV, 'a String')", "SELECT * FROM `{csv}`", "SELECT * FROM default.`{csv}`",
		"SELECT * FROM (SELECT * FROM default.`{csv}` SETTINGS a.b = 1, readonly = 0)", "SELECT * FROM (SELECT * FROM `{csv}`)",
		"SELECT * FROM url('http://{host}/', CSV, 'a String')", "SELECT * FROM default.`http://{host}/x.csv`", "SELECT * FROM s3('http://{host}/b/k', CSV, 'a String')",
		"SELECT * FROM remote('{host}', system.one)", "SELECT * FROM remoteSecure('{host}', system.one)", "SELECT * FROM mysql('{host}', 'd', 't', 'u', 'p')",
		"SELECT * FROM postgresql('{host}', 'd', 't', 'u', 'p')", "SELECT * FROM executable('id', TSV, 'a String')",
		"SELECT * FROM filesystem('{dir}')", "SELECT * FROM mongodb('{host}','d','c','u','p','a String')", "SELECT * FROM redis('{host}', 'k', 'k String, v String')",
		"SELECT * FROM deltaLakeLocal('{dir}')", "SELECT * FROM icebergLocal('{dir}')", "SELECT * FROM jdbc('jdbc:x', 'y')", "SELECT * FROM odbc('DSN=x', 'y', 'z')",
		"INSERT INTO FUNCTION file('{new}', CSV, 'a String') SELECT 'x'", "INSERT INTO FUNCTION url('http://{host}/', CSV, 'a String') SELECT 'x'",
		"CREATE TABLE larder.f (a String) ENGINE = File(CSV, '{csv}')", "CREATE TABLE larder.f (a String) ENGINE = URL('http://{host}/', CSV)",
		"CREATE TABLE larder.f AS file('{csv}')", "CREATE VIEW larder.f AS SELECT * FROM file('{csv}')", "CREATE TABLE default.f (a UInt8) ENGINE = Memory",
		"CREATE DATABASE other", "CREATE DATABASE other ENGINE = Filesystem('{dir}')", "CREATE DATABASE larder2 ENGINE = SQLite('{csv}')",
		"CREATE USER q", "GRANT ALL ON *.* TO default", "CREATE FUNCTION q AS x -> x", "BACKUP DATABASE larder TO File('{new}')", "RESTORE DATABASE larder AS b FROM File('{dir}')",
		"CREATE DICTIONARY larder.d (a UInt64) PRIMARY KEY a SOURCE(FILE(path '{csv}' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
		"SYSTEM SHUTDOWN", "SYSTEM RELOAD CONFIG", "SELECT * FROM system.symbols",
	}
	for _, settings := range []map[string]string{nil, {"readonly": "1"}, {"readonly": "2"}} {
		for _, sql := range sources {
			sql = b.fill(sql)
			var out []byte
			err := engine.engine.Pool().Use(context.Background(), embedded.Session{Database: "larder", Settings: settings}, func(c *embedded.Conn) (err error) {
				out, err = c.Ask(sql, "TSV")
				c.Spoil()
				return err
			})
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%v %q: %q %v", settings, sql, out, err)
			}
			b.untouched(sql)
		}
	}
}

// Each of the two checks of a statement's meaning finds by itself what it can see.
func TestEachCheckAloneRefuses(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	c := held(t, engine.engine.Pool(), map[string]string{"readonly": "1"})
	for sql, seen := range map[string]struct{ words, tree bool }{
		"SELECT * FROM (SELECT 1 SETTINGS a.b = 1, readonly = 0)":          {true, true},
		"SELECT * FROM (SELECT 1 SETTINGS final)":                          {true, true},
		"SELECT 1 IN (SELECT 1. SETTINGS readonly = 0)":                    {true, true},
		"DESCRIBE (SELECT 1 SETTINGS readonly = 0)":                        {true, true},
		"SELECT * FROM view(SELECT 1 SETTINGS readonly = 0)":               {true, true},
		"SHOW TABLES WHERE name IN (SELECT '' SETTINGS readonly = 0)":      {true, false},
		"SELECT file('{csv}')":                                             {true, true},
		"SELECT `fi\\x6ce`('{csv}')":                                       {true, true},
		"SELECT 1 FROM larder.v LIMIT length(file('{csv}'))":               {true, true},
		"SELECT * APPLY(file) FROM (SELECT '{csv}' AS a)":                  {true, false},
		"SELECT * FROM file('{csv}')":                                      {true, true},
		"SELECT * FROM url('http://{host}/', CSV, 'a String')":             {true, true},
		"SELECT * FROM format(TSV, 'a UInt8', '1')":                        {false, true},
		"SELECT * FROM larder.v JOIN merge('system', 'models') AS m ON 1":  {true, true},
		"SELECT * FROM system.models":                                      {true, true},
		"SELECT 1 IN system.models":                                        {true, true},
		"SELECT * FROM `system`.`stack_trace`":                             {true, true},
		"SELECT * FROM default.`{csv}`":                                    {true, true},
		"SELECT 1 IN default.`{csv}`":                                      {true, true},
		"SELECT 1 INTO OUTFILE '{new}'":                                    {true, true},
		"SELECT 1 INTO OUTFILE '{new}' APPEND COMPRESSION 'gz' LEVEL 1":    {true, true},
		"SHOW TABLES INTO OUTFILE '{new}'":                                 {true, true},
		"DESCRIBE larder.v INTO OUTFILE '{new}'":                           {true, true},
		"EXPLAIN AST SELECT 1 INTO OUTFILE '{new}'":                        {true, true},
		"SELECT t.FORMAT CSV":                                              {false, true},
		"SELECT groupFormatIf('CSV')(1, 1)":                                {true, true},
		"SHOW TABLES WHERE concat(name, '') = ''":                          {true, false},
		"SHOW TABLES WHERE (name = 'a' OR name IN ('b')) AND NOT (1 = 2)":  {false, false},
		"SELECT a, 'SETTINGS', `SETTINGS`, format('{}', a) FROM larder.v":  {false, false},
		"EXPLAIN indexes = 1 SELECT a FROM larder.v WHERE a IN (SELECT 1)": {false, false},
		"SELECT s.name FROM system.settings AS s WHERE s.name = 'file'":    {false, false},
	} {
		s := sqltext.Parse(b.fill(sql))
		if err := engine.guard.MayName(&s); (err != nil) != seen.words {
			t.Errorf("%q, by its words: %v", sql, err)
		}
		if err := engine.guard.CheckTree(c.Ask, s.Formatted("TSV")); (err != nil) != seen.tree {
			t.Errorf("%q, by its tree: %v", sql, err)
		}
		b.untouched(sql)
	}
}

// Of a format that the words had not seen, the tree tells by itself.
func TestTheTreeShowsAnotherFormat(t *testing.T) {
	engine := openWarehouse(t)
	c := held(t, engine.engine.Pool(), map[string]string{"readonly": "1"})
	for _, bare := range []string{
		"SELECT 1 AS a FORMAT `Protobuf`", "(SELECT 1 AS a) FORMAT Protobuf", "SELECT 1 UNION ALL SELECT 2 FORMAT `Protobuf`", "SELECT 1 INTERSECT SELECT 2 FORMAT `Protobuf`",
		"EXPLAIN SELECT 1 FORMAT `Protobuf`", "EXPLAIN AST SELECT 1 FORMAT `Protobuf`", "EXPLAIN AST SELECT 1 FORMAT `Protobuf` FORMAT `Protobuf`",
		"DESCRIBE larder.v FORMAT `Protobuf`", "SHOW TABLES FORMAT `Protobuf`", "SHOW CREATE TABLE larder.v FORMAT `Protobuf`", "EXISTS TABLE larder.v FORMAT `Protobuf`", "SHOW GRANTS FORMAT `Protobuf`",
	} {
		s := sqltext.Statement{Bare: bare}
		if err := engine.guard.CheckTree(c.Ask, s.Formatted("TSV")); err == nil {
			t.Errorf("%q: taken", bare)
		}
		s.Bare, _, _ = strings.Cut(bare, " FORMAT")
		if err := engine.guard.CheckTree(c.Ask, s.Formatted("TSV")); err != nil {
			t.Errorf("%q: %v", s.Bare, err)
		}
	}
}

// attackGrammar makes statements that are whole more often than not, so that the
// two readers of a statement, ours and the engine's, meet what nobody has written
// down: a name in angle brackets stands for one of its rows.
var attackGrammar = map[string][]string{
	"statement": {"<select>", "<select><tail>", "(<select>)<tail>", "WITH <with> <select><tail>", "EXPLAIN <explain> <select>", "EXPLAIN <explain> <select><tail>", "DESCRIBE (<select>)<tail>", "SHOW TABLES<tail>", "SHOW CREATE TABLE larder.v<tail>", "EXISTS TABLE larder.v<tail>", "DESCRIBE (<select>)", "DESCRIBE TABLE <source>", "SHOW TABLES <where>", "<select>; <other>", "<select> <other>", "<other>"},
	"select":    {"SELECT <item> FROM <source> <where>", "SELECT <item> FROM <source> <where> <settings>", "SELECT <item>", "SELECT <item> <settings>", "SELECT <item>, <item> FROM <source>", "SELECT <item> UNION ALL <select>", "SELECT * FROM (<select>)", "SELECT <item><blank>FROM<blank><source>"},
	"with":      {"x AS (<select>)", "<item> AS x", "x AS (<select>), y AS (<select>)", "x -> <call> AS f"},
	"item":      {"1", "1.", "'x'", "a", "*", "settings", "t.settings", "(1, 2).1", "(1).settings", "<call>", "(<select><tail>)", "(<select>)", "1 IN (<select>)", "1 IN <source>", "* APPLY(<name>)", "* APPLY <name>", "arrayMap(x -> <call>, ['{csv}'])", "'x' AS `settings`", "{p:String}", "{f:Identifier}('{csv}')", "format('{}', 'x')", "a REPLACE(1 AS a)", "1 AS <name>", "1 AS FORMAT", "t.FORMAT", "1.FORMAT"},
	"call":      {"<name>('{csv}')", "<name> ('{csv}')", "<name>/**/('{csv}')", "toString(<call>)", "upper('x')", "<name>--\n('{csv}')", "catboostEvaluate('{csv}', 1)", "getSetting('readonly')"},
	"name":      {"file", "FILE", "`file`", "\"file\"", "fi\\x6ce", "`fi\\x6ce`", "toString", "{f:Identifier}", "f"},
	"source":    {"larder.v", "larder_raw.r", "numbers(2)", "(<select>)", "x", "`{csv}`", "default.`{csv}`", "file('{csv}')", "url('http://{host}/', CSV, 'a String')", "view(<select>)", "values('a UInt8', 1)", "values('x UInt8, a String ALIAS <call>', (1))", "generateRandom('x UInt8, a String DEFAULT <call>')", "numbers(<call>)", "values(<settings>)", "format(TSV, 'a UInt8', 'x\n1\n')", "system.settings", "system . settings", "system.models", "system.one", "{p:Identifier}", "merge('system', 'models')", "larder.v AS settings", "larder.v JOIN <source> ON 1", "larder.v, <source>", "sqlite('{csv}', 't')", "remote('{host}', system.one)"},
	"where":     {"", "", "WHERE <item> != ''", "WHERE a IN (<select>)", "PREWHERE a = 1", "QUALIFY <item> != ''", "ORDER BY <item>", "LIMIT 1 BY <item>"},
	"settings":  {"SETTINGS <pair>", "SETTINGS <pair>, <pair>", "settings/**/<pair>", "SETTINGS--\n<pair>", "SETTINGS <pair>, <pair>, <pair>"},
	"pair":      {"a.b = 1", "readonly = 0", "readonly", "final", "final = 1", "max_threads = 1", "`readonly` = 0", "\"readonly\"=0", "max_threads = -1", "log_comment = 'x'", "log_comment = 'a\\'b'", "input_format_record_errors_file_path = '{new}'", "input_format_allow_errors_num = 10", "session_timezone = 'UTC'", "max_execution_time = 1.5", "format_schema = '{proto}:M'"},
	"tail":      {"", " FORMAT TSV", " FORMAT <format>", "<blank>FORMAT<blank><format>", " FORMAT <format> FORMAT <format>", " <settings> FORMAT <format>", " FORMAT <format> <settings>", " <settings>", " <settings> FORMAT CSV", " FORMAT TSV <settings>", " INTO OUTFILE '{new}'", " FORMAT TSV INTO OUTFILE '{new}'", " INTO<blank>OUTFILE '{new}' <settings>", " LIMIT 1", ";", " ; "},
	"format":    {"Native", "JSON", "Template", "Protobuf", "CapnProto", "Null", "RawBLOB", "Prometheus", "`Protobuf`", "\"ProtobufList\"", "{pb:Identifier}", "`CSV`", "\"JSON\"", "`Template`", "'Protobuf'"},
	"explain":   {"", "AST", "SYNTAX", "PLAN", "QUERY TREE", "header = 1", "ESTIMATE", "PIPELINE graph = 1"},
	"blank":     {" ", "\n", "/**/", "/* SETTINGS */", "--\n", "\t", "\x00", "\u00a0", "\ufeff", "# \n", "#!\n", "\f", "/* /* */", "$$ $$"},
	"other":     {"INSERT INTO larder_raw.r VALUES (2, 'y')", "DROP TABLE larder_raw.r", "PARALLEL WITH DROP TABLE larder_raw.r", "CREATE TABLE larder.q (a UInt8) ENGINE = Memory", "SET readonly = 0", "INTO OUTFILE '{new}'", "<settings>", "/*", "'", "`", "\\", "ALTER TABLE larder_raw.r DELETE WHERE 1", "<source>", "SELCT"},
}

// grow makes a statement from the grammar; deep ones are cut short.
func grow(random *rand.Rand, symbol string, depth int) string {
	rows := attackGrammar[symbol]
	row := rows[random.IntN(len(rows))]
	if depth > 8 {
		row = rows[0]
	}
	if depth > 16 {
		return "1"
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(row, "<")
		out.WriteString(before)
		name, after, closed := strings.Cut(rest, ">")
		if !found {
			return out.String()
		}
		if _, known := attackGrammar[name]; !closed || !known {
			out.WriteString("<")
			row = rest
			continue
		}
		out.WriteString(grow(random, name, depth+1))
		row = after
	}
}

func TestWhatTheServerLetsThroughTouchesNothing(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	before := state(t, engine)
	random := rand.New(rand.NewPCG(5, 6))
	answered := 0
	for range 4000 {
		sql := grow(random, "statement", 0)
		if at := random.IntN(len(sql)); random.IntN(4) == 0 { // a letter or a blank goes missing or is another
			sql = sql[:at] + grow(random, []string{"blank", "pair", "name"}[random.IntN(3)], 0) + sql[at+random.IntN(2):]
		}
		sql = b.fill(sql)
		w := b.ask(engine, []string{http.MethodPost, http.MethodGet}[random.IntN(2)], sql, url.Values{
			"param_f": {"file"}, "param_pb": {"Protobuf"}, "param_p": {b.fill("{csv}")}, "database": {[]string{"larder", "default", "larder_raw"}[random.IntN(3)]},
		})
		if w.Code == http.StatusOK {
			answered++
		}
		b.untouched(sql)
	}
	if after := state(t, engine); after != before {
		t.Errorf("the warehouse changed: before %s after %s", before, after)
	}
	if answered < 200 {
		t.Errorf("%d of the statements were answered: the grammar makes too few that are whole", answered)
	}
	t.Logf("%d of 4000 were answered", answered)
}

// Run with -fuzz FuzzReading to look for more.
func FuzzReading(f *testing.F) {
	// It comes last: nobody needs the engine any more that the tests before shared.
	if err := CloseShared(); err != nil {
		f.Fatal(err)
	}
	b, engine := newBait(f), openWarehouse(f)
	for _, sql := range attacks(f, b) {
		f.Add(sql)
	}
	before := state(f, engine)
	f.Fuzz(func(t *testing.T, sql string) {
		if strings.Contains(sql, "sleep") || strings.Contains(sql, "_mt") || strings.Contains(sql, "system.zeros") || strings.Contains(sql, "system.numbers") {
			return // it would be asked without end
		}
		b.t = t
		b.ask(engine, http.MethodPost, sql, url.Values{"param_f": {"file"}, "param_pb": {"Protobuf"}, "param_p": {b.fill("{csv}")}})
		b.untouched(sql)
		if after := state(t, engine); after != before {
			t.Errorf("%q changed the warehouse: before %s after %s", sql, before, after)
		}
	})
}
