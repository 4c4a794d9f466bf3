package dashboards

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/app"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/server"
	"github.com/larder-sync/larder/syncer"
)

// The restaurants of the warehouse beside the one of the sandbox.
const (
	copies = 99
	// The id of one of them holds what could end a string in SQL.
	strangeID = `o'br\ien \' OR 1=1 --`
	emptyID   = "nothing-yet"
)

// warehouse is one that Larder has filled from a sandbox, with a hundred restaurants.
type warehouse struct {
	driver.Conn
	reader     driver.Conn // the way in that Grafana takes; of a bare warehouse one with its settings, which sees at once what is written
	t          *testing.T
	restaurant string
	from, to   time.Time // days of which the sandbox has orders
	box        *sandbox.Sandbox
	key        string
	offered    map[[2]string]types.MenuProduct // online, before things happened
}

// newWarehouse mirrors a restaurant that has lived a little, by the program itself, and
// copies it.
func newWarehouse(t *testing.T) *warehouse {
	t.Helper()
	dir := t.TempDir()
	box, a := restaurantAndProgram(t, dir)
	key := box.Key(0, sandbox.RoleMain).Value
	offered := offers(t, box, key)
	mirrorTwice(t, box, a)
	w, engine := openWarehouse(t, dir)
	w.restaurant, w.box, w.key, w.offered = box.Restaurant(0).ID(), box, key, offered
	w.copy()
	w.bare(engine, "empty")
	w.reader = connect(t, ch.Options{Addr: []string{enginetest.Reading(t, engine, "larder", "empty")}})
	return w
}

// newBareWarehouse has tables and views, and no rows.
func newBareWarehouse(t *testing.T) *warehouse {
	t.Helper()
	w, engine := openWarehouse(t, t.TempDir())
	w.bare(engine, "larder")
	return w
}

func openWarehouse(t *testing.T, dir string) (*warehouse, *server.Server) {
	t.Helper()
	engine, err := server.Open(t.Context(), engine.Options{Path: filepath.Join(dir, "larder-data"), Databases: []string{"larder", "larder_raw", "empty", "empty_raw"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	zone, err := time.LoadLocation(schema.Zone)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().In(zone)
	settings := ch.Settings{}
	for name, value := range server.ReaderSettings(schema.Zone) {
		settings[name] = value
	}
	return &warehouse{
		Conn:   connect(t, ch.Options{Addr: []string{"engine:8123"}, DialContext: engine.Dial}),
		reader: connect(t, ch.Options{Addr: []string{"engine:8123"}, DialContext: engine.Dial, Settings: settings}), t: t,
		from: time.Date(now.Year(), now.Month(), now.Day()-27, 0, 0, 0, 0, zone), to: time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, zone).Add(-time.Second),
	}, engine
}

func connect(t *testing.T, way ch.Options) driver.Conn {
	t.Helper()
	way.Protocol, way.Auth.Database, way.ReadTimeout = ch.HTTP, "larder", 5*time.Minute
	conn, err := ch.Open(&way)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func restaurantAndProgram(t *testing.T, dir string) (*sandbox.Sandbox, *app.App) {
	t.Helper()
	// It has lived for four weeks, with guests who order online, and stands still from now on.
	now := time.Now()
	box, err := sandbox.New(sandbox.Options{
		Inspect: apicheck.Inspect(t),
		Seed:    5, Orders: 325, Days: 13, NoLimits: true,
		Live: true, Epoch: now.AddDate(0, 0, -27), Now: func() time.Time { return now }, OnlineOrders: 30,
	})
	if err != nil {
		t.Fatal(err)
	}
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
			t.Error(err)
		}
	})
	for name, text := range map[string]string{
		"key": box.Key(0, sandbox.RoleMain).Value,
		"larder.yaml": fmt.Sprintf("sources:\n  - {name: bistro, base_url: \"http://%s/v1\", key_file: key, personal_data: pseudonymise}\n"+
			"warehouse: {dsn: \"embedded:./larder-data\", http_listen: \"\", flush_interval: 50ms}\nweb: {listen: \"\"}\n", l.Addr()),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Request{File: filepath.Join(dir, "larder.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	return box, app.New(cfg, slog.New(slog.DiscardHandler), "test")
}

// mirrorTwice mirrors a restaurant, lets things happen there, and mirrors them.
func mirrorTwice(t *testing.T, box *sandbox.Sandbox, a *app.App) {
	t.Helper()
	sync := func() {
		t.Helper()
		if _, err := a.Sync(t.Context(), syncer.Selection{}, time.Minute, nil); err != nil {
			t.Fatal(err)
		}
	}
	sync()
	happen(t, box.Restaurant(0))
	sync()
	if _, err := a.Reconcile(t.Context(), syncer.ReconcileRequest{}, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
}

// happen changes what the panels about changes show.
func happen(t *testing.T, r sandbox.Restaurant) {
	t.Helper()
	out := false
	orders, products, ingredients := r.IDs(sandbox.StreamSalesOrders), r.IDs(sandbox.StreamProducts), r.IDs(sandbox.StreamIngredients)
	orders = some(t, 8, orders, r.CancelOrder)
	some(t, 1, orders, func(id string) error { return r.RefundOrder(id, 100) })
	products = some(t, 20, products, func(id string) error { return r.EditProduct(id, sandbox.ProductChange{Price: 1234}) })
	some(t, 20, products, func(id string) error { return r.EditProduct(id, sandbox.ProductChange{Available: &out}) })
	ingredients = some(t, 1, ingredients, func(id string) error { return r.SetStock(id, -1500) })
	some(t, 5, ingredients, func(id string) error { return r.SetStock(id, 90_000) })
	if _, err := r.PlaceOrder(sandbox.OrderSpec{}); err != nil {
		t.Fatal(err)
	}
}

// some does a thing to the last n rows to which it can be done, and returns those before.
func some(t *testing.T, n int, ids []string, do func(id string) error) []string {
	t.Helper()
	for n > 0 && len(ids) > 0 {
		if do(ids[len(ids)-1]) == nil {
			n--
		}
		ids = ids[:len(ids)-1]
	}
	if n > 0 {
		t.Fatalf("%d rows are too few", n)
	}
	return ids
}

// copy makes a hundred restaurants of one, and one of which nothing but its key is known.
func (w *warehouse) copy() {
	w.t.Helper()
	columns := w.ask("SELECT table, groupArrayIf(name, name IN ('source', '_source'))[1] AS by FROM system.columns WHERE database = 'larder_raw' " +
		"AND table IN (SELECT name FROM system.tables WHERE database = 'larder_raw' AND engine LIKE '%MergeTree') GROUP BY table HAVING has(groupArray(name), 'business_id') ORDER BY table")
	for _, c := range columns.lines {
		own := fmt.Sprintf("if(n = %d, %s, concat(business_id, '-', toString(n))) AS business_id", copies, literal(strangeID))
		if c[1] != "" {
			own += ", concat(" + c[1] + ", '-', toString(n)) AS " + c[1]
		}
		for from := 1; from <= copies; from += 11 { // a few at a time: they pass through memory
			w.exec(fmt.Sprintf("INSERT INTO larder_raw.%[1]s SELECT * EXCEPT(n) REPLACE(%[2]s) FROM (SELECT * FROM larder_raw.%[1]s WHERE business_id = %[5]s) "+
				"ARRAY JOIN range(%[3]d, %[4]d) AS n", c[0], own, from, min(from+11, copies+1), literal(w.restaurant)))
		}
	}
	w.exec("INSERT INTO larder_raw.api_keys SELECT * REPLACE(" + literal(emptyID) + " AS business_id, 'Nimic' AS business_name) FROM larder_raw.api_keys LIMIT 1")
}

// bare makes a database in which nothing was ever mirrored.
func (w *warehouse) bare(engine *server.Server, database string) {
	w.t.Helper()
	sink, err := clickhouse.Open(w.t.Context(), clickhouse.Options{Dial: engine.Dial, Database: database})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := sink.Migrate(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	if err := sink.Close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

func (w *warehouse) exec(sql string) {
	w.t.Helper()
	if err := w.Exec(w.t.Context(), sql); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// texts are the values of one column.
func (w *warehouse) texts(sql string) []string {
	w.t.Helper()
	var all []string
	for _, line := range w.ask(sql).lines {
		all = append(all, line[0])
	}
	return all
}

// answer is what a query gave, as text; NULL is the word null.
type answer struct {
	columns, types []string
	lines          [][]string
}

func (w *warehouse) ask(sql string) answer {
	w.t.Helper()
	a, err := ask(w.t.Context(), w.reader, sql)
	if err != nil {
		w.t.Fatalf("%v\n%s", err, sql)
	}
	return a
}

func ask(ctx context.Context, conn driver.Conn, sql string) (answer, error) {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return answer{}, err
	}
	defer rows.Close()
	a := answer{columns: rows.Columns()}
	for _, c := range rows.ColumnTypes() {
		a.types = append(a.types, c.DatabaseTypeName())
	}
	for rows.Next() {
		into := make([]any, len(a.columns))
		for i, c := range rows.ColumnTypes() {
			into[i] = pointer(c)
		}
		if err := rows.Scan(into...); err != nil {
			return a, err
		}
		line := make([]string, len(into))
		for i, v := range into {
			line[i] = plainText(v)
		}
		a.lines = append(a.lines, line)
	}
	return a, rows.Err()
}
