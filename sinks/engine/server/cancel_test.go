package server_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

// running counts the statements under way that contain a text.
func running(a *asker, text string) string {
	return strings.TrimSpace(a.must("SELECT count() FROM system.processes WHERE query LIKE '%" + text + "%' AND query NOT LIKE '%system.processes%'"))
}

// awaitRunning waits until so many statements are under way.
func awaitRunning(t testing.TB, a *asker, text, want string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); running(a, text) != want; {
		if time.Now().After(deadline) {
			t.Log(a.must("SELECT query, elapsed, is_cancelled, read_rows FROM system.processes"))
			t.Fatalf("%s statements with %s are under way, want %s", running(a, text), text, want)
		}
	}
}

func TestACancelledQueryStops(t *testing.T) {
	a := inside(t)
	for name, sql := range map[string]string{
		"streamed":   "SELECT sum(sipHash64(number)) FROM numbers_mt(1000000000000) -- streamed",
		"whole":      "SELECT sum(sipHash64(number)) FROM numbers_mt(1000000000000) FORMAT JSON -- whole",
		"statement":  "CREATE TABLE IF NOT EXISTS default.never ENGINE = Memory AS SELECT sum(sipHash64(number)) FROM numbers_mt(1000000000000) -- statement",
		"half taken": "SELECT number FROM system.numbers -- half taken",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() {
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base, strings.NewReader(sql))
				if err != nil {
					ended <- err
					return
				}
				response, err := a.client.Do(request)
				if err == nil {
					_, err = io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
				ended <- err
			}()
			fragment := strings.SplitN(sql, " --", 2)[0]
			awaitRunning(t, a, strings.ReplaceAll(fragment, "'", ""), "1")
			cancel()
			if err := <-ended; err == nil {
				t.Error("the request ended well")
			}
			awaitRunning(t, a, fragment, "0")
		})
	}
}

// A client that reads slowly holds the engine back, not memory.
func TestResultsAreNotGatheredInMemory(t *testing.T) {
	a := inside(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base, strings.NewReader("SELECT number, randomPrintableASCII(100) FROM system.numbers FORMAT TSV"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := a.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.CopyN(io.Discard, response.Body, 300<<20); err != nil {
		t.Fatal(err)
	}
	memory := a.must("SELECT max(memory_usage) < 200000000, max(memory_usage) FROM system.processes")
	if !strings.HasPrefix(memory, "1\t") {
		t.Errorf("memory after 300 MB of a result: %s", memory)
	}
	cancel()
	awaitRunning(t, a, "randomPrintableASCII", "0")
}

func TestQueriesWaitForAPlace(t *testing.T) {
	a := inside(t)
	db := enginetest.Database(t)
	a.must("CREATE TABLE w (a UInt8) ENGINE = Memory", "database", db)
	done := make(chan reply, 100)
	for range cap(done) {
		go func() { done <- a.ask("POST", "SELECT sleep(0.02)", "database", db) }()
	}
	for range cap(done) {
		if r := <-done; r.status != 200 {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
}
