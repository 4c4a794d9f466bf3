package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/verify"
)

// damage changes bytes of the largest part of each table.
func (w *world) damage(t *testing.T, tables ...string) {
	t.Helper()
	largest := w.query(t, "SELECT argMax(path, rows) FROM system.parts WHERE active AND database = 'larder_raw' AND table IN ('"+strings.Join(tables, "', '")+"') GROUP BY table")
	parts := strings.Fields(largest)
	if len(parts) != len(tables) {
		t.Fatalf("%d of the tables %v have parts", len(parts), tables)
	}
	for _, part := range parts {
		file := filepath.Join(part, "data.bin")
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(content) / 3; i < len(content)/3+16; i++ {
			content[i] ^= 0xff
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) query(t *testing.T, sql string) string {
	t.Helper()
	var out bytes.Buffer
	if err := w.app.Query(t.Context(), sql, "TSV", &out); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// identical verifies every row of every stream against the API.
func (w *world) identical(t *testing.T) {
	t.Helper()
	report, err := w.app.Verify(t.Context(), syncer.Selection{}, time.Minute, func(f verify.Finding) { t.Errorf("differs: %+v", f) }, nil)
	if err != nil || report.Differences() > 0 {
		t.Errorf("verify: %d differences, %v", report.Differences(), err)
	}
}

var damagedTables = []string{"sales_orders", "products", "sales_daily", "sales_products", "locations", "categories"}

// Bytes that change under a running daemon: the page names the table and the rows, the
// rest can be read, and a full resync brings everything back.
func TestDamageUnderTheDaemon(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 13, Orders: 300, Days: 10, NoLimits: true})
	w.migrated(t)
	w.app.settleAfter = time.Second
	d, stop := w.daemon(t, w.app)
	defer stop()
	if _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	for _, table := range damagedTables {
		w.damage(t, table)
		w.query(t, "SELECT count() FROM larder_raw."+table+" WHERE NOT ignore(*)")
	}
	problems := strings.Join(d.Status().Problems, "\n")
	for _, table := range damagedTables {
		for _, want := range []string{"of table larder_raw." + table + " was damaged on the disk and is set aside", "larder sync --full --stream " + table} {
			if !strings.Contains(problems, want) {
				t.Errorf("the status lacks %q:\n%s", want, problems)
			}
		}
	}
	saysRowsAreMissing(t, statusOf(t, d), damagedTables)
	if _, body := polling.Fetch(t, d.page.URL()+"/"); !strings.Contains(body, "larder_raw.sales_orders was damaged") {
		t.Errorf("the page says nothing of it:\n%.2000s", body)
	}
	if _, metrics := polling.Fetch(t, d.page.URL()+"/metrics"); !strings.Contains(metrics, fmt.Sprintf("\nlarder_warehouse_damaged_parts %d\n", len(damagedTables))) {
		t.Errorf("larder_warehouse_damaged_parts is not %d", len(damagedTables))
	}
	if w.query(t, "SELECT count() FROM larder_raw.sales_orders FINAL") == fmt.Sprint(len(w.Restaurant(0).IDs(sandbox.StreamSalesOrders))) {
		t.Error("the damage cost no row: the test damages nothing")
	}
	if _, err := w.another(w.app.Config, w.app.Log.Handler()).Sync(t.Context(), syncer.Selection{Full: true}, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	noNotices(t, d)
	w.equalsTruth(t)
	w.identical(t)
	if _, metrics := polling.Fetch(t, d.page.URL()+"/metrics"); !strings.Contains(metrics, "\nlarder_warehouse_damaged_parts 0\n") {
		t.Error("larder_warehouse_damaged_parts is not 0 after the full resync")
	}
}

// noNotices is after a full resync through the daemon: the notices of damage end with it.
func noNotices(t *testing.T, d *Daemon) {
	t.Helper()
	for _, problem := range d.Status().Problems {
		if strings.Contains(problem, "of table larder_raw.") { // a busy machine has others
			t.Errorf("after the full resync: %s", problem)
		}
	}
}

// Damage without a daemon: the commands report it. Then the checkpoints are damaged.
func TestDamageWhileStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 14, Orders: 300, Days: 10, NoLimits: true})
	w.migrated(t)
	w.app.settleAfter = time.Second
	w.sync(t)
	w.damage(t, damagedTables...)
	s, err := w.app.Status(t.Context()) // which starts the engine
	if err != nil || !strings.Contains(strings.Join(s.Problems, "\n"), "larder_raw.products was damaged") {
		t.Errorf("status: %v %v", s.Problems, err)
	}
	saysRowsAreMissing(t, s, damagedTables)
	stop := w.engineStays(t)
	if _, err := w.app.Sync(t.Context(), syncer.Selection{Full: true}, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	w.identical(t)
	if s, err := w.app.Status(t.Context()); err != nil || len(s.Problems) > 0 {
		t.Errorf("after the full resync: %v %v", s.Problems, err)
	}
	stop()
	w.losesCheckpoints(t)
}

// Checkpoints that are lost are a backfill again, never a gap: whatever changed while
// nobody was there is brought.
func (w *world) losesCheckpoints(t *testing.T) {
	t.Helper()
	w.damage(t, "checkpoints")
	w.change(t)
	w.sync(t) // which starts the engine
	w.engineStays(t)
	w.equalsTruth(t)
	if left := w.query(t, "SELECT count() FROM larder_raw.checkpoints FINAL WHERE walk = 'backfill' AND stream = 'sales_orders' AND done AND rows > 250"); left != "1" {
		t.Errorf("%s backfills of the orders have come to their end since", left)
	}
	if s, err := w.app.Status(t.Context()); err != nil || len(s.Problems) > 0 {
		t.Errorf("after it: %v %v", s.Problems, err)
	}
}

// What the API cannot tell again is not called brought back: past states are lost, which
// the notice says as long as it stands, and its end too.
func TestLostHistoriesAreNotCalledBroughtBack(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 16, Orders: 300, Days: 10, NoLimits: true})
	w.migrated(t)
	log := &polling.Text{}
	w.app = w.another(w.app.Config, slog.NewTextHandler(log, nil))
	w.app.settleAfter = time.Second
	w.sync(t)
	reconcile := func() (proven string) {
		if _, err := w.app.Reconcile(t.Context(), syncer.ReconcileRequest{}, time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		return w.query(t, "SELECT count() FROM larder_raw.proofs FINAL WHERE verdict = 'proven' AND day >= (SELECT min(business_day) FROM larder.sales_orders)")
	}
	proven := reconcile()
	// What the notice of each says, beside that the part is set aside.
	notices := map[string][]string{
		"product_history": {"past states", "The API does not know", "a backup of the data folder"},
		"stock_history":   {"past states", "The API does not know", "a backup of the data folder"},
		"proofs":          {"larder reconcile compares them again"},
		"runs":            {"what only this part held is lost"},
		"sales_orders":    {"larder sync --full --stream sales_orders"},
	}
	w.damage(t, slices.Collect(maps.Keys(notices))...)
	d, stop := w.daemon(t, w.app)
	defer stop()
	problems := d.Status().Problems
	for table, words := range notices {
		for _, want := range words {
			if !slices.ContainsFunc(problems, func(p string) bool {
				return strings.Contains(p, "of table larder_raw."+table+" ") && strings.Contains(p, want)
			}) {
				t.Errorf("the notice of %s lacks %q:\n%s", table, want, strings.Join(problems, "\n"))
			}
		}
	}
	if _, err := w.another(w.app.Config, w.app.Log.Handler()).Sync(t.Context(), syncer.Selection{Full: true}, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	noNotices(t, d)
	if again := reconcile(); again != proven || proven == "0" {
		t.Errorf("%s days are proven again, of %s", again, proven)
	}
	for table := range notices {
		said := func(words string) bool {
			return slices.ContainsFunc(strings.Split(log.String(), "\n"), func(l string) bool {
				return strings.Contains(l, words) && strings.Contains(l, "table=larder_raw."+table)
			})
		}
		brought, lost := said("has been brought back"), said("is not brought back")
		if rows := table == "sales_orders"; brought == lost || lost == rows {
			t.Errorf("%s: brought back %t, lost %t:\n%s", table, brought, lost, log)
		}
	}
}
