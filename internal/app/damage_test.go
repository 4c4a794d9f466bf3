package app

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/syncer"
)

// damage changes bytes of the largest part of a table.
func (w *world) damage(t *testing.T, table string) {
	t.Helper()
	part := w.told(t, "SELECT path FROM system.parts WHERE active AND database = 'larder_raw' AND table = '"+table+"' ORDER BY rows DESC LIMIT 1")
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

func (w *world) told(t *testing.T, sql string) string {
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
	report, err := w.app.Verify(t.Context(), syncer.Selection{}, time.Minute, Verifying{Found: func(f syncer.Finding) { t.Errorf("differs: %+v", f) }})
	if err != nil || report.Differences() > 0 {
		t.Errorf("verify: %d differences, %v", report.Differences(), err)
	}
}

var damagedTables = []string{"sales_orders", "products", "sales_daily", "sales_products", "locations", "categories"}

// Bytes that change under a running daemon: the page names the table and the rows, the
// rest can be read, and a full resync brings everything back.
func TestDamageUnderTheDaemon(t *testing.T) {
	w := newWorld(t, sandbox.Options{Seed: 13, Orders: 300, Days: 10, NoLimits: true})
	w.app.settleAfter = time.Second
	d, stop := w.daemon(t, w.app)
	defer stop()
	if _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	for _, table := range damagedTables {
		w.damage(t, table)
		w.told(t, "SELECT count() FROM larder_raw."+table+" WHERE NOT ignore(*)")
	}
	problems := strings.Join(d.status().Problems, "\n")
	for _, table := range damagedTables {
		for _, want := range []string{"of table larder_raw." + table + " was damaged on the disk and is set aside", "larder sync --full --stream " + table} {
			if !strings.Contains(problems, want) {
				t.Errorf("the status lacks %q:\n%s", want, problems)
			}
		}
	}
	if _, body := fetch(t, d.page.URL()+"/"); !strings.Contains(body, "larder_raw.sales_orders was damaged") {
		t.Errorf("the page says nothing of it:\n%.2000s", body)
	}
	if _, metrics := fetch(t, d.page.URL()+"/metrics"); !strings.Contains(metrics, fmt.Sprintf("\nlarder_warehouse_damaged_parts %d\n", len(damagedTables))) {
		t.Errorf("larder_warehouse_damaged_parts is not %d", len(damagedTables))
	}
	if w.told(t, "SELECT count() FROM larder_raw.sales_orders FINAL") == fmt.Sprint(len(w.Restaurant(0).IDs(sandbox.StreamSalesOrders))) {
		t.Error("the damage cost no row: the test damages nothing")
	}
	if _, err := d.RunOnce(t.Context(), syncer.Selection{Full: true}, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	w.identical(t)
	if problems := d.status().Problems; len(problems) > 0 {
		t.Errorf("after the full resync: %v", problems)
	}
	if _, metrics := fetch(t, d.page.URL()+"/metrics"); !strings.Contains(metrics, "\nlarder_warehouse_damaged_parts 0\n") {
		t.Error("larder_warehouse_damaged_parts is not 0 after the full resync")
	}
}

// The same with nobody there: the commands tell it.
func TestDamageWhileStopped(t *testing.T) {
	w := newWorld(t, sandbox.Options{Seed: 14, Orders: 300, Days: 10, NoLimits: true})
	w.app.settleAfter = time.Second
	w.sync(t)
	for _, table := range damagedTables {
		w.damage(t, table)
	}
	s, err := w.app.Status(t.Context())
	if err != nil || !strings.Contains(strings.Join(s.Problems, "\n"), "larder_raw.products was damaged") {
		t.Errorf("status: %v %v", s.Problems, err)
	}
	if _, err := w.app.Sync(t.Context(), syncer.Selection{Full: true}, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	w.identical(t)
	if s, err := w.app.Status(t.Context()); err != nil || len(s.Problems) > 0 {
		t.Errorf("after the full resync: %v %v", s.Problems, err)
	}
}

// Checkpoints that are lost are a backfill again, never a gap: whatever changed while
// nobody was there is brought.
func TestLostCheckpointsAreABackfillAgain(t *testing.T) {
	w := newWorld(t, sandbox.Options{Seed: 15, Orders: 300, Days: 10, NoLimits: true})
	w.sync(t)
	w.damage(t, "checkpoints")
	w.change(t)
	w.sync(t)
	w.equalsTruth(t)
	if left := w.told(t, "SELECT count() FROM larder_raw.checkpoints FINAL WHERE walk = 'backfill' AND stream = 'sales_orders' AND done AND rows > 250"); left != "1" {
		t.Errorf("%s backfills of the orders have come to their end since", left)
	}
	if s, err := w.app.Status(t.Context()); err != nil || len(s.Problems) > 0 {
		t.Errorf("after it: %v %v", s.Problems, err)
	}
}
