package app

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine/writer"
)

// A folder of a program with other views and the same migrations: larder sql reports them, and
// larder migrate makes the views of this program.
func TestAFolderWithOtherViews(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
	w.migrated(t)
	const menus = "SELECT count() FROM menus"
	var out bytes.Buffer
	w.exec(t, "DROP VIEW larder.menus",
		"INSERT INTO larder_raw.migrations (version, name) SELECT 1001, '1001_views_0123456789abcdef'")
	for code, sql := range map[string]string{"UNKNOWN_TABLE": menus, "UNKNOWN_IDENTIFIER": "SELECT newest FROM products"} {
		err := w.app.Query(t.Context(), sql, "TSV", &out)
		if !errors.Is(err, clickhouse.ErrOtherViews) || !strings.Contains(err.Error(), code) {
			t.Errorf("with other views: %v", err)
		}
	}
	if err := w.app.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := w.app.Query(t.Context(), menus, "TSV", &out); err != nil || out.String() != "0\n" {
		t.Errorf("migrated: %q, %v", out.String(), err)
	}
}

// exec runs statements on the engine of the world's folder.
func (w *world) exec(t *testing.T, statements ...string) {
	t.Helper()
	engine, err := writer.Open(t.Context(), writer.Options{
		Folder: w.app.Config.Warehouse.DSN.Dir(), Databases: []string{"larder", "larder_raw"}, Unconfined: w.app.Unconfined, Log: w.app.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	conn, err := clickhousego.Open(&clickhousego.Options{Protocol: clickhousego.HTTP, Addr: []string{"embedded"}, DialContext: engine.Dial})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, sql := range statements {
		if err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
