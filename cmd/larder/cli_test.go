package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/polling"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet)
	h.want(0, "Available Commands", "--help")
	h.want(0, "larder dev", "version")
	h.want(2, "larder --help tells more", "frobnicate")
	h.want(2, "unknown flag: --fast", "sync", "--fast")
	h.want(2, "one query is needed, and here are 0 arguments", "sql")
	h.want(2, "put it in quotes", "sql", "SELECT", "1")
	h.want(2, "the query is empty", "sql", " ")
	h.want(2, "leave out FORMAT JSON, and say --format JSON", "sql", "SELECT 1 FORMAT JSON")
	h.want(2, "leave out FORMAT JSONEachRow, and say --format JSONEachRow", "sql", "SELECT 1\nformat JSONEachRow ;\n")
	h.want(4, "there is no data at", "sql", "SELECT 1 AS format ORDER BY format DESC")
	h.want(2, `--stream "sale_orders" is unknown; known are`, "sync", "--stream", "sale_orders")
	h.want(2, `--source "bar" is not configured; configured are bistro`, "sync", "--source", "bar")
	h.want(2, "configuration file none.yaml: no such file or directory; correct --config, or leave it out to use larder.yaml", "check", "--config", "none.yaml")
	h.want(2, `--log-format "xml": allowed: text, json`, "demo", "--log-format", "xml")
	h.want(2, `--set: web.listn: unknown key; did you mean "web.listen"?`, "demo", "--set", "web.listn=127.0.0.1:0")
	h.want(2, `--set: wep: unknown key; did you mean "web"?`, "demo", "--set", "wep.listen=127.0.0.1:0")
	h.want(2, "--set warehouse.dsn: the demo has warehouse.dsn of its own", "demo", "--set", "warehouse.dsn=embedded:/elsewhere")
	h.want(2, "--set sources.0.name: the demo has sources of its own", "demo", "--set", "sources.0.name=x")
	h.want(2, "the demo writes a configuration of its own", "demo", "--config", "larder.yaml")
	h.want(2, "the sandbox reads no configuration", "sandbox", "--set", "web.listen=")
	if r := h.want(0, "larder dev (go", "--version"); r.out != h.want(0, "", "version").out {
		t.Errorf("--version says %q", r.out)
	}
	h.want(2, "kind", "sandbox", "--fault", "earthquake")
	h.want(2, "--days 0; allowed: 1 or more", "demo", "--days", "0")
	h.want(2, "holds no demo", "demo", "--dir", ".")
	h.want(4, "there is no data at", "sql", "SELECT 1")
	if err := os.Mkdir(filepath.Join(h.dir, "larder-data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status"}, {"sql", "SELECT 1"}, {"verify"}, {"reconcile"}} { // nor in an empty folder
		h.want(4, "yet: larder sync or larder run fills it", args...)
	}
	h.want(0, "CREATE TABLE", "migrate", "--print")
}

func TestHelpHasExamples(t *testing.T) {
	for _, c := range newRoot(&globals{}).Commands() {
		if !c.Hidden && (c.Short == "" || c.Example == "") || c.RunE == nil && c.Run == nil {
			t.Errorf("%s: short %q, example %q: help must be complete", c.Name(), c.Short, c.Example)
		}
	}
}

func TestConfigurationMistakes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure("warehouse:\n  flush_intervall: 1s\nlog: {level: loud}\n")
	for _, command := range []string{"run", "sync", "check", "status"} {
		r := h.want(2, `line 6: warehouse.flush_intervall: unknown key; did you mean "warehouse.flush_interval"?`, command)
		if !strings.Contains(r.errors, `log.level: got "loud"`) {
			t.Errorf("%s tells one problem only: %s", command, r.errors)
		}
	}
	h.configure(quiet + local("embedded:./data"))
	h.want(2, `larder: --set: log.level: got "loud"`, "status", "--set", "log.level=loud") // the file has no part in it
	if err := os.Remove(filepath.Join(h.dir, "key")); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"run", "check", "sync"} {
		h.want(2, "/key: no such file or directory; it must hold the secret and nothing else, readable for this user", command)
	}
}

func TestKeysRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.migrated()
	h.engineStays()

	h.write("key", "svc_live_wrong_and_never_shown")
	for _, r := range []result{h.want(3, "refuses the key (401)", "check"), h.want(3, "→ Put a valid key where key_file or key_env says", "sync")} {
		if strings.Contains(r.out+r.errors, "never_shown") {
			t.Errorf("the key shows:\n%s%s", r.out, r.errors)
		}
	}
	h.want(3, "→ Put a valid key where key_file or key_env says", "verify")
	h.want(3, "→ Put a valid key where key_file or key_env says", "reconcile")
	h.key(sandbox.RoleDisabled)
	h.want(3, "disabled the key", "check")
	for _, command := range []string{"sync", "verify", "reconcile"} {
		h.want(3, "→ Ask the restaurant to enable the key, or to make another.", command)
	}

	h.key(sandbox.RoleSales)
	h.want(0, "off for lack of scope: locations (needs locations:read or orders:write)", "check")
	r := h.want(0, "off: key lacks menu:read", "sync")
	if !strings.Contains(r.out, "sales_orders") || strings.Contains(r.out, "failed") {
		t.Errorf("the other streams run:\n%s", r.out)
	}
	h.want(3, "stream products is off: key lacks menu:read: ask the restaurant to grant it", "sync", "--stream", "products")
}

func TestServiceInTrouble(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>login</html>")
	}))
	defer html.Close()
	h.url = html.URL + "/v1"
	h.configure(quiet + local("embedded:./data"))
	h.migrated()
	h.engineStays()
	h.want(1, "source bistro", "check")
	h.url = "http://127.0.0.1:1/v1"
	h.configure(quiet + local("embedded:./data"))
	h.want(1, "Check base_url (as the service gives it, /v1 included) and the network", "check")
	h.want(1, "→ Check base_url (as the service gives it, /v1 included) and the network", "sync", "--retry-for", "0s")
	h.want(2, "--retry-for -1s: it must not be below 0s", "sync", "--retry-for", "-1s")
}

func TestEngineMissing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.engine = "/nonexistent/libchdb.so"
	h.want(4, "make engine", "check")
	h.want(4, "make engine", "sync")
	h.want(4, "make engine", "run")
}

func TestDataFolderUnwritable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.write("file", "not a folder")
	h.configure(quiet + local("embedded:./file/data"))
	h.want(4, "cannot be", "check")
	h.want(4, "cannot be written", "run")
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := l.Addr().String()
	h.configure(local("embedded:./data"))
	h.want(2, address+" is taken by another process", "run", "--set", "web.listen="+address, "--set", "warehouse.http_listen=")
	h.want(2, address+" is taken by another process", "check", "--set", "web.listen="+address, "--set", "warehouse.http_listen=")
	h.want(2, address+" is taken by another process", "run", "--set", "web.listen=", "--set", "warehouse.http_listen="+address)
	for _, command := range []string{"run", "check"} {
		h.want(2, address+" is taken by another process", command, "--set", "webhooks.listen="+address, "--set", "web.listen=", "--set", "warehouse.http_listen=")
	}
	h.want(2, address+" is taken by another process", "sandbox", "--listen", address)
}

func TestCommandsBesideADaemon(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(local("embedded:./data"))
	h.migrated()
	page := h.start()
	polling.Page(t, page+"/readyz", http.StatusOK, "ready")
	h.want(0, "sales_orders", "sync")
	if r := h.want(0, "", "sql", "SELECT count() > 0 FROM products"); !strings.HasSuffix(strings.TrimSpace(r.out), "\n1") {
		t.Errorf("sql = %q", r.out)
	}
	h.want(0, `"answer":42`, "sql", "--format", "JSONEachRow", "SELECT toUInt8(42) AS answer")
	h.want(1, "larder: Unknown expression identifier `zzzzzzzz` in scope SELECT zzzzzzzz FROM products. (UNKNOWN_IDENTIFIER)\n", "sql", "SELECT zzzzzzzz FROM products")
	h.want(1, "larder sql only reads; larder sync fills the tables", "sql", "DROP TABLE larder_raw.products")
	h.want(1, "Maybe you meant larder.products? (UNKNOWN_TABLE); larder sql 'SHOW TABLES' lists what there is\n", "sql", "SELECT 1 FROM product")
	h.want(0, "sales_orders    up to date", "status")
	status := h.want(0, "", "status", "--json").out
	statusInSeconds(t, status)
	if strings.Contains(status, "0001-01-01") {
		t.Errorf("instants that are not known:\n%s", status)
	}
	listen := "web.listen=" + strings.TrimPrefix(page, "http://")
	h.want(0, "a daemon is running on it", "check", "--set", listen)
	h.want(0, "up to date", "migrate")
	h.want(4, "larder: a daemon already runs on the data folder "+filepath.Join(h.dir, "data")+": larder status shows what it does; stop it first", "run", "--set", listen)
	h.want(0, "", "sync", "--source", "bistro", "--stream", "products", "--full")
	h.want(0, "", "reconcile", "--from", "2026-01-01", "--to", "2026-01-02")
	for _, words := range []string{"pass=sync", "pass=sync asked.sources=bistro asked.streams=products asked.full=true", "pass=reconcile asked.from=2026-01-01 asked.to=2026-01-02"} {
		if !strings.Contains(h.log.String(), words) {
			t.Errorf("the daemon does not say %q:\n%s", words, h.log)
		}
	}
}

// Beside a daemon and without one, a mistake is told where it stands in what was typed.
func TestQueriesAreToldWhereTheyAreMistyped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.migrated()
	stop := h.engineStays()
	typed := func() {
		for _, c := range []struct{ want, format, sql string }{
			{"failed at position 14 (end of query)", "TSV", "SELECT 1 FROM"},
			{"failed at position 14 (end of query)", "JSON", "SELECT 1 FROM"},
			{"failed at position 9 (end of query)", "Native", "DESCRIBE"},
			{"Maybe you meant: ['numbers'", "TSV", "SELECT * FROM numbes(3)"},
			{"Unknown format JSN. Maybe you meant: ['JSON']. (UNKNOWN_FORMAT)\n", "JSN", "SELECT 1"},
		} {
			h.want(1, c.want, "sql", "--format", c.format, c.sql)
		}
	}
	typed()
	stop()
	h.start("--set", "warehouse.http_listen=127.0.0.1:0")
	typed()
}

func TestWarehouseDown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + "warehouse: {dsn: 'http://larder:hunter2@127.0.0.1:1/larder'}\n")
	for _, args := range [][]string{{"sync", "--wait", "1s"}, {"sql", "SELECT 1"}, {"check"}, {"status"}} {
		r := h.want(4, "the warehouse could not be reached: http://larder:***@127.0.0.1:1/larder: connection refused: nothing listens there; is ClickHouse running, and the port right?\n", args...)
		if strings.Contains(r.out+r.errors, "hunter2") {
			t.Errorf("%v shows the password:\n%s%s", args, r.out, r.errors)
		}
	}
	page := h.start() // waits, and says so
	polling.Page(t, page+"/readyz", http.StatusServiceUnavailable, "could not be reached")
	polling.Page(t, page+"/", http.StatusOK, "The warehouse takes no rows.")
	polling.Page(t, page+"/healthz", http.StatusOK, "alive")
}

func TestDemo(t *testing.T) {
	h := newHouse(t)
	r := h.want(0, "The service refused 0 of them as too many", "demo", "--once", "--days", "5", "--orders-per-day", "40")
	if !strings.Contains(r.out, "rows of 2 restaurants") || !strings.Contains(r.errors, "on 4 past days") {
		t.Errorf("demo says:\n%s%s", r.out, r.errors)
	}
	// It empties its folder; --set is honoured, and the environment leads nowhere else.
	t.Setenv("LARDER_WAREHOUSE__DSN", "http://127.0.0.1:1/elsewhere")
	r = h.want(0, "rows of 2 restaurants", "demo", "--once", "--days", "3", "--orders-per-day", "10", "--set", "log.level=info", "--set", "log.format=json", "--set", "web.listen=")
	if !strings.Contains(r.errors, `"msg":"mirroring"`) || strings.Contains(r.errors, "status page") {
		t.Errorf("--set is not honoured:\n%s", r.errors)
	}
	file, err := os.ReadFile(filepath.Join(h.dir, "larder-demo", "larder.yaml"))
	if err != nil || !strings.Contains(string(file), "web: {listen: \"\"}\n") {
		t.Errorf("other commands do not find what was set: %v\n%s", err, file)
	}
	for line := range strings.Lines(r.errors) {
		if !json.Valid([]byte(line)) {
			t.Errorf("among the lines of JSON: %s", line)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.want(2, `invalid argument "xml" for "--format" flag: known are text, json`, "verify", "--format", "xml")
	h.want(2, `--source "bar" is not configured`, "verify", "--source", "bar")
	h.want(4, "there is no data at", "verify")
	h.migrated()
	h.engineStays()
	h.want(0, "ok", "sync")
	r := h.want(0, "differences: 0, still moving: 0, quarantined: 0", "verify")
	if strings.Count(r.out, "equal\n") != 11 {
		t.Errorf("not every stream is equal:\n%s", r.out)
	}

	// A product that is deleted for good leaves no tombstone.
	product := h.Restaurant(0).IDs(sandbox.StreamProducts)[0]
	if err := h.Restaurant(0).Purge(sandbox.StreamProducts, product); err != nil {
		t.Fatal(err)
	}
	h.want(1, "difference: bistro products "+product+" (row): API absent, mirror live\n", "verify", "--stream", "products")
	r = h.want(1, "1 row differs from the API", "verify", "--stream", "products", "--format", "json")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), r.out)
	}
	var found, summary struct {
		Kind, Source, Stream, ID, API, Mirror string
		Differences, Rows                     int
		Streams                               []struct {
			Took float64 `json:"took_seconds"`
		}
	}
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &found), json.Unmarshal([]byte(lines[1]), &summary)); err != nil {
		t.Fatal(err)
	}
	if found.Kind != "difference" || found.ID != product || found.Source != "bistro" || found.API != "absent" || found.Mirror != "live" ||
		summary.Kind != "summary" || summary.Differences != 1 || summary.Rows == 0 ||
		len(summary.Streams) != 1 || summary.Streams[0].Took <= 0 || summary.Streams[0].Took > 90 {
		t.Errorf("%+v\n%+v", found, summary)
	}

	h.key(sandbox.RoleDisabled)
	h.want(3, "disabled", "verify")
}

// Rows in quarantine are missing from the mirror: every command that speaks of it says so.
func TestRowsInQuarantineAreNoSuccess(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.migrated()
	stop := h.engineStays()
	bad := faults.Fault{Kind: faults.PriceText, Route: "/products", Probability: 1, Count: 1}
	if err := h.AddFault(bad); err != nil {
		t.Fatal(err)
	}
	const said = "source bistro: stream products: 1 row is in quarantine\n          → What could not be understood is kept whole."
	for _, command := range [][]string{{"sync"}, {"sync", "--stream", "products"}, {"verify"}, {"verify", "--stream", "products"}} {
		if r := h.want(1, said, command...); !strings.Contains(r.out, "quarantined\n") {
			t.Errorf("larder %v shows no stream in quarantine:\n%s", command, r.out)
		}
	}
	h.want(1, "1 row is in quarantine.", "status")
	h.want(0, "ok", "sync", "--stream", "allergens")
	h.want(0, "ok", "sync", "--full", "--stream", "products") // the row is good now
	h.want(0, "quarantined: 0", "verify", "--stream", "products")

	stop()
	h.configure(local("embedded:./data"))
	polling.Page(t, h.start()+"/readyz", http.StatusOK, "ready")
	bad.Count = 0 // as long as the daemon walks, too
	if err := h.AddFault(bad); err != nil {
		t.Fatal(err)
	}
	const all = " rows are in quarantine\n          → What could not be understood"
	h.want(1, all, "sync", "--full", "--stream", "products")
	h.want(1, all, "verify", "--stream", "products")
}

// statusInSeconds expects durations in seconds.
func statusInSeconds(t *testing.T, text string) {
	t.Helper()
	var s struct {
		Sources []struct {
			Streams []struct {
				Name string
				Lag  *float64 `json:"lag_seconds"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	for _, st := range s.Sources[0].Streams {
		if st.Name == "sales_orders" && (st.Lag == nil || *st.Lag <= 0 || *st.Lag > 90) {
			t.Errorf("lag_seconds of %s:\n%s", st.Name, text)
		}
	}
}
