package reader_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	larder "github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/reader"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "engine" {
		if err := reader.Main(context.Background(), os.Args[2], os.Args[:2], os.Stdin, os.Stdout, nil); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(mainTrial(m))
}

func TestReader(t *testing.T) {
	ctx := t.Context()
	data := filepath.Join(t.TempDir(), "data")
	s, err := server.Open(ctx, server.Options{Engine: embedded.Options{Path: data, Databases: []string{"larder", "larder_raw"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sink, err := larder.Open(ctx, larder.Options{Dial: s.Dial, Database: "larder"})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	os.Setenv("SECRET", "x")
	begun := time.Now()
	sup, err := reader.Start(ctx, reader.Options{
		Command: []string{os.Args[0], "engine"}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Orders: reader.Orders{Writer: data, Databases: []string{"larder"}, Hidden: []string{"larder_raw"}, Zone: "Europe/Bucharest"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sup.Close()
	t.Log("started in", time.Since(begun))
	front := httptest.NewServer(sup)
	defer front.Close()
	ask := func(sql, more string) (int, string) {
		begun := time.Now()
		res, err := http.Post(front.URL+"/?"+more, "", strings.NewReader(sql))
		if err != nil {
			t.Log(err)
			return 0, err.Error()
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if len(b) > 300 {
			b = b[:300]
		}
		t.Log(sql[:min(len(sql), 100)], "=>", res.StatusCode, res.Header.Get("Retry-After"), string(b), err, time.Since(begun))
		return res.StatusCode, string(b)
	}
	ask("SELECT 1", "")
	ofReader := func() (pid string) {
		all, err := os.ReadDir("/proc")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
			if fields := strings.Fields(string(stat)); err == nil && len(fields) > 3 && fields[3] == strconv.Itoa(os.Getpid()) {
				return p.Name()
			}
		}
		return ""
	}
	pid := ofReader()
	environ, err := os.ReadFile("/proc/" + pid + "/environ")
	if err != nil || strings.Contains(string(environ), "SECRET") {
		t.Error("the environment of the daemon reached the reader", err)
	}
	status, _ := os.ReadFile("/proc/" + pid + "/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Vm") || strings.HasPrefix(line, "Rss") || strings.HasPrefix(line, "NoNew") {
			t.Log(strings.TrimSpace(line))
		}
	}
	for _, sql := range []string{
		"SELECT 1", "SELECT count() FROM sales_orders", "SELECT timezone(), today()", "SELECT * FROM VALUES('a UInt8', 1, 2)",
		"SELECT file('/etc/passwd')", "SELECT 1 INTO OUTFILE '" + filepath.Join(data, "bait") + "'", "INSERT INTO larder_raw.sales_orders (id) VALUES ('x')",
		"CREATE TABLE larder.x (n UInt8) ENGINE=Memory", "DROP TABLE larder_raw.products", "SELECT CAST('x' AS LowCardinality(String))",
		"SELECT * FROM url('http://127.0.0.1:1/','CSV','a String')", "SELECT * FROM default.`/etc/passwd`", "SELECT getSetting('readonly')",
		"SELECT 1 SETTINGS readonly = 0", "SELECT * FROM (SELECT 1 SETTINGS readonly=0)", "SET readonly = 0", "SHOW DATABASES", "CREATE TEMPORARY TABLE t (n UInt8)", "SELECT * FROM system.settings WHERE changed LIMIT 0 FORMAT JSON",
		"SELECT number FROM numbers(3) FORMAT JSONEachRow", "SELECT name, value FROM system.build_options LIMIT 1", "EXPLAIN SELECT 1", "SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'",
		"SELECT length(file('" + filepath.Join(data, "larder-engine-users.xml") + "'))",
		"SELECT 1 INTO OUTFILE '" + os.TempDir() + "/x'", "SELECT path FROM system.disks",
		"SELECT * FROM executable('x', 'TSV', 'a String')", "BACKUP DATABASE larder TO Disk('mirror','x')", "SELECT catboostEvaluate('/etc/passwd', 1)",
	} {
		ask(sql, "")
	}
	ask("SELECT sum(number) FROM numbers(100000000000)", "max_execution_time=1")
	ask("SELECT groupArray(number) FROM numbers(10000000000)", "")
	with := "WITH 1 AS a0"
	for i := 1; i < 26; i++ {
		n := string(rune('a' + i))
		p := string(rune('a' + i - 1))
		if i == 1 {
			p = "a0"
		}
		with += ", (" + p + "," + p + ") AS " + n
	}
	client := http.Client{Timeout: 2 * time.Second}
	refused := false
	for range 4 {
		begun := time.Now()
		res, err := client.Post(front.URL+"/?max_expanded_ast_elements=1000000000&max_ast_elements=1000000000&max_query_size=10000000&max_execution_time=0&max_memory_usage=0", "", strings.NewReader(with+" SELECT z"))
		if err == nil {
			b, _ := io.ReadAll(res.Body)
			t.Log(res.StatusCode, res.Header.Get("Retry-After"), string(b[:min(200, len(b))]))
			refused = res.StatusCode == 503
			res.Body.Close()
		} else {
			t.Log(err)
		}
		if refused {
			break
		}
		for range 60 {
			if status, _ := ask("SELECT 2", ""); (status == 200 || status == 503 && time.Since(begun) > 15*time.Second) && time.Since(begun) > 9*time.Second {
				break
			}
			time.Sleep(500 * time.Millisecond)
		}
	}
	if !refused {
		t.Error("who ended the reader three times within a minute was not refused")
	}
	sup.Renew()
	time.Sleep(time.Second)
	ask("SELECT 3", "")
	if _, err := os.Stat(filepath.Join(data, "bait")); err == nil {
		t.Error("bait was written")
	}
}
