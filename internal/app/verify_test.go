package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine/server"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

// runInEngine runs statements in the engine of a daemon, past everything that forbids
// them.
func runInEngine(t *testing.T, d *Daemon, statements ...string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return server.DialHeld(d.app.Config.Warehouse.DSN.Dir())(ctx, address)
		},
	}}
	defer client.CloseIdleConnections()
	for _, sql := range statements {
		res, err := client.Post("http://engine/", "text/plain", strings.NewReader(sql))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s\n%s %s %v", sql, res.Status, body, err)
		}
	}
}

// change is a statement that writes a row anew with other values.
func change(table, id, values string) string {
	return fmt.Sprintf("INSERT INTO larder_raw.%[1]s SELECT * REPLACE (_version + 1 AS _version, %[3]s) FROM (SELECT * FROM larder_raw.%[1]s WHERE id = '%[2]s' ORDER BY _version DESC LIMIT 1)", table, id, values)
}

func (w *world) verify(t *testing.T) (verify.Report, []string, error) {
	t.Helper()
	var mu sync.Mutex
	var found []string
	told := 0
	report, err := w.app.Verify(t.Context(), syncer.Selection{}, time.Minute, func(f verify.Finding) {
		mu.Lock()
		defer mu.Unlock()
		field := f.Field
		if f.Column {
			field = "column " + field
		}
		found = append(found, strings.Join([]string{f.Kind, f.Stream, f.ID, field, string(f.API), string(f.Mirror)}, "|"))
	}, func(verify.Progress) { told++ })
	if told == 0 {
		t.Error("no progress was told")
	}
	slices.Sort(found)
	return report, found, err
}

// TestVerifyInTheEngine compares every stream and every kind of column as the
// engine holds them, through the daemon and without one.
func TestVerifyInTheEngine(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 4, Orders: 250, Days: 40, NoLimits: true, Readings: sandbox.Readings{
		NewMapKeys: true, NullTombstones: true, NeverPaidTombstones: true, NullUpdatedAt: 5,
	}})
	w.migrated(t)
	w.app.Config.Schedule.Incremental, w.app.Config.Schedule.Snapshots = "@every 1s", "@every 1s" // its turns are waited for
	d, stop := w.daemon(t, w.app)
	defer stop()
	w.sync(t)

	report, found, err := w.verify(t)
	if err != nil || len(found) > 0 {
		t.Fatalf("an undamaged mirror differs: %v\n%s", err, strings.Join(found, "\n"))
	}
	for _, st := range report.Sources[0].Streams {
		if st.Rows == 0 || !st.Done {
			t.Errorf("%+v", st)
		}
	}
	if n := len(report.Sources[0].Streams); n != len(config.Streams) {
		t.Errorf("%d streams", n)
	}

	r := w.Restaurant(0)
	orders, products := r.IDs(sandbox.StreamSalesOrders), r.IDs(sandbox.StreamProducts)
	ingredients, categories := r.IDs(sandbox.StreamIngredients), r.IDs(sandbox.StreamCategories)
	location := r.LocationIDs()[0]
	runInEngine(t, d,
		change("sales_orders", orders[5], "toDecimal64('12345.67', 2) AS totals_total"),
		change("sales_orders", orders[6], "arrayMap(x -> concat(x, '!'), items.name) AS `items.name`"),
		change("sales_orders", orders[7], "toDateTime64('2001-02-03 04:05:06.000007', 6, 'UTC') AS created_at"),
		change("products", products[2], "CAST((['online'], [true]), 'Map(String, Bool)') AS channels_enabled"),
		change("products", products[3], "replaceRegexpOne(_raw, '\"name\":\"[^\"]*\"', '\"name\":\"x\"') AS _raw"),
		change("ingredients", ingredients[1], "toDecimal128('0.0000000001', 10) AS stock"),
		change("categories", categories[0], "1 AS _deleted, 'gone' AS _delete_reason"),
		change("locations", location, "NOT ordering_accepting AS ordering_accepting"),
		change("products", products[4], "'one too many' AS id"),
		"DELETE FROM larder_raw.sales_orders WHERE id = '"+orders[8]+"'",
	)
	want := []string{
		"difference|categories|" + categories[0] + `||"live"|"removed: gone"`,
		"difference|ingredients|" + ingredients[1] + "|column stock|",
		"difference|locations|" + location + "|column ordering_accepting|",
		"difference|products|" + products[2] + "|column channels_enabled|",
		"difference|products|" + products[3] + "|name|",
		`difference|products|one too many||"absent"|"live"`,
		"difference|sales_orders|" + orders[5] + "|column totals_total|",
		"difference|sales_orders|" + orders[6] + "|column items.name|",
		"difference|sales_orders|" + orders[7] + "|column created_at|",
		"difference|sales_orders|" + orders[8] + `||"live"|"absent"`,
	}
	w.expectFound(t, want)
	stop()
	w.expectFound(t, want) // the same without the daemon
}

// expectFound verifies, and compares the beginnings of the findings.
func (w *world) expectFound(t *testing.T, want []string) {
	t.Helper()
	report, found, err := w.verify(t)
	if lifecycle.ExitCode(err) != lifecycle.ExitProblem || !strings.Contains(err.Error(), "differ from the API") || report.Differences() != uint64(len(want)) {
		t.Errorf("%v, exit code %d, %d rows differ", err, lifecycle.ExitCode(err), report.Differences())
	}
	slices.Sort(want)
	short := slices.Clone(found)
	for i := range short {
		if i < len(want) && strings.HasPrefix(short[i], want[i]) {
			short[i] = want[i]
		}
	}
	if diff := cmp.Diff(want, short); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, f := range found {
		parts := strings.Split(f, "|")
		if len(parts) != 6 || parts[4] == "" || parts[5] == "" || parts[4] == parts[5] {
			t.Errorf("without both values: %s", f)
		}
	}
}

// An interrupted verification reports as far as it came, with a daemon too.
func TestVerifyInterrupted(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: 600, Days: 5, NoLimits: true})
	w.migrated(t)
	_, stop := w.daemon(t, w.app)
	w.sync(t)
	if err := w.AddFault(faults.Fault{Kind: faults.Hang, Route: "/sales/orders", Probability: 1}); err != nil {
		t.Fatal(err)
	}
	verify := func() {
		t.Helper()
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		report, err := w.app.Verify(ctx, syncer.Selection{}, time.Minute, nil, func(p verify.Progress) {
			for _, st := range p.Report.Sources[0].Streams {
				if st.Stream == sandbox.StreamSalesOrders {
					interrupt()
				}
			}
		})
		if !errors.Is(err, context.Canceled) || lifecycle.ExitCode(err) != lifecycle.ExitProblem || len(report.Sources) != 1 || len(report.Sources[0].Streams) < 5 || report.Sources[0].Streams[0].Rows != 1 {
			t.Errorf("%v, %+v", err, report)
		}
	}
	verify()
	stop()
	verify()
}

func TestVerifyOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
	if _, err := w.app.Verify(t.Context(), syncer.Selection{}, 0, nil, nil); lifecycle.ExitCode(err) != lifecycle.ExitWarehouse {
		t.Errorf("without a warehouse: %v", err)
	}
	if _, err := w.app.Verify(t.Context(), syncer.Selection{Sources: []string{"none"}}, 0, nil, nil); lifecycle.ExitCode(err) != lifecycle.ExitUsage {
		t.Errorf("an unknown source: %v", err)
	}
}

// On a remote warehouse there is no way through the daemon: the command verifies
// beside it, or alone.
func TestVerifyOfARemoteWarehouse(t *testing.T) {
	notInShort(t)
	r := newRemoteOn(t, t.TempDir())
	w := newWorld(t, sandbox.Options{Seed: 5, Orders: 200, Days: 10, NoLimits: true})
	w.use(t, r)
	if _, err := w.app.Verify(t.Context(), syncer.Selection{}, 0, nil, nil); !errors.Is(err, clickhouse.ErrEmpty) || lifecycle.ExitCode(err) != lifecycle.ExitWarehouse {
		t.Errorf("an empty server: %v", err) // and nothing is made there
	}
	w.sync(t)
	if report, found, err := w.verify(t); err != nil || len(found) > 0 || len(report.Sources[0].Streams) != len(config.Streams) {
		t.Errorf("%v, %q, %+v", err, found, report)
	}

	d, stop := w.daemon(t, w.app)
	until(t, d, http.StatusOK, "ready")
	if report, found, err := w.verify(t); err != nil || len(found) > 0 || report.Sources[0].State != status.StateRunning {
		t.Errorf("beside the daemon: %v, %q, %+v", err, found, report)
	}
	stop()

	if err := w.AddFault(faults.Fault{Kind: faults.Latency, Probability: 1, Delay: 500 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	_, err := w.app.Verify(t.Context(), syncer.Selection{}, time.Second, nil, func(verify.Progress) { r.down.Store(true) })
	if lifecycle.ExitCode(err) != lifecycle.ExitWarehouse {
		t.Errorf("the warehouse has gone: exit code %d, %v", lifecycle.ExitCode(err), err)
	}
}
