package reader_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// testGrafana asks what Grafana's ClickHouse plugin (4.20) asks, with the client and the
// options that it has over HTTP (pkg/plugin/driver.go, src/data/CHDatasource.ts).
func testGrafana(t *testing.T, f *front) {
	db := clickhouse.OpenDB(&clickhouse.Options{
		Addr: []string{f.address}, Protocol: clickhouse.HTTP, Auth: clickhouse.Auth{Database: "larder", Username: "default"},
		ClientInfo:  clickhouse.ClientInfo{Products: []struct{ Name, Version string }{{"clickhouse-datasource", "4.20.0"}, {"grafana", "12.1.0"}}},
		Compression: &clickhouse.Compression{Method: clickhouse.CompressionGZIP}, DialTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		Settings: clickhouse.Settings{"max_execution_time": 60},
	})
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if version := strings1(t, db, "SELECT version()"); len(version) != 1 || !strings.HasPrefix(version[0], "26.") {
		t.Error("version:", version)
	}

	// The keys of ad hoc filters, and the values of one.
	if keys := strings1(t, db, "SELECT name FROM (SELECT name, type, table FROM system.columns WHERE database IN ('larder') AND table = 'sales_orders')"); len(keys) < 20 {
		t.Error("keys:", keys)
	}
	values := strings1(t, db, "select distinct channel from larder.sales_orders limit 1000")
	if len(values) < 2 {
		t.Fatal("values:", values)
	}
	// Filters are a setting of the statement, by the table's name. Each of these has two.
	channel := values[0]
	filter := fmt.Sprintf(` channel = \'%s\' AND type REGEXP \'.+\' `, channel)
	panel := "SELECT toString(count()) FROM %s WHERE created_at >= toDateTime(0) AND created_at <= toDateTime(4102444800) settings additional_table_filters={'%s' : '%s'}"
	want := strings1(t, db, "SELECT toString(count()) FROM sales_orders WHERE channel = '"+channel+"'")
	all := strings1(t, db, "SELECT toString(count()) FROM sales_orders")
	for _, names := range [][2]string{{"sales_orders", "sales_orders"}, {"larder.sales_orders", "larder.sales_orders"}, {`"larder"."sales_orders"`, "larder.sales_orders"}} {
		if got := strings1(t, db, fmt.Sprintf(panel, names[0], names[1], filter)); got[0] != want[0] || got[0] == all[0] {
			t.Errorf("filtered by %s: %s orders, not %s of %s", names[1], got, want, all)
		}
	}
	// The macro $__adHocFilters names several tables.
	if got := strings1(t, db, fmt.Sprintf("SELECT toString(count()) FROM sales_orders SETTINGS additional_table_filters={'sales_orders': '%s', 'sales_items': '%[1]s'}", filter)); got[0] != want[0] {
		t.Errorf("filtered by the macro: %s orders, not %s", got, want)
	}
	got := f.text(t, url.Values{"additional_table_filters": {"{'sales_orders':'channel = \\'" + channel + "\\''}"}}.Encode(), "SELECT count() FROM sales_orders")
	if strings.TrimSpace(got) != want[0] {
		t.Errorf("filtered in the URL: %s orders, not %s", got, want)
	}
	// The row limit of a data source is a setting.
	if got := f.text(t, "limit=3", "SELECT id FROM sales_orders"); strings.Count(got, "\n") != 3 {
		t.Errorf("limited to three: %s", got)
	}
	var at time.Time
	if err := db.QueryRowContext(t.Context(), "SELECT max(created_at) FROM sales_orders").Scan(&at); err != nil || at.Location().String() != "Europe/Bucharest" {
		t.Error("a time:", at, err)
	}
	if answer, body := f.ask(t, asked{method: http.MethodGet, path: "/ping"}); string(body) != "Ok.\n" {
		t.Error("ping:", answer.Status, string(body))
	}
}

// strings1 are the texts of a statement's only column.
func strings1(t *testing.T, db *sql.DB, statement string) (texts []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return texts
}
