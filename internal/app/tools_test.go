package app

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/polling"
	"github.com/larder-sync/larder/internal/sandbox"
)

// ask sends a statement to the reading interface with parameters of the URL.
func (d *Daemon) ask(t *testing.T, parameters, sql string) (status int, answer string) {
	t.Helper()
	response, err := http.Post(d.queryURL+"/?"+parameters, "text/plain", strings.NewReader(sql))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestToolsFindTheirWay asks what programs ask when they meet a warehouse, read in the
// sources of clickhouse-connect (Superset), the JDBC driver (Metabase, DBeaver), the
// JavaScript client and clickhouse-go (Grafana): the default database is the configured
// one, its views have their comments, and the session's clock is the restaurant's.
func TestToolsFindTheirWay(t *testing.T) {
	w := newWorld(t, sandbox.Options{Orders: 60})
	w.migrated(t)
	d, stop := w.daemon(t, w.app)
	defer stop()
	polling.Page(t, d.page.URL()+"/readyz", http.StatusOK, "")
	w.sync(t)

	const superset = "session_id=8a1f&client_protocol_version=54405&http_headers_progress_interval_ms=120000&send_progress_in_http_headers=1&wait_end_of_query=1&enable_http_compression=1&default_format=TSV"
	const metabase = "database=default&select_sequential_consistency=1&max_result_rows=2000&result_overflow_mode=break&default_format=TSV"
	polling.Until(t, "the reader has what was mirrored", func() bool {
		status, answer := d.ask(t, "", "SELECT count() > 0 FROM sales_orders")
		return status == http.StatusOK && answer == "1\n"
	})
	for _, c := range []struct{ program, parameters, sql, want string }{
		{"anybody", "", "SHOW TABLES LIKE 'sales_daily%'", "sales_daily\nsales_daily_by_location\nsales_daily_computed\nsales_daily_computed_by_location\n"},
		{"anybody", "", "SELECT currentDatabase(), timezone(), toDate(now()) = today()", "larder\tEurope/Bucharest\t1\n"},
		{"anybody", "session_timezone=UTC", "SELECT timezone()", "UTC\n"},
		{"curl", "database=larder", "SELECT count() > 0 FROM locations", "1\n"},
		{"clickhouse-connect", superset, "SELECT count() = 1, any(timezone()) FROM (SELECT version(), timezone())", "1\tEurope/Bucharest\n"},
		{"clickhouse-connect", superset, "SELECT count() > 100 FROM (SELECT name, value, readonly AS readonly FROM system.settings LIMIT 10000)", "1\n"},
		{"Superset's tables", superset, "SHOW TABLES FROM `larder` LIKE 'day_close'", "day_close\n"},
		{"Superset's views", superset, "SELECT name FROM system.tables WHERE database = 'larder' AND engine LIKE '%View' AND name = 'sales_items'", "sales_items\n"},
		{"Superset's preview", superset, "SELECT count() FROM (SELECT * FROM `larder`.`locations` LIMIT 100)", "2\n"},
		{"Superset's time grain", superset, "SELECT count() > 0 FROM (SELECT toStartOfDay(toDateTime(created_at)) AS __timestamp, sum(totals_net_sales) AS net FROM larder.sales_orders WHERE created_at >= toDateTime('2020-01-01 00:00:00') AND created_at < toDateTime('2100-01-01 00:00:00') GROUP BY toStartOfDay(toDateTime(created_at)) ORDER BY net DESC LIMIT 1000)", "1\n"},
		{"JDBC's catalogue", metabase, "SELECT name FROM system.databases WHERE name NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA', 'default') ORDER BY name", "larder\nlarder_reader\n"},
		{"JDBC's tables", metabase, "SELECT t.name, t.engine, t.comment FROM system.tables t WHERE t.database LIKE 'larder' AND t.name LIKE 'sales_payments'", "sales_payments\tView\tOne row per restaurant, order and payment. Amounts include tips and deposits, so they add up to more than net sales, and method protocol is no money\n"},
		{"JDBC's columns", metabase, "SELECT name, type, position, default_expression, comment FROM system.columns WHERE database = 'larder' AND table = 'sales_payments' AND name = 'at'", "at\tDateTime64(6, \\'Europe/Bucharest\\')\t16\t\tWhen it was paid\n"},
		{"Metabase's field", metabase, "SELECT `larder`.`locations`.`timezone` AS `timezone` FROM `larder`.`locations` GROUP BY `larder`.`locations`.`timezone` ORDER BY `larder`.`locations`.`timezone` ASC LIMIT 1001", "Europe/Bucharest\n"},
		{"Metabase's day", metabase, "SELECT count() > 0 FROM (SELECT toStartOfDay(`larder`.`sales_orders`.`created_at`) AS `created_at`, sum(`larder`.`sales_orders`.`totals_net_sales`) AS `sum` FROM `larder`.`sales_orders` WHERE (`larder`.`sales_orders`.`created_at` >= parseDateTimeBestEffort('2020-01-01T00:00:00')) GROUP BY `created_at` ORDER BY `created_at` ASC)", "1\n"},
		{"information_schema", "", "SELECT table_name FROM information_schema.tables WHERE table_schema = currentDatabase() AND table_name = 'products'", "products\n"},
		{"the JavaScript client", "query_id=5c&param_day=2100-01-01", "SELECT count() FROM sales_daily WHERE date > {day:Date32} \nFORMAT JSONEachRow", "{\"count()\":0}\n"},
		{"Grafana's health", "client_protocol_version=0&database=default&default_format=TSV", "SELECT count() FROM (SELECT version())", "1\n"},
	} {
		if status, answer := d.ask(t, c.parameters, c.sql); status != http.StatusOK || answer != c.want {
			t.Errorf("%s: %s\n%d %s", c.program, c.sql, status, answer)
		}
	}
	// A driver's own way: no database named, a column of every kind scanned.
	if status, answer := d.ask(t, "query="+url.QueryEscape("SELECT * FROM sales_orders_full LIMIT 3 FORMAT JSONEachRow"), ""); status != http.StatusOK || !strings.Contains(answer, `"items.name":[`) {
		t.Error(fmt.Sprint(status), answer)
	}
}
