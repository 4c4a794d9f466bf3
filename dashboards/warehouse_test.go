package dashboards

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/simulated"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
	"github.com/larder-sync/larder/sinks/engine/server"
	"github.com/larder-sync/larder/syncer"
)

const (
	// The id of one of the restaurants holds what could end a string in SQL.
	strangeID = `o'br\ien \' OR 1=1 --`
	emptyID   = "nothing-yet"
	// bareDatabase has tables and views, and no rows before and after each test.
	bareDatabase = "test_bare"
)

// Panels, views and the service read one clock, which is at an evening: no figure depends on when
// the tests run.
var (
	bucharest, _ = time.LoadLocation(schema.Zone)
	evening      = time.Date(2026, 11, 26, 20, 30, 0, 0, bucharest)
	tonight      = simulated.Clock{At: evening}
)

// warehouse is one that Larder has filled from a sandbox, with several restaurants, or a bare one.
type warehouse struct {
	driver.Conn
	// reader is the reading interface, which Grafana uses. A bare warehouse has a connection with
	// its settings, which reads at once what is written.
	reader     driver.Conn
	t          *testing.T
	database   string
	copies     int // of the restaurant of the sandbox
	restaurant string
	from, to   time.Time // days of which the sandbox has orders
	box        *sandbox.Sandbox
	key        string
	offered    map[[2]string]types.MenuProduct // online, before things happened
	asked      map[string]answer               // by statement, of a warehouse that does not change any more
}

// newWarehouse mirrors a restaurant that has lived a little, and copies it.
func newWarehouse(t *testing.T, copies int) *warehouse {
	t.Helper()
	if testing.Short() {
		t.Skip("what the daemon and its sink do at once is raced in their own packages; the queries come one after the other")
	}
	bare(t)
	database := enginetest.Database(t)
	migrate(t, database)
	w := openWarehouse(t, database)
	w.copies = copies
	synctest.Test(t, w.mirror)
	w.copy()
	tonight.Set(t, database)
	w.reader = connect(t, database, ch.Options{Addr: []string{enginetest.Reading(t, enginetest.Engine(t), database, bareDatabase)}})
	w.asked = map[string]answer{}
	return w
}

// newBareWarehouse has tables and views, and no rows. Tests that have one do not run in parallel.
func newBareWarehouse(t *testing.T) *warehouse {
	t.Helper()
	if testing.Short() {
		t.Skip("queries one after the other: no goroutines of ours meet")
	}
	bare(t)
	w := openWarehouse(t, bareDatabase)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		filled, err := ask(ctx, w.Conn, "SELECT name FROM system.tables WHERE total_rows > 0 AND name != 'migrations' AND database = '"+bareDatabase+"_raw'")
		for _, table := range filled.lines {
			err = errors.Join(err, w.Exec(ctx, "TRUNCATE TABLE "+bareDatabase+"_raw."+table[0]+" SYNC"))
		}
		if err != nil {
			t.Errorf("empty the bare database: %v", err)
		}
	})
	return w
}

// bare makes the bare database of this test binary at the first call.
func bare(t *testing.T) {
	t.Helper()
	var made uint64
	if err := enginetest.Conn(t, "default").QueryRow(t.Context(), "SELECT count() FROM system.databases WHERE name = '"+bareDatabase+"'").Scan(&made); err != nil {
		t.Fatal(err)
	}
	if made == 0 {
		migrate(t, bareDatabase)
		tonight.Set(t, bareDatabase)
	}
}

func migrate(t *testing.T, database string) {
	t.Helper()
	sink, err := clickhouse.Open(t.Context(), clickhouse.Options{Dial: enginetest.Engine(t).Dial, Database: database})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	simulated.KeepRuns(t, database)
	if err := sink.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func openWarehouse(t *testing.T, database string) *warehouse {
	t.Helper()
	settings := ch.Settings{}
	for name, value := range server.ReaderSettings(schema.Zone) {
		settings[name] = value
	}
	dial := enginetest.Engine(t).Dial
	return &warehouse{
		Conn:   connect(t, database, ch.Options{Addr: []string{"engine:8123"}, DialContext: dial}),
		reader: connect(t, database, ch.Options{Addr: []string{"engine:8123"}, DialContext: dial, Settings: settings}), t: t, database: database,
		from: time.Date(evening.Year(), evening.Month(), evening.Day()-27, 0, 0, 0, 0, bucharest), to: time.Date(evening.Year(), evening.Month(), evening.Day()+1, 0, 0, 0, 0, bucharest).Add(-time.Second),
	}
}

func connect(t *testing.T, database string, way ch.Options) driver.Conn {
	t.Helper()
	way.Protocol, way.Auth.Database, way.ReadTimeout = ch.HTTP, database, 5*time.Minute
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

// mirror mirrors a restaurant, lets things happen there, mirrors them and compares the days,
// all that evening.
func (w *warehouse) mirror(t *testing.T) {
	time.Sleep(time.Until(evening))
	// The restaurant has lived for four weeks, with guests who order online, and stands still from now on.
	box, err := sandbox.New(sandbox.Options{
		Inspect: apicheck.Inspect(t),
		Seed:    5, Orders: 325, Days: 13, NoLimits: true,
		Live: true, Epoch: evening.AddDate(0, 0, -27), Now: func() time.Time { return evening }, OnlineOrders: 30,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.box, w.key, w.restaurant = box, box.Key(0, sandbox.RoleMain).Value, box.Restaurant(0).ID()
	w.offered = offers(t, box, w.key)
	sink, err := clickhouse.Open(t.Context(), clickhouse.Options{Dial: simulated.WayOut(t, enginetest.Engine(t).Path()), Database: w.database})
	if err != nil {
		t.Fatal(err)
	}
	pseudonyms, err := personal.New(personal.Pseudonymise, []byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	y, err := syncer.New(syncer.Options{
		Exclusive: true, Sink: sink,
		Sources: []syncer.Source{{Name: "bistro", BaseURL: "http://api.test/v1", Key: func() string { return w.key }, Personal: pseudonyms}},
		API:     api.Options{Transport: box.Transport(), Jitter: func() float64 { return 0.5 }},
	})
	if err != nil {
		t.Fatal(err)
	}
	pass := func() {
		t.Helper()
		if report, err := y.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil || report.Err() != nil {
			t.Fatalf("pass: %v, %v", err, report.Err())
		}
	}
	pass()
	happen(t, box.Restaurant(0))
	pass()
	if _, err := y.Reconcile(t.Context(), syncer.ReconcileRequest{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(t.Context()); err != nil {
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

// copy makes several restaurants of one, and one of which nothing but its key is known.
func (w *warehouse) copy() {
	w.t.Helper()
	columns := w.ask("SELECT table, groupArrayIf(name, name IN ('source', '_source'))[1] AS by FROM system.columns WHERE database = '" + w.database + "_raw' " +
		"AND table IN (SELECT name FROM system.tables WHERE database = '" + w.database + "_raw' AND engine LIKE '%MergeTree') GROUP BY table HAVING has(groupArray(name), 'business_id') ORDER BY table")
	for _, c := range columns.lines {
		own := fmt.Sprintf("if(n = %d, %s, concat(business_id, '-', toString(n))) AS business_id", w.copies, literal(strangeID))
		if c[1] != "" {
			own += ", concat(" + c[1] + ", '-', toString(n)) AS " + c[1]
		}
		for from := 1; from <= w.copies; from += 11 { // a few at a time: they pass through memory
			w.exec(fmt.Sprintf("INSERT INTO larder_raw.%[1]s SELECT * EXCEPT(n) REPLACE(%[2]s) FROM (SELECT * FROM larder_raw.%[1]s WHERE business_id = %[5]s) "+
				"ARRAY JOIN range(%[3]d, %[4]d) AS n", c[0], own, from, min(from+11, w.copies+1), literal(w.restaurant)))
		}
	}
	w.exec("INSERT INTO larder_raw.api_keys SELECT * REPLACE(" + literal(emptyID) + " AS business_id, 'Nimic' AS business_name) FROM larder_raw.api_keys LIMIT 1")
}

func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

func (w *warehouse) exec(sql string) {
	w.t.Helper()
	sql = tonight.In(strings.ReplaceAll(sql, "larder_raw.", w.database+"_raw."))
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

// ask returns what a query gives that evening. A warehouse that does not change any more is
// asked each query once.
func (w *warehouse) ask(sql string) answer {
	w.t.Helper()
	if a, ok := w.asked[sql]; ok {
		return a
	}
	a, err := ask(w.t.Context(), w.reader, tonight.In(sql))
	if err != nil {
		w.t.Fatalf("%v\n%s", err, sql)
	}
	if w.asked != nil {
		w.asked[sql] = a
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
