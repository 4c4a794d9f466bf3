package app

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
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

// TestReadersFindTheirWay asks the reading interface of a daemon as somebody does who names
// neither a database nor a zone. What tools ask is tested in sinks/engine/reader.
func TestReadersFindTheirWay(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: 60})
	w.migrated(t)
	w.app.Config.Warehouse.HTTPListen = "127.0.0.1:0"
	d, stop := w.daemon(t, w.app)
	defer stop()
	polling.Page(t, d.page.URL()+"/readyz", http.StatusOK, "")
	w.sync(t)
	polling.Until(t, "the reader has what was mirrored", func() bool {
		status, answer := d.ask(t, "", "SELECT count() > 0 FROM sales_orders")
		return status == http.StatusOK && answer == "1\n"
	})
	for _, c := range []struct{ parameters, sql, want string }{
		{"", "SELECT currentDatabase(), timezone(), toDate(now()) = today()", "larder\tEurope/Bucharest\t1\n"},
		{"session_timezone=UTC", "SELECT timezone()", "UTC\n"},
		{"", "SHOW TABLES LIKE 'sales_daily%'", "sales_daily\nsales_daily_by_location\nsales_daily_computed\nsales_daily_computed_by_location\n"},
		{"database=larder", "SELECT count() FROM locations", "2\n"},
	} {
		if status, answer := d.ask(t, c.parameters, c.sql); status != http.StatusOK || answer != c.want {
			t.Errorf("%s: %s\n%d %s", c.parameters, c.sql, status, answer)
		}
	}
}
