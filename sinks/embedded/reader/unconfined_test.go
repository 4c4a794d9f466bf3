package reader_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded/reader"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

// Where nothing confines readers, the engine alone keeps them from changing anything.
func TestUnconfinedReadersChangeNothing(t *testing.T) {
	w := newWorld(t)
	front := httptest.NewServer(reader.Unconfined(w.writer.Dial, "larder", "Europe/Bucharest"))
	t.Cleanup(front.Close)
	w.url = front.URL
	w.write(insertOrders(3))
	if _, got, _ := w.ask("SELECT count(), timezone(), getSetting('readonly') FROM sales_orders", ""); got != "3\tEurope/Bucharest\t2" {
		t.Errorf("%q", got)
	}
	const changed = "SELECT groupArray((database, name, total_rows, metadata_modification_time)) FROM (SELECT * FROM system.tables WHERE database LIKE 'larder%' ORDER BY database, name)"
	before, written := w.write(changed), filepath.Join(t.TempDir(), "written")
	for _, settings := range []string{"", "readonly=0", "readonly=0&readonly=1", "%72eadonly=0", "readonly=1;readonly=0", "readonly=", "database=larder_raw", "param_x=1&+readonly=0"} {
		for _, sql := range []string{
			"INSERT INTO larder_raw.sales_orders (id) VALUES ('x')", "INSERT INTO larder_raw.sales_orders (id) SELECT 'x'", "DROP TABLE larder_raw.sales_orders", "DROP VIEW larder.sales_orders",
			"TRUNCATE TABLE larder_raw.sales_orders", "ALTER TABLE larder_raw.sales_orders DELETE WHERE 1", "CREATE TABLE larder.x (n UInt8) ENGINE = Memory", "SET readonly = 0",
			"SELECT 1 SETTINGS readonly = 0", "OPTIMIZE TABLE larder_raw.sales_orders FINAL", "SYSTEM STOP MERGES", "CREATE USER q",
			"KILL QUERY WHERE 1", "SELECT 1 INTO OUTFILE '" + written + "'", "EXPLAIN SELECT 1 INTO OUTFILE '" + written + "'",
		} {
			if status, got, _ := w.ask(sql, settings); status == http.StatusOK {
				t.Errorf("%q %s: %q", settings, sql, got)
			}
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url, strings.NewReader("SYSTEM STOP MERGES"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Connection", server.ReadsHeader) // has a proxy take it away
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode == http.StatusOK {
		t.Error("the mark of a reader was taken away")
	}
	if after := w.write(changed); after != before {
		t.Errorf("before %s after %s", before, after)
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("a file was written")
	}
}

// Whoever runs statements gets no password, in whatever way it came.
func TestPasswordsAreNotHandedOn(t *testing.T) {
	var got string
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r.URL.RawQuery + fmt.Sprint(r.Header)
	}))
	t.Cleanup(backend.Close)
	front := httptest.NewServer(reader.Unconfined(func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", backend.Listener.Addr().String())
	}, "larder", "UTC"))
	t.Cleanup(front.Close)
	for _, query := range []string{"query=SELECT+1;+&user=bi&password=s3cret", "%70assword=s3cret&query=SELECT+1;+", "password=x&password=s3cret&query=SELECT+1;+"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL+"/?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth("bi", "s3cret")
		request.Header.Set("X-ClickHouse-Key", "s3cret")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if strings.Contains(got, "s3cret") || strings.Contains(got, "Authorization") || !strings.Contains(got, "query=SELECT+1;+&") {
			t.Errorf("%s: %s", query, got)
		}
	}
}
