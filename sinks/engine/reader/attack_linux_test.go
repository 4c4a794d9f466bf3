package reader_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// siege is a warehouse that somebody writes, the reading interface before it as a daemon
// serves it, and bait beside both. Each request comes from another address.
type siege struct {
	*world
	bait    *bait
	address string // of the reading interface
	came    atomic.Int32
	before  string // what a reader must not change
}

func newSiege(t testing.TB, user, password string) *siege {
	t.Helper()
	s := &siege{world: newWorld(t), bait: newBait(t)}
	for _, sql := range []string{
		"CREATE TABLE larder_raw.r (a UInt64, file_name String) ENGINE = ReplacingMergeTree ORDER BY a",
		"INSERT INTO larder_raw.r VALUES (1, 'x')",
		"CREATE VIEW larder.v AS SELECT a, file_name FROM larder_raw.r FINAL",
	} {
		s.write(sql)
	}
	s.soon("SELECT count() FROM v", "1")
	s.before = s.state()
	strangers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.came.Add(1)
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", n>>16&0xff, n>>8&0xff, n&0xff)
		s.reader.ServeHTTP(w, r)
	})
	front, err := server.ListenReaders(t.Context(), "127.0.0.1:0", user, password, strangers, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- front.Serve() }()
	t.Cleanup(func() {
		s.must(front.Close(context.WithoutCancel(t.Context())))
		s.must(<-served)
	})
	s.address = front.Addr().String()
	return s
}

// state is all that a reader must not change.
func (s *siege) state() string {
	return s.write("SELECT groupArray((database, name, engine, total_rows, metadata_modification_time)) FROM (SELECT * FROM system.tables WHERE database != 'system' ORDER BY database, name)") +
		s.write("SELECT groupArray((a, file_name)) FROM larder_raw.r") + s.write("SELECT groupArray((name, value)) FROM system.settings WHERE changed")
}

// survived fails the test unless the writer is as it was, and the next honest question is
// answered.
func (s *siege) survived() {
	s.t.Helper()
	if touched := s.bait.touched(); touched != "" {
		s.t.Errorf("somebody %s", touched)
	}
	if after := s.state(); after != s.before {
		s.t.Errorf("the warehouse changed: before %s after %s", s.before, after)
	}
	s.soon("SELECT groupArray((a, file_name)) FROM v", "[(1,'x')]")
}

// How long an attack may take: who asks leaves soon after the engine should have stopped it.
const (
	attackTime   = 2 * time.Second
	attackerTime = 3 * time.Second
	attackAnswer = 4 << 20 // is read of each
)

// attack sends a statement, again while the reader is being started, and looks whether it
// took the bait. ended is true when the reader's process ended meanwhile, or did not stop.
func (s *siege) attack(method, sql string, params url.Values) (status int, ended bool) {
	s.t.Helper()
	sql = s.bait.fill(sql)
	values := url.Values{"max_execution_time": {fmt.Sprint(attackTime.Seconds())}, "max_result_rows": {"1000"}, "param_f": {"file"}, "param_pb": {"Protobuf"}, "param_p": {s.bait.fill("{csv}")}}
	for name, given := range params {
		values[name] = given
	}
	body := sql
	if method == http.MethodGet {
		values.Set("query", sql)
		body = ""
	}
	var answer string
	polling.Until(s.t, "the reader is started again", func() bool {
		status, answer = s.sent(method, values, body)
		if strings.Contains(answer, secret) && !strings.Contains(sql, secret) {
			s.t.Errorf("%q tells the secret: %q", sql, answer)
		}
		if touched := s.bait.touched(); touched != "" {
			s.t.Errorf("%q, or one beside it, %s", sql, touched)
		}
		return status != http.StatusServiceUnavailable || !strings.Contains(answer, "is being started again")
	})
	return status, status == 0 || strings.Contains(answer, "ended under this statement")
}

// sent is what comes back within an attacker's time; the status is 0 when nothing does.
func (s *siege) sent(method string, values url.Values, body string) (status int, answer string) {
	ctx, leave := context.WithTimeout(s.t.Context(), attackerTime)
	defer leave()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+"/?"+values.Encode(), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, attackAnswer)) // it may be broken off
	return response.StatusCode, string(text)
}

// at once, as many statements are asked.
const attackers = 6

// attackAll sends all statements, and returns how many were answered and which of them had
// the process end, or one beside them had.
func (s *siege) attackAll(all []string, params func(i int) (method string, params url.Values)) (answered int, enders []string) {
	s.t.Helper()
	var group sync.WaitGroup
	var mu sync.Mutex
	next := make(chan int)
	for range attackers {
		group.Go(func() {
			for i := range next {
				method, values := params(i)
				status, ended := s.attack(method, all[i], values)
				mu.Lock()
				if status == http.StatusOK {
					answered++
				}
				if ended {
					enders = append(enders, all[i])
				}
				mu.Unlock()
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
	return answered, enders
}

// attacks are ways into files, other machines and the warehouse's own rows that were found
// or thought of. testdata/attacks.sql holds one to a line; # begins a remark. {csv} and the
// like stand for the bait.
func attacks(t testing.TB) (all []string) {
	t.Helper()
	file, err := os.Open("testdata/attacks.sql")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "# ") {
			all = append(all, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00").Replace(line))
		}
	}
	if err := lines.Err(); err != nil || len(all) < 200 {
		t.Fatalf("%d attacks: %v", len(all), err)
	}
	return all
}

// Whatever a reader asks, the bait is untouched, the writer as it was, and the next honest
// question answered. The reader's process may end meanwhile. One in someAttacks is sent here,
// and the others by TestAllAttacksTouchNothing.
func TestReadersTouchNothing(t *testing.T) {
	s := newSiege(t, "", "")
	for _, sub := range []struct {
		name string
		test func(*testing.T, *siege)
		race bool // goroutines of ours meet: the others happen in the reader's process
	}{
		{"limits", testLimits, false}, {"what does not hold", testWhatDoesNotHold, true}, {"disk", testFullScratch, false},
		{"attacks", func(t *testing.T, s *siege) {
			attacked(t, s, func(i int) bool { return i%someAttacks == 0 })
		}, false},
		{"grown attacks", func(t *testing.T, s *siege) { attackedByGrown(t, s, grownAttacks()[:someGrown]) }, false},
	} {
		t.Run(sub.name, func(t *testing.T) {
			if testing.Short() && !sub.race {
				t.Skip("what happens, happens in the reader's process")
			}
			before := s.t
			defer func() { s.t = before }()
			s.t = t
			sub.test(t, s)
		})
	}
}

// One attack in someAttacks is sent in every run: neighbours in the file are alike. The number
// is odd, so that attacks with POST and with GET are among them.
const someAttacks = 5

// attacked sends the attacks with these numbers, each with the same method in every run.
func attacked(t *testing.T, s *siege, kept func(i int) bool) {
	t.Helper()
	var all, methods []string
	for i, sql := range attacks(t) {
		if kept(i) {
			all, methods = append(all, sql), append(methods, []string{http.MethodPost, http.MethodGet}[i%2])
		}
	}
	answered, enders := s.attackAll(all, func(i int) (string, url.Values) { return methods[i], nil })
	s.survived()
	t.Logf("%d attacks: %d were answered with 200, %d met the end of the process", len(all), answered, len(enders))
	for _, sql := range enders {
		t.Logf("met the end: %.200q", sql)
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

// grown are statements that nobody has written down.
func grown(random *rand.Rand, n int) (all []string) {
	for range n {
		sql := grow(random, "statement", 0)
		if at := random.IntN(len(sql)); random.IntN(4) == 0 { // a letter or a blank goes missing or is another
			sql = sql[:at] + grow(random, []string{"blank", "pair", "name"}[random.IntN(3)], 0) + sql[at+random.IntN(2):]
		}
		all = append(all, sql)
	}
	return all
}

// someGrown is how many grown attacks are sent each time; TestManyGrownAttacksTouchNothing
// sends the others of grownAttacks.
const someGrown = 150

func grownAttacks() []string { return grown(rand.New(rand.NewPCG(5, 6)), 1000) }

func attackedByGrown(t *testing.T, s *siege, all []string) {
	t.Helper()
	answered, enders := s.attackAll(all, func(i int) (string, url.Values) {
		return []string{http.MethodPost, http.MethodGet}[i%2], url.Values{"database": {[]string{"larder", "default", "larder_raw"}[i%3]}}
	})
	s.survived()
	if answered < len(all)/20 {
		t.Errorf("%d of %d statements were answered: the grammar makes too few that are whole", answered, len(all))
	}
	t.Logf("%d of %d were answered, %d met the end of the process: %q", answered, len(all), len(enders), enders)
}

// fuzzSeeds are for FuzzReading; TestManyGrownAttacksTouchNothing sends those it leaves out.
func fuzzSeeds() []string { return grown(rand.New(rand.NewPCG(7, 8)), 20) }

// Run with -fuzz FuzzReading to look for more.
func FuzzReading(f *testing.F) {
	notInShort(f)
	s := newSiege(f, "", "")
	for _, sql := range fuzzSeeds()[:3] {
		f.Add(sql)
	}
	if flag.Lookup("test.fuzz").Value.String() != "" {
		for _, sql := range attacks(f) {
			f.Add(sql)
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s.t = t
		s.attack(http.MethodPost, sql, nil)
		s.survived()
	})
}

// What settings have the engine write is not counted by the engine: a folder that has
// become too large goes with its process.
func testFullScratch(t *testing.T, s *siege) {
	folders, err := filepath.Glob(filepath.Join(s.writer.Path(), "readers", "*", "*", "data"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no scratch folder: %v", err)
	}
	file := filepath.Join(folders[len(folders)-1], "larger") // the one before may be on its way out
	schema := url.Values{"output_format_schema": {file}, "format_protobuf_use_autogenerated_schema": {"1"}}
	s.attack(http.MethodPost, "SELECT 1 AS a FORMAT Protobuf", schema)
	if err := os.Truncate(file, 3<<30); err != nil { // as if it went on
		t.Fatalf("the engine has made no file: %v", err)
	}
	polling.Until(t, "the file is gone", func() bool { _, err := os.Stat(file); return err != nil })
	s.survived()
}

// docs/security.md lists what does not hold: where one of these holds one day, the page changes.
func testWhatDoesNotHold(t *testing.T, s *siege) {
	for sql, want := range map[string]string{
		"SELECT length(file('" + filepath.Join(s.writer.Path(), "metadata", "larder_raw.sql") + "')) > 0": "1",
		"SELECT position(file('/proc/self/cmdline'), 'engine') > 0":                                       "1",
		"SELECT file('" + filepath.Join(s.bait.folder, "key") + "')":                                      "CANNOT_OPEN_FILE",
		"SELECT file('" + filepath.Join(s.bait.folder, "none") + "')":                                     "FILE_DOESNT_EXIST",
	} {
		if _, got, _ := s.ask(sql, ""); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %s", sql, got, want)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader("SELECT count() FROM system.numbers WHERE number != 7654321"))
		if err != nil {
			t.Error(err)
			return
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
	})
	s.soon("SELECT count() FROM system.processes WHERE query LIKE '%!= 765' || '4321%'", "1")
	leave()
	group.Wait()
	s.survived()
}

// The kernel holds these limits.
func testLimits(t *testing.T, s *siege) {
	polling.Until(t, "the readers before this one are gone", func() bool { return len(processes(t, s.writer.Path())) == 1 })
	process := "/proc/" + processOfReader(t)
	for file, want := range map[string]string{
		"limits": `Max file size +1073741824 +1073741824 .*\n(.*\n)*Max core file size +0 +0 `, "oom_score_adj": "^800\n", "stat": `\) \S( \S+){15} 10 `,
	} {
		text, err := os.ReadFile(filepath.Join(process, file))
		if err != nil || !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s: %s %v, want %s", file, text, err, want)
		}
	}
	if limits, err := os.ReadFile(filepath.Join(process, "limits")); err != nil || strings.Contains(string(limits), "Max data size             unlimited") {
		t.Errorf("%s %v", limits, err)
	}
}
