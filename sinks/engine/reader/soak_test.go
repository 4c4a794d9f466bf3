//go:build soak

package reader_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	larder "github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/reader"
	"github.com/larder-sync/larder/sinks/engine/server"
)

func init() { roles = map[string]enginetest.Role{"serve": roleServe} }

// roleServe holds a folder until its input ends.
func roleServe(ctx context.Context, args []string) error {
	s, err := server.Open(ctx, engine.Options{Path: args[0], Databases: []string{"larder", "larder_raw"}})
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return s.Close()
}

// TestSoak compares every answer of the reader with the writer's, for as long as LARDER_SOAK
// says: LARDER_SOAK=2h go test -tags soak -timeout 0 -run TestSoak -v ./sinks/engine/reader
//
// LARDER_SOAK_FOLDER names a folder on a file system of its own, which the soak then fills
// again and again.
func TestSoak(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("LARDER_SOAK"))
	if err != nil {
		t.Fatal("LARDER_SOAK names no duration")
	}
	ctx := t.Context()
	folder := os.Getenv("LARDER_SOAK_FOLDER")
	data := filepath.Join(cmp.Or(folder, t.TempDir()), "data")
	startWriter := func() *enginetest.Process {
		p := enginetest.StartRole(t, "serve", nil, data)
		if l := p.Line(); l != "open" {
			t.Fatal(l)
		}
		return p
	}
	writer := startWriter()
	dial := server.DialHeld(data)
	sink, err := larder.Open(ctx, larder.Options{Dial: dial, Database: "larder"})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{"e:1"}, Auth: clickhouse.Auth{Database: "larder"}, DialContext: dial, ReadTimeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	supervisor, err := reader.Start(reader.Options{
		Log:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Orders: reader.Orders{Mirror: engine.MirrorOptions{Writer: data, Databases: []string{"larder", "larder_raw"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer supervisor.Close()
	front := httptest.NewServer(supervisor)
	defer front.Close()
	exec := func(sql string) {
		if err := conn.Exec(ctx, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// theirs is the reader's answer. It says ERR for one that is no answer, and WAIT while the
	// process is started again.
	theirs := func(sql string) string {
		response, err := http.Post(front.URL, "text/plain", strings.NewReader(sql))
		if err != nil {
			return "ERR " + err.Error()
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		switch {
		case response.StatusCode == http.StatusServiceUnavailable || err != nil:
			return "WAIT"
		case response.StatusCode != http.StatusOK:
			return "ERR " + string(text)
		}
		return strings.TrimSpace(string(text))
	}
	ours := func(sql string) string {
		var text string
		if err := conn.QueryRow(ctx, "SELECT toString(*) FROM ("+sql+")").Scan(&text); err != nil {
			return "ERR " + err.Error()
		}
		return text
	}
	questions := []string{
		"SELECT tuple(count(), sum(cityHash64(business_id, id, business_day, _version, _deleted))) FROM larder_raw.sales_orders",
		"SELECT tuple(count(), sum(cityHash64(business_id, id, business_day, _version, number))) FROM larder_raw.sales_orders FINAL",
		"SELECT tuple(count(), sum(cityHash64(business_id, id, business_day))) FROM larder.sales_orders",
		"SELECT tuple(count(), sum(cityHash64(business_id, id, name))) FROM larder_raw.products",
		"SELECT tuple(count(), sum(cityHash64(business_id, id))) FROM larder.products",
	}
	var lags []time.Duration
	counts, holes, gone := map[string]int{}, 0, 0
	compare := func(after string, questions ...string) {
		begun := time.Now()
		for _, q := range questions {
			var want, got string
			wrong := false
			same := polling.For(ctx, func() bool {
				want, got = ours(q), theirs("SELECT toString(*) FROM ("+q+")")
				if got == strings.ReplaceAll(want, `'`, `\'`) || got == want {
					return true
				}
				// A part or a table that is gone is an error until another process has taken the place of this one.
				unknown := strings.Contains(got, "UNKNOWN_") || strings.Contains(got, "FILE_DOESNT_EXIST") || strings.Contains(got, "No such file or directory")
				if strings.HasPrefix(got, "ERR") && unknown {
					gone++
				}
				wrong = strings.HasPrefix(got, "ERR") && !unknown || time.Since(begun) > time.Minute
				return wrong
			})
			if wrong || !same {
				holes++
				t.Errorf("after %s: %s: writer %s, mirror %s", after, q, want, got)
			}
		}
		lags = append(lags, time.Since(begun))
	}
	insert := func(rows int) {
		exec(fmt.Sprintf("INSERT INTO larder_raw.sales_orders (business_id, id, business_day, _version, _deleted) "+
			"SELECT 'b' || toString(number %% 3), 'o' || toString(rand() %% 5000), toDate32('2026-01-01') + rand(1) %% 300, toUnixTimestamp64Milli(now64(3)) + rand(2) %% 100, rand(3) %% 50 = 0 FROM numbers(%d)", rows))
		exec(fmt.Sprintf("INSERT INTO larder_raw.products (business_id, id, name, _version) SELECT 'b', 'p' || toString(rand() %% 500), 'n' || toString(rand(1)), toUnixTimestamp64Milli(now64(3)) FROM numbers(%d)", rows%20+1))
	}
	ops := map[string]func(){
		"inserts": func() {
			for range 1 + rand.IntN(60) {
				insert(1 + rand.IntN(400))
			}
		},
		"update": func() {
			exec(fmt.Sprintf("ALTER TABLE larder_raw.sales_orders UPDATE number = concat('u', substring(ifNull(number, ''), 1, 5)) WHERE cityHash64(id) %% 7 = %d SETTINGS mutations_sync = 1", rand.IntN(7)))
		},
		"update beside inserts": func() {
			exec(fmt.Sprintf("ALTER TABLE larder_raw.sales_orders UPDATE number = 'v' WHERE cityHash64(id) %% 7 = %d", rand.IntN(7)))
			for range 10 {
				insert(20)
			}
			exec("ALTER TABLE larder_raw.sales_orders UPDATE number = number WHERE 0 SETTINGS mutations_sync = 1")
		},
		"delete": func() {
			exec(fmt.Sprintf("ALTER TABLE larder_raw.sales_orders DELETE WHERE cityHash64(id) %% 97 = %d SETTINGS mutations_sync = 1", rand.IntN(97)))
		},
		"optimize": func() {
			exec("OPTIMIZE TABLE larder_raw.sales_orders FINAL")
			exec("OPTIMIZE TABLE larder_raw.products")
		},
		"add column": func() {
			exec("ALTER TABLE larder_raw.sales_orders ADD COLUMN IF NOT EXISTS soak String DEFAULT 'x'")
			insert(10)
		},
		"drop column": func() { exec("ALTER TABLE larder_raw.sales_orders DROP COLUMN IF EXISTS soak"); insert(10) },
		"kill writer": func() { writer.Kill(); writer = startWriter() },
		"kill writer, busy": func() {
			done, stored := make(chan struct{}), make(chan struct{}, 50)
			go func() {
				defer close(done)
				for range 50 {
					if conn.Exec(ctx, "INSERT INTO larder_raw.products (business_id, id, name, _version) SELECT 'k', toString(rand()), 'x', 1") != nil {
						return
					}
					stored <- struct{}{}
				}
			}()
			for range rand.IntN(30) {
				select {
				case <-stored:
				case <-done:
				}
			}
			writer.Kill()
			<-done
			writer = startWriter()
		},
		"truncate":   func() { exec("TRUNCATE TABLE larder_raw.products"); insert(5) },
		"delete all": func() { exec("ALTER TABLE larder_raw.products DELETE WHERE 1 SETTINGS mutations_sync = 1") },
		"short old parts": func() {
			exec("ALTER TABLE larder_raw.sales_orders MODIFY SETTING old_parts_lifetime = 1")
			exec("ALTER TABLE larder_raw.sales_orders UPDATE number = 'w' WHERE cityHash64(id) % 5 = 1 SETTINGS mutations_sync = 1")
			exec("ALTER TABLE larder_raw.sales_orders DROP PARTITION ID 'none'")
			exec("ALTER TABLE larder_raw.sales_orders RESET SETTING old_parts_lifetime")
		},
		"drop partition": func() {
			exec("ALTER TABLE larder_raw.sales_orders DROP PARTITION ID 'all'")
			insert(30)
		},
		"kill reader": func() {
			if all, err := filepath.Glob("/proc/[0-9]*/cmdline"); err == nil {
				for _, file := range all {
					if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), data) && strings.Contains(string(text), "\x00engine\x00") {
						pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			}
		},
		"many parts": func() {
			if counts["many parts"] > 2 {
				return
			}
			exec("ALTER TABLE larder_raw.sales_orders MODIFY SETTING parts_to_delay_insert = 30000, parts_to_throw_insert = 30000")
			exec("SYSTEM STOP MERGES larder_raw.sales_orders")
			exec("INSERT INTO larder_raw.sales_orders (business_id, id, business_day, _version) SELECT 'm', 'm' || toString(number), toDate32('2026-01-01'), number FROM numbers(10000) " +
				"SETTINGS max_block_size = 1, min_insert_block_size_rows = 1, min_insert_block_size_bytes = 1, max_threads = 1, max_insert_threads = 1")
			t.Log("active parts:", ours("SELECT tuple(count()) FROM system.parts WHERE active AND database = 'larder_raw' AND table = 'sales_orders'"))
			exec("SYSTEM START MERGES larder_raw.sales_orders")
			compare("many parts", questions[1:3]...) // merges go on, which change what stands beside the newest version
			t.Log("followed after", lags[len(lags)-1])
			exec("OPTIMIZE TABLE larder_raw.sales_orders FINAL")
			exec("ALTER TABLE larder_raw.sales_orders RESET SETTING parts_to_delay_insert, parts_to_throw_insert")
		},
		"view": func() {
			exec("CREATE OR REPLACE VIEW larder.soak AS SELECT count() AS n FROM larder.sales_orders")
			soon, cancel := context.WithTimeout(ctx, time.Minute)
			if !polling.For(soon, func() bool { return theirs("SELECT n > 0 FROM larder.soak") == "1" }) {
				t.Error("the new view is not seen")
			}
			cancel()
			exec("DROP VIEW larder.soak")
		},
	}
	if folder != "" {
		ops["full disk"] = func() {
			ballast := filepath.Join(folder, "ballast")
			fill(t, ballast)
			refused := 0
			for range 20 {
				if conn.Exec(ctx, "INSERT INTO larder_raw.products (business_id, id, name, _version) SELECT 'f', toString(rand()), randomString(1000), 1 FROM numbers(1000)") != nil {
					refused++
				}
			}
			compare("full disk", questions...)
			if err := os.Remove(ballast); err != nil {
				t.Error(err)
			}
			if refused == 0 {
				t.Error("the disk was full, and nothing was refused")
			}
			insert(10)
		}
	}
	names := make([]string, 0, len(ops))
	for name := range ops {
		names = append(names, name)
	}
	slices.Sort(names)
	for end := time.Now().Add(long); time.Now().Before(end) && holes < 20; {
		name := names[rand.IntN(len(names))]
		if counts["inserts"] == 0 || rand.IntN(3) == 0 {
			name = "inserts"
		}
		ops[name]()
		if counts[name] < 2 {
			t.Log(time.Now().Format(time.TimeOnly), name)
		}
		counts[name]++
		compare(name, questions...)
	}
	slices.Sort(lags)
	t.Logf("%d comparisons of %d questions, %d holes, %d answers that missed a part or a table, equal after p50 %v p99 %v max %v; %v", len(lags), len(questions), holes, gone, lags[len(lags)/2], lags[len(lags)*99/100], lags[len(lags)-1], counts)
	t.Log("rows, active parts, parts made:", ours("SELECT tuple(count(), uniqExact(_part)) FROM larder_raw.sales_orders"), ours("SELECT tuple(max(max_block_number)) FROM system.parts WHERE active AND database='larder_raw' AND table='sales_orders'"))
	_ = conn.Close()
}

// fill writes to a file until its file system has no room.
func fill(t *testing.T, name string) {
	f, err := os.Create(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}
