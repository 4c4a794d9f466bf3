package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
)

// The engine shows a long statement cut short: a client that leaves ends it too.
func TestALongStatementOfAReaderStops(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	sql := "SELECT count() FROM system.numbers WHERE NOT ignore('lengthy', '" + strings.Repeat("a", 120_000) + "')"
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, out.base, strings.NewReader(sql))
		if err != nil {
			ended <- err
			return
		}
		response, err := out.client.Do(request)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		ended <- err
	}()
	awaitRunning(t, in, "lengthy", "1")
	cancel()
	if err := <-ended; err == nil {
		t.Error("the request ended well")
	}
	awaitRunning(t, in, "lengthy", "0")
}

// What a reader's statements put aside on the disk is bounded, in every way that
// the engine has for it.
func TestReadersDoNotFillTheDisk(t *testing.T) {
	out := outside(t, "", "")
	for name, c := range map[string]struct{ sql, setting, value string }{
		"group":         {"SELECT count() FROM (SELECT number, any(randomString(1000)) AS s FROM numbers(3000000) GROUP BY number) WHERE NOT ignore(s) SETTINGS max_threads = 2, max_block_size = 8192", "extremes", "0"},
		"order":         {"SELECT count() FROM (SELECT randomString(1000) AS s FROM numbers(3000000) ORDER BY s LIMIT 2900000) WHERE NOT ignore(s) SETTINGS max_threads = 2, max_block_size = 8192", "extremes", "0"},
		"partial merge": {"SELECT count() FROM numbers(10) AS a JOIN (SELECT number, randomString(1000) AS s FROM numbers(3000000)) AS b ON a.number = b.number WHERE NOT ignore(s)", "join_algorithm", "partial_merge"},
		"grace hash":    {"SELECT count() FROM numbers(10) AS a JOIN (SELECT number, randomString(1000) AS s FROM numbers(3000000)) AS b ON a.number = b.number WHERE NOT ignore(s)", "join_algorithm", "grace_hash"},
	} {
		r := out.ask("POST", c.sql, c.setting, c.value)
		if r.status == 200 || !strings.Contains(r.body, "TOO_MANY_ROWS_OR_BYTES") && !strings.Contains(r.body, "MEMORY_LIMIT_EXCEEDED") && !strings.Contains(r.body, "(READONLY)") {
			t.Errorf("%s: %d %.300s", name, r.status, r.body)
		}
	}
}

// Nobody's settings come to another by way of a connection that both use.
func TestSettingsStayWithTheirRequest(t *testing.T) {
	out := outside(t, "", "")
	for range 20 {
		out.ask("POST", "SELECT 1 SETTINGS max_execution_time = '30\x00--session_timezone=Asia/Tokyo'")
		out.ask("POST", "SELECT 1", "log_comment", "x --session_timezone=Asia/Tokyo")
		if r := out.ask("POST", "SELECT toString(toDateTime(0))", "max_execution_time", "30", "session_timezone", "Asia/Tokyo"); r.body != "1970-01-01 09:00:00\n" {
			t.Fatalf("said %q", r.body)
		}
		if r := out.ask("POST", "SELECT toString(toDateTime(0))", "max_execution_time", "30"); r.body != "1970-01-01 00:00:00\n" {
			t.Fatalf("said %q", r.body)
		}
	}
}

// Reading a statement takes time by its length, whatever stands in it: ten seconds
// are thousands of times what these need.
func TestReadingAStatementIsLinear(t *testing.T) {
	out := outside(t, "", "")
	begun := time.Now()
	for _, piece := range []string{"{a:", "{a:b(", "$1", "$a$ ", "(", "[", "`a`", "/*", "--\n", "'a'", "{", "SETTINGS a=1,"} {
		sql := "SELECT " + strings.Repeat(piece, 200_000/len(piece))
		out.do("POST", strings.NewReader(sql), nil)
		out.do("GET", nil, nil, "query", sql[:20_000])
	}
	if took := time.Since(begun); took > 2*time.Minute {
		t.Errorf("took %s", took)
	}
}

func TestNestedTextEndsNoProcess(t *testing.T) {
	if got := embeddedtest.AnswerOf(t, "nested", nil, filepath.Join(t.TempDir(), "data")); got != "180" {
		t.Error(got)
	}
}

func TestOddTypesEndNoProcess(t *testing.T) {
	if got := embeddedtest.AnswerOf(t, "shapes", nil, filepath.Join(t.TempDir(), "data")); got != "720" {
		t.Error(got)
	}
}

// Names that stand for others, twice each, are taken up to a number of nodes: by the
// engine's own limit this one took 23 s, which nothing can stop.
func TestNamesDoubleUpToALimit(t *testing.T) {
	out := outside(t, "", "")
	doubled := func(times int) string {
		sql := "WITH c0 AS (SELECT 1 AS x)"
		for i := range times {
			sql += fmt.Sprintf(", c%d AS (SELECT p.x AS x FROM c%d AS p, c%d AS q)", i+1, i, i)
		}
		return fmt.Sprintf("%s SELECT count() FROM c%d", sql, times)
	}
	if r := out.ask("POST", doubled(5)); r.status != 200 || r.body != "1\n" {
		t.Errorf("%d %.300s", r.status, r.body)
	}
	if r := out.ask("POST", doubled(40)); r.status != 403 || !strings.Contains(r.body, "stand for too much") {
		t.Errorf("%d %.300s", r.status, r.body)
	}
	if r := out.ask("POST", doubled(13)); (r.status != 400 || !strings.Contains(r.body, "Query tree is too big. Maximum: 100000")) && (r.status != 403 || !strings.Contains(r.body, "have too many columns")) {
		t.Errorf("%d %.300s", r.status, r.body)
	}
}

// The head of a request has a length, since each connection may hold one, and the name of a
// statement comes back without what a terminal would obey.
func TestHeadsHaveALength(t *testing.T) {
	out := outside(t, "", "")
	if r := out.ask("GET", "", "query", "SELECT 1", "log_comment", strings.Repeat("x", 60<<10)); r.status != 200 {
		t.Errorf("60 KB: %d %.200s", r.status, r.body)
	}
	if r := out.ask("GET", "", "query", "SELECT 1", "log_comment", strings.Repeat("x", 80<<10)); r.status != 431 {
		t.Errorf("80 KB: %d %.200s", r.status, r.body)
	}
	for given, kept := range map[string]bool{"mine-1": true, "\x1b[2Jmine": false, "a\u009bb": false, "a\x00": false} {
		r := out.ask("POST", "SELECT 1", "query_id", given)
		if got := r.header.Get("X-ClickHouse-Query-Id"); (got == given) != kept || got == "" {
			t.Errorf("%q: %q", given, got)
		}
	}
}
