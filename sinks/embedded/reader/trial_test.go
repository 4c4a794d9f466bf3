package reader_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	larder "github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

func mainTrial(m *testing.M) int {
	return embeddedtest.Main(m, map[string]embeddedtest.Role{"mirror": roleMirror, "serve": roleServe})
}

func roleMirror(ctx context.Context, args []string) error {
	if len(args) == 2 && os.Getenv("UNCONFINED") == "" {
		if err := (embedded.MirrorOptions{Writer: args[0], Scratch: args[1], Databases: []string{"larder"}, Hidden: []string{"larder_raw"}}).Prepare(); err != nil {
			return err
		}
		if os.Getenv("UNC") == "" {
			return embedded.ExecConfined(args[0], args[1], append(os.Args, "again"), os.Environ())
		}
	}
	begun := time.Now()
	e, err := embedded.OpenMirror(ctx, embedded.MirrorOptions{Writer: args[0], Scratch: args[1], Databases: []string{"larder"}, Hidden: []string{"larder_raw"}})
	if err != nil {
		return err
	}
	fmt.Println("open", time.Since(begun))
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if path, err := e.Vanished(ctx); path != "" || err != nil {
			fmt.Println("STALE")
			return nil
		}
		text := ""
		err := e.Pool().Use(ctx, embedded.Session{Database: "larder", Settings: map[string]string{"readonly": "2"}}, func(c *embedded.Conn) error {
			out, _, err := c.Query(ctx, in.Text(), "TSV")
			text = string(out)
			return err
		})
		if err != nil {
			text = "ERR " + err.Error()
		}
		fmt.Println(strings.ReplaceAll(strings.TrimSpace(text), "\n", "|"))
	}
	return e.Close()
}

func TestTrial(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	data, scratch := filepath.Join(dir, "data"), filepath.Join(dir, "scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
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
	conn, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{"e:1"}, Auth: clickhouse.Auth{Database: "larder"}, DialContext: s.Dial})
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(data, "store", "*", "*", "allergens.sql")); len(files) > 0 {
		for _, f := range files {
			b, _ := os.ReadFile(f)
			t.Log(string(b[:min(len(b), 1500)]))
		}
	}
	if out := os.Getenv("KEEP"); out != "" {
		os.CopyFS(out, os.DirFS(data))
	}
	p := embeddedtest.StartRole(t, "mirror", nil, data, scratch)
	t.Log(p.Line())
	ask := func(sql string) string { fmt.Fprintln(p.Stdin, sql); l := p.Line(); t.Log(sql, "=>", l); return l }
	exec := func(sql string) {
		if err := conn.Exec(ctx, sql); err != nil {
			t.Error(sql, err)
		}
	}
	ask("SHOW DATABASES")
	ask("SELECT count() FROM system.tables WHERE database = 'larder'")
	ask("SELECT count() FROM larder_raw.sales_orders")
	ask("SELECT name FROM system.tables WHERE database='larder_raw' LIMIT 3")
	exec("INSERT INTO larder_raw.sales_orders (business_id, id, business_day) VALUES ('b', 'o1', '2026-01-01')")
	exec("INSERT INTO larder_raw.sales_orders (business_id, id, business_day) VALUES ('b', 'o2', '2026-01-01')")
	for range 5 {
		time.Sleep(500 * time.Millisecond)
		ask("SELECT count() FROM larder_raw.sales_orders")
	}
	ask("SELECT count() FROM larder.sales_orders")
	ask("INSERT INTO larder_raw.sales_orders (business_id, id) VALUES ('x','y')")
	ask("SELECT * FROM file('/etc/passwd','LineAsString')")
	ask("DROP TABLE larder_raw.sales_orders")
	ask("CREATE TABLE larder.x (n UInt8) ENGINE=Memory")
	ask("SYSTEM FLUSH LOGS")
	ask("SELECT name, access_type FROM system.tables LIMIT 1")
}
