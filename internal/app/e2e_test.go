package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// world is a sandbox that listens, and a configuration that mirrors it.
type world struct {
	*sandbox.Sandbox
	app       *App
	dir       string
	unlimited bool
}

// newWorld makes the sandbox, in which it is noon unless the options have a clock. Nothing
// is read over HTTP: a reader takes longer to start than most tests.
func newWorld(t *testing.T, o sandbox.Options) *world {
	t.Helper()
	if o.Now == nil {
		o.Now = sandbox.AtNoon()
	}
	if o.Orders >= 0 {
		o.OnlineOrders = 60
	}
	if o.OnlineOrders > 0 {
		o.Epoch = o.Now().Add(-36 * time.Hour)
	}
	o.Inspect = apicheck.Inspect(t)
	box, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range box.Len() {
		guestsHaveLeft(box.OnlineOrders(i), o.Now())
	}
	return worldOf(t, box, o)
}

// worldOf has a sandbox listen that was made with these options.
func worldOf(t *testing.T, box *sandbox.Sandbox, o sandbox.Options) *world {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- sandbox.Serve(ctx, l, box) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("sandbox: %v", err)
		}
	})
	w := &world{Sandbox: box, dir: t.TempDir(), unlimited: o.NoLimits}
	var b strings.Builder
	b.WriteString("sources:\n")
	for i := range max(o.Businesses, 1) {
		name := fmt.Sprintf("r%d", i)
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(box.Key(i, sandbox.RoleMain).Value), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "  - {name: %s, base_url: %q, key_file: %s}\n", name, "http://"+l.Addr().String()+"/v1", name)
	}
	b.WriteString("warehouse: {http_listen: \"\", flush_interval: 50ms}\nweb: {listen: \"127.0.0.1:0\"}\n")
	file := filepath.Join(w.dir, "larder.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Request{File: file})
	if err != nil {
		t.Fatal(err)
	}
	w.app = w.another(cfg, slog.DiscardHandler)
	return w
}

// guestsHaveLeft has the guests order who come until an hour ago, and none later: what they
// have ordered stays as it is.
func guestsHaveLeft(b *ordering.Book, now time.Time) {
	b.Advance(now.Add(-time.Hour).UnixMicro())
	b.StopGuests()
	b.Advance(now.UnixMicro())
}

// another returns an App for the world as another process would have one. Where the service has
// no limits it begins with high ones, and does not wait for what an earlier process may have spent.
func (w *world) another(cfg *config.Config, log slog.Handler) *App {
	a := New(cfg, slog.New(log), "test")
	if w.unlimited {
		a.limits = budget.Limits{PerMinute: 60_000, BusinessPerMinute: 60_000, HeavyPerMinute: 60_000}
	}
	return a
}

// prepared is a folder with a migrated warehouse, made once.
var prepared struct {
	sync.Once
	dir string
}

// notInShort skips a test of a whole daemon under the race detector: the tests that are not
// skipped run the same goroutines.
func notInShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the tests of two daemons, and of the packages, run the same goroutines")
	}
}

// migrated gives the world a copy of a migrated warehouse, in half of the time of a first start.
func (w *world) migrated(t *testing.T) {
	t.Helper()
	copyMigrated(t, w.app.Config.Warehouse.DSN.Dir())
}

// copyMigrated copies a migrated warehouse to a data folder.
func copyMigrated(t *testing.T, to string) {
	t.Helper()
	prepared.Do(func() {
		first := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
		if err := first.app.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		dir, err := os.MkdirTemp(testFolder, "migrated")
		if err != nil {
			t.Fatal(err)
		}
		copyFolder(t, first.app.Config.Warehouse.DSN.Dir(), filepath.Join(dir, "data"))
		prepared.dir = filepath.Join(dir, "data")
	})
	if prepared.dir == "" {
		t.Fatal("there is no migrated warehouse to copy")
	}
	copyFolder(t, prepared.dir, to)
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if said, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v: %s", from, err, said)
	}
}

// engineStays has the engine run until the test ends, or stop is called. Without it, each
// command that no daemon is beside starts the engine anew.
func (w *world) engineStays(t *testing.T) (stop func()) {
	t.Helper()
	l := &lifecycle.Cleanups{Log: w.app.Log}
	if _, err := w.app.Reach(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := l.Close(); err != nil {
			t.Errorf("the engine: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func (w *world) sync(t *testing.T) syncer.Report {
	t.Helper()
	report, err := w.app.Sync(t.Context(), syncer.Selection{}, time.Minute, nil)
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	return report
}

// compared are the streams whose rows are compared with the truth: all but the key and the
// service's totals, which are compared where those are tested.
func compared(t *testing.T) (names []string) {
	t.Helper()
	for _, d := range registry.All() {
		if d.Kind != registry.KeyKind && d.Kind != registry.TotalsKind {
			names = append(names, d.Name)
		}
	}
	return names
}

// equalsTruth compares the live rows of every stream with what the sandbox says
// that a mirror must hold.
func (w *world) equalsTruth(t *testing.T) {
	t.Helper()
	mirror := w.mirrored(t)
	for _, stream := range compared(t) {
		for i := range w.app.Config.Sources {
			w.equalsTruthOf(t, mirror, stream, i)
		}
	}
}

// equalsTruthOf is equalsTruth of one stream of one source.
func (w *world) equalsTruthOf(t *testing.T, mirror map[listOf]map[string]any, stream string, source int) {
	t.Helper()
	key := w.Key(source, sandbox.RoleMain)
	want := map[string]any{}
	if err := w.Truth(key.Value, stream, func(r sandbox.TruthRow) error {
		if r.Row == nil {
			return nil
		}
		if stream == registry.Online {
			r.Row = personal.Policy{}.Order(r.Row)
		}
		var v any
		want[r.ID] = &v
		return json.Unmarshal(r.Row, &v)
	}); err != nil {
		t.Fatal(err)
	}
	got := mirror[listOf{stream, key.BusinessID}]
	if len(want) == 0 || !reflect.DeepEqual(want, got) { // a diff of the same takes seconds
		t.Errorf("%s of %s: %d rows, want %d (-truth +mirror):\n%.2000s", stream, key.BusinessName, len(got), len(want), cmp.Diff(want, got))
	}
}

type listOf struct{ stream, business string }

// mirrored are the live rows by id. All are read with one query: without a daemon
// each one starts the engine.
func (w *world) mirrored(t *testing.T) map[listOf]map[string]any {
	t.Helper()
	var parts []string
	for _, stream := range compared(t) {
		parts = append(parts, fmt.Sprintf("SELECT '%[1]s' AS stream, business_id AS business, id, _raw AS raw FROM larder_raw.%[1]s FINAL", stream))
	}
	var out bytes.Buffer
	if err := w.app.Query(t.Context(), strings.Join(parts, " UNION ALL "), "JSONEachRow", &out); err != nil {
		t.Fatalf("query: %v", err)
	}
	mirror := map[listOf]map[string]any{}
	for lines := json.NewDecoder(&out); lines.More(); {
		var row struct{ Stream, Business, ID, Raw string }
		if err := lines.Decode(&row); err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal([]byte(row.Raw), &v); err != nil {
			t.Fatalf("%s %s: _raw is no JSON: %v", row.Stream, row.ID, err)
		}
		list := listOf{row.Stream, row.Business}
		if mirror[list] == nil {
			mirror[list] = map[string]any{}
		}
		mirror[list][row.ID] = &v
	}
	return mirror
}

func TestSyncMirrorsTheTruth(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 3, Businesses: 2, Orders: 700, Days: 20, NoLimits: true})
	report := w.sync(t)
	w.equalsTruth(t)
	for _, s := range report.Sources {
		for _, st := range s.Streams {
			// The key is written when it is asked, before the pass counts.
			if st.Err != nil || st.Off != "" || st.Upserts == 0 && st.Stream != "api_keys" {
				t.Errorf("%s %s: %+v", s.Source, st.Stream, st)
			}
		}
	}

	r := w.Restaurant(0)
	orders, products := r.IDs(sandbox.StreamSalesOrders), r.IDs(sandbox.StreamProducts)
	for what, err := range map[string]error{
		"delete orders":   r.Delete(sandbox.StreamSalesOrders, orders[3], orders[400]),
		"touch products":  r.Touch(sandbox.StreamProducts, products[0], products[5]),
		"delete product":  r.Delete(sandbox.StreamProducts, products[7]),
		"rename location": r.RenameLocation(r.LocationIDs()[0], "Alt nume"),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	w.engineStays(t)
	w.sync(t)
	w.equalsTruth(t)

	status, err := w.app.Status(t.Context())
	if err != nil {
		t.Fatalf("status without a daemon: %v", err)
	}
	if len(status.Sources) != 2 || status.Sources[0].BusinessID != w.Key(0, sandbox.RoleMain).BusinessID || *status.Stream("r0", sandbox.StreamSalesOrders).Rows < 600 {
		t.Errorf("stored status = %+v", status.Sources)
	}
}

func TestDaemonServesTheCommandsBesideIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 4, Orders: 300, Days: 10, NoLimits: true})
	w.app.Config.Warehouse.HTTPListen = "127.0.0.1:0"
	d, stop := w.daemon(t, w.app)

	report := w.sync(t) // through the socket: the daemon makes the pass
	if len(report.Sources) != 1 || len(report.Sources[0].Streams) != len(config.Streams) {
		t.Errorf("report = %+v", report)
	}
	w.equalsTruth(t)
	if _, err := w.app.Sync(t.Context(), syncer.Selection{Streams: []string{"none"}}, 0, nil); lifecycle.ExitCode(err) != lifecycle.ExitUsage {
		t.Errorf("unknown stream: %v", err)
	}
	seen, err := w.app.Status(t.Context())
	if err != nil || seen.StartedAt.IsZero() || seen.Sources[0].State != status.StateRunning {
		t.Errorf("status = %+v, %v", seen, err)
	}
	for path, want := range map[string]string{
		"/":            "Rows held",
		"/readyz":      "ready",
		"/status.json": `"r0"`,
		"/metrics":     "larder_rows_total",
	} {
		if code, body := polling.Fetch(t, d.page.URL()+path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("GET %s = %d, want %q in\n%.500s", path, code, want, body)
		}
	}
	_, metrics := polling.Fetch(t, d.page.URL()+"/metrics")
	problems, err := promlint.New(strings.NewReader(metrics)).Lint()
	if err != nil {
		t.Errorf("metrics: %v", err)
	}
	for _, p := range problems {
		t.Errorf("metric %s: %s", p.Metric, p.Text)
	}
	for _, path := range []string{"/", "/status.json", "/metrics", "/readyz"} {
		if _, body := polling.Fetch(t, d.page.URL()+path); strings.Contains(body, w.Key(0, sandbox.RoleMain).Value) {
			t.Errorf("GET %s shows the key", path)
		}
	}
	polling.Page(t, d.queryURL+"/?query=SELECT%20count()%3E0%20FROM%20larder.products", http.StatusOK, "1\n")

	began := time.Now()
	stop()
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if w.app.served(t.Context()) {
		t.Error("the socket still answers")
	}
}

func TestFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w.app.Config.Warehouse.HTTPListen = taken.Addr().String() // fails last, with page and engine open
	_, err = w.app.Open(t.Context(), nil)
	if lifecycle.ExitCode(err) != lifecycle.ExitUsage || !strings.Contains(err.Error(), "is taken by another process") {
		t.Fatalf("err = %v", err)
	}
	w.app.Config.Warehouse.HTTPListen = ""
	d, err := w.app.Open(t.Context(), nil)
	if err != nil {
		t.Fatalf("after a failed start: %v", err)
	}
	if err := d.life.Close(); err != nil {
		t.Error(err)
	}
}
