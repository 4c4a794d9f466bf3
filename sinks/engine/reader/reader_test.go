package reader_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/reader"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// roles are what other processes of this binary do; a soak has some.
var roles map[string]enginetest.Role

func TestMain(m *testing.M) {
	code := enginetest.Main(m, roles)
	if err := os.RemoveAll(migrated.dir); err != nil { // "" where no test has needed it: nothing is removed
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// world is a warehouse that somebody writes, and a reader of it.
type world struct {
	t      testing.TB
	writer *server.Server
	sink   *clickhouse.Sink
	reader *reader.Supervisor
	url    string // of the reader, without who may ask
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldLogging(t, t.Output())
}

func newWorldLogging(t testing.TB, log io.Writer) *world {
	t.Helper()
	w := worldOf(t, log, reader.Start)
	w.soon("SELECT 1", "1")
	return w
}

// newIdleWorld has a reader that ends when it was not asked for a while.
func newIdleWorld(t testing.TB, idle time.Duration) *world {
	t.Helper()
	return worldOf(t, t.Output(), func(o reader.Options) (*reader.Supervisor, error) { return reader.StartIdle(o, idle) })
}

func worldOf(t testing.TB, log io.Writer, start func(reader.Options) (*reader.Supervisor, error)) *world {
	t.Helper()
	ctx := t.Context()
	w := &world{t: t}
	var err error
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(template(t))); err != nil {
		t.Fatal(err)
	}
	if w.writer, w.sink, err = openWarehouse(ctx, dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.must(closeWarehouse(ctx, w.writer, w.sink)) })
	w.reader, err = start(reader.Options{
		Log:    slog.New(slog.NewTextHandler(log, nil)),
		Orders: reader.Orders{Mirror: engine.MirrorOptions{Writer: w.writer.Path(), Databases: []string{"larder"}, Hidden: []string{"larder_raw"}}, Zone: "Europe/Bucharest"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.must(w.reader.Close()) })
	front := httptest.NewServer(w.reader)
	t.Cleanup(front.Close)
	w.url = front.URL
	return w
}

// notInShort skips a test under the race detector: it runs one statement after the other.
func notInShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("one statement after the other")
	}
}

// migrated is the folder of a migrated warehouse without rows, which worlds are copies of.
var migrated struct {
	sync.Mutex
	dir string
}

// template makes the folder at the first call.
func template(t testing.TB) string {
	t.Helper()
	migrated.Lock()
	defer migrated.Unlock()
	if migrated.dir != "" {
		return migrated.dir
	}
	dir, err := os.MkdirTemp("", "larder-reader-test-")
	if err != nil {
		t.Fatal(err)
	}
	writer, sink, err := openWarehouse(t.Context(), dir)
	if err == nil {
		err = errors.Join(sink.Migrate(t.Context()), closeWarehouse(t.Context(), writer, sink))
	}
	if err != nil {
		t.Fatal(errors.Join(err, os.RemoveAll(dir)))
	}
	migrated.dir = dir
	return dir
}

func openWarehouse(ctx context.Context, dir string) (*server.Server, *clickhouse.Sink, error) {
	writer, err := server.Open(ctx, engine.Options{Path: dir, Databases: []string{"larder", "larder_raw"}})
	if err != nil {
		return nil, nil, err
	}
	sink, err := clickhouse.Open(ctx, clickhouse.Options{Dial: writer.Dial, Database: "larder"})
	if err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	return writer, sink, nil
}

func closeWarehouse(ctx context.Context, writer *server.Server, sink *clickhouse.Sink) error {
	return errors.Join(sink.Close(context.WithoutCancel(ctx)), writer.Close())
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Error(err)
	}
}

// write runs a statement with full rights.
func (w *world) write(sql string) string {
	w.t.Helper()
	var out []byte
	err := w.writer.Engine().Pool().Use(w.t.Context(), "larder", nil, func(c *engine.Conn) (err error) {
		out, err = c.Ask(sql, "TSVRaw")
		return err
	})
	if err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return strings.TrimSpace(string(out))
}

// ask asks the reader; settings are a query string.
func (w *world) ask(sql, settings string) (status int, answer string, header http.Header) {
	w.t.Helper()
	response, err := http.Post(w.url+"/?"+settings, "text/plain", strings.NewReader(sql))
	if err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, err.Error(), response.Header // it was broken off
	}
	return response.StatusCode, strings.TrimSpace(string(text)), response.Header
}

// soon asks until the answer is the one that is wanted.
func (w *world) soon(sql, want string) {
	w.t.Helper()
	var status int
	var got string
	if !polling.For(w.t.Context(), func() bool {
		status, got, _ = w.ask(sql, "")
		return status == http.StatusOK && got == want
	}) {
		w.t.Fatalf("%s: %d %q, want %q", sql, status, got, want)
	}
}

func insertOrders(n int) string {
	return fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, business_day, totals_net_sales, _version) SELECT 'b', toString(number), '2026-01-02', 10, 1 FROM numbers(%d)", n)
}

func TestReadersReadAndDoNothingElse(t *testing.T) {
	notInShort(t)
	t.Setenv("LARDER_TEST_SECRET", "7316459")
	w := newWorld(t)
	w.write(insertOrders(3))
	w.soon("SELECT count(), sum(totals_net_sales) FROM sales_orders", "3\t30")
	for sql, want := range map[string]string{
		"SELECT timezone()": "Europe/Bucharest",
		"SELECT * FROM VALUES('a UInt8, b String', (1, 'x'))":                                   "1\tx",
		"SELECT toTypeName(CAST('x' AS LowCardinality(String)))":                                "LowCardinality(String)",
		"SELECT a.n, b.n FROM (SELECT 1 AS n) AS a LEFT JOIN (SELECT 2 AS n) AS b ON a.n = b.n": "1\t\\N", // join_use_nulls
		"SELECT 1 UNION SELECT 1":                                "1", // union_default_mode
		"SELECT lower(n) AS n FROM (SELECT 'A' AS n) GROUP BY n": "a", // prefer_column_name_to_alias
		"SELECT groupArray(name) FROM (SELECT name FROM system.databases WHERE name NOT ILIKE 'information%' ORDER BY name)":                       "['larder','larder_reader','system']",
		"SELECT count() FROM system.tables WHERE database = 'larder_raw'":                                                                          "0",
		"SELECT changed > 0 FROM (SELECT countIf(readonly = 0) AS changed FROM system.settings WHERE name = 'max_threads')":                        "1",
		"SELECT count() > 0 FROM system.tables WHERE database = 'larder' AND name = 'sales_orders'":                                                "1",
		"SELECT countIf(name ILIKE '%password%' AND value != '') FROM system.settings":                                                             "0",
		"SELECT uniq(business_id) FROM sales_orders SETTINGS max_threads = 1":                                                                      "1",
		"SELECT net_sales FROM (SELECT sum(totals_net_sales) AS net_sales FROM sales_orders) SETTINGS output_format_json_quote_64bit_integers = 1": "30",
	} {
		if status, got, _ := w.ask(sql, ""); status != http.StatusOK || got != want {
			t.Errorf("%s: %d %q, want %q", sql, status, got, want)
		}
	}
	outside := filepath.Join(t.TempDir(), "bait")
	for _, sql := range []string{
		"SELECT file('/etc/passwd')", "SELECT * FROM file('/etc/passwd', 'LineAsString')", "SELECT * FROM default.`/etc/passwd`",
		"SELECT 1 INTO OUTFILE '" + outside + "'", "SELECT 1 INTO OUTFILE '" + filepath.Join(w.writer.Path(), "bait") + "'",
		"INSERT INTO larder_raw.sales_orders (id) VALUES ('x')", "INSERT INTO larder.sales_orders (id) VALUES ('x')", "CREATE TABLE larder.x (n UInt8) ENGINE = Memory",
		"DROP TABLE larder_raw.products", "DROP VIEW larder.sales_orders", "ALTER TABLE larder_raw.products DELETE WHERE 1", "TRUNCATE TABLE larder_raw.products",
		"SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')", "SELECT * FROM executable('x', 'TSV', 'a String')", "SELECT count() FROM larder_raw.sales_orders",
		"BACKUP DATABASE larder TO Disk('mirror', 'x')", "SYSTEM SHUTDOWN", "SELECT 1 SETTINGS readonly = 0", "SET readonly = 0", "SELECT * FROM system.processes FORMAT Protobuf SETTINGS format_schema = '/etc/passwd:M'",
	} {
		if status, got, _ := w.ask(sql, ""); status == http.StatusOK || strings.Contains(got, "root:") || strings.Contains(got, "7316459") {
			t.Errorf("%s: %d %q", sql, status, got)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a file was written outside of the scratch folder")
	}
	if environ, err := os.ReadFile("/proc/" + processOfReader(t) + "/environ"); err != nil || strings.Contains(string(environ), "7316459") {
		t.Errorf("the environment of the daemon reached the reader: %v", err)
	}
	if got := w.write("SELECT count() FROM larder.sales_orders"); got != "3" {
		t.Errorf("the writer has %s orders", got)
	}
}

// processOfReader is the number of the child of this process.
func processOfReader(t *testing.T) string {
	t.Helper()
	all, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if fields := strings.Fields(string(stat)); err == nil && len(fields) > 3 && fields[3] == strconv.Itoa(os.Getpid()) {
			return p.Name()
		}
	}
	t.Fatal("there is no reader")
	return ""
}

// What changes in the catalogue, and what goes without a part in its place, is seen by the
// reader that takes the place of the one before.
func TestReadersSeeWhatChanges(t *testing.T) {
	notInShort(t)
	w := newWorld(t)
	w.write(insertOrders(100))
	w.soon("SELECT count() FROM sales_orders", "100")
	w.write("CREATE VIEW larder.fresh AS SELECT count() AS n FROM larder.sales_orders")
	w.soon("SELECT n FROM fresh", "100")
	w.write("ALTER TABLE larder_raw.sales_orders ADD COLUMN more String DEFAULT 'x'")
	w.write("CREATE OR REPLACE VIEW larder.fresh AS SELECT uniqExact(more) AS n FROM larder_raw.sales_orders")
	w.soon("SELECT n FROM fresh", "1")
	w.write("ALTER TABLE larder_raw.sales_orders DELETE WHERE toUInt32(id) >= 40 SETTINGS mutations_sync = 1")
	w.soon("SELECT count() FROM sales_orders", "40")
	w.write("OPTIMIZE TABLE larder_raw.sales_orders FINAL")
	w.write("TRUNCATE TABLE larder_raw.sales_orders")
	w.soon("SELECT count() FROM sales_orders", "0")
	w.write("DROP VIEW larder.fresh")
	w.soon("EXISTS VIEW fresh", "0")
}

// endless is planned for hours, and looks at no limit meanwhile: each name stands for the one
// before it twice.
func endless() string {
	sql := "WITH 1 AS a0"
	for i := range 25 {
		sql += fmt.Sprintf(", (a%d, a%d) AS a%d", i, i, i+1)
	}
	return sql + " SELECT a25"
}

// What a statement takes beyond bounds costs the reader's process, and whoever does it again
// and again from one address waits.
func TestWhoEndsTheReaderWaits(t *testing.T) {
	w := newWorld(t)
	w.write(insertOrders(3))
	if status, answer, _ := w.ask("SELECT groupArray(number) FROM numbers(10000000000)", ""); status == http.StatusOK || !strings.Contains(answer, "MEMORY") {
		t.Errorf("memory: %d %q", status, answer)
	}
	if status, answer, _ := w.ask("SELECT sum(number) FROM numbers(100000000000)", "max_execution_time=1"); status != http.StatusRequestTimeout {
		t.Errorf("time: %d %q", status, answer)
	}
	const unbounded = "max_expanded_ast_elements=1000000000&max_ast_elements=1000000000&max_query_size=10000000&max_execution_time=0&max_memory_usage=0"
	for range 3 {
		w.soon("SELECT count() FROM sales_orders", "3")
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/?"+unbounded, strings.NewReader(endless()))
		if err != nil {
			t.Fatal(err)
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
		leave() // who has left waits for nothing, and the statement does not stop
		w.write(insertOrders(3))
		polling.Until(t, "the process is ended", func() bool {
			status, _, _ := w.ask("SELECT 1", "")
			return status != http.StatusOK
		})
	}
	polling.Until(t, "whoever ended the reader three times waits", func() bool {
		status, answer, header := w.ask("SELECT 1", "")
		wait, err := strconv.Atoi(header.Get("Retry-After"))
		return status == http.StatusServiceUnavailable && err == nil && wait > 30 && strings.Contains(answer, "several times")
	})
	if got := w.write("SELECT count() FROM larder.sales_orders"); got != "3" {
		t.Errorf("the writer has %s orders", got)
	}
}
