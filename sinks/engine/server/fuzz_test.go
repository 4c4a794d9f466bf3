package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// pieces of requests, put together at random: none may end in a panic, hang, or
// be answered by anything but ClickHouse's form.
var pieces = []string{
	"SELECT", "INSERT", "INTO", "FORMAT", "VALUES", "WITH", "SETTINGS", "x", "1", "'", "''", "\"", "`", "\\", "(", ")", "[", "]", "{", "}",
	"{x:UInt8}", "{x:", ":", ";", ",", ".", "--", "/*", "*/", "#", "# ", "$", "$$", "$a$", "\n", "\x00", "\xff", "ș", "‘", " ", "=", "numbers(3)", "FROM",
	"system.one", "CSV", "Native", "JSON", "file", "AS", "NULL", "FUNCTION", "TABLE", "t", "0x", "1e5", "->", "::", "INTERVAL 1 DAY", "EXPLAIN", "SHOW TABLES",
}

func TestOddRequestsAreAnswered(t *testing.T) {
	if testing.Short() {
		t.Skip("one statement after the other")
	}
	engine, err := Open(context.Background(), engine.Options{Path: t.TempDir(), Logger: slog.New(panics{t})})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	ways := []*Server{engine, readersOf(engine)}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(n int) string {
		var s strings.Builder
		for range random.IntN(n) {
			s.WriteString(pieces[random.IntN(len(pieces))])
			if random.IntN(3) > 0 {
				s.WriteByte(' ')
			}
		}
		return s.String()
	}
	params := []string{"query", "database", "default_format", "param_x", "compress", "decompress", "client_protocol_version", "wait_end_of_query", "max_threads", "max_execution_time", "network_compression_method", "readonly", pick(3)}
	for i := range 600 {
		values := url.Values{}
		for range random.IntN(4) {
			values.Set(params[random.IntN(len(params))], pick(8))
		}
		if random.IntN(4) == 0 {
			values.Set("client_protocol_version", "54460")
			values.Set("default_format", "Native")
		}
		r := httptest.NewRequest([]string{"GET", "POST", "PUT", "HEAD", "OPTIONS"}[random.IntN(5)], "/", strings.NewReader(pick(20)))
		r.Host, r.URL.RawQuery = "localhost", values.Encode()
		if random.IntN(10) == 0 {
			r.URL.RawQuery = pick(10)
		}
		for _, name := range []string{"Content-Encoding", "Accept-Encoding", "Authorization", "Content-Type"} {
			if random.IntN(10) == 0 {
				r.Header.Set(name, []string{"gzip", "zstd", "br", "lz4", "deflate", "multipart/form-data", pick(3)}[random.IntN(7)])
			}
		}
		answerOdd(t, ways[i%2], r)
	}
}

func answerOdd(t *testing.T, f *Server, r *http.Request) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	described := fmt.Sprintf("%s %q", r.Method, r.URL.RawQuery)
	w := httptest.NewRecorder()
	defer func() {
		if reason := recover(); reason != nil && reason != http.ErrAbortHandler { //nolint:errorlint // a panic value is compared as it is
			t.Fatalf("%s: %v", described, reason)
		}
	}()
	f.ServeHTTP(w, r.WithContext(ctx))
	if ctx.Err() != nil {
		t.Fatalf("%s hangs", described)
	}
	if w.Code >= 400 && (w.Header().Get("X-ClickHouse-Exception-Code") == "" || !strings.HasPrefix(w.Body.String(), "Code: ")) {
		t.Errorf("%s: %d %q", described, w.Code, w.Body.String())
	}
}

// panics is a log that fails the test when the server had to recover.
type panics struct{ t *testing.T }

func (p panics) Enabled(context.Context, slog.Level) bool { return true }
func (p panics) WithAttrs([]slog.Attr) slog.Handler       { return p }
func (p panics) WithGroup(string) slog.Handler            { return p }
func (p panics) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		var all []string
		r.Attrs(func(a slog.Attr) bool { all = append(all, a.String()); return true })
		p.t.Errorf("%s %s", r.Message, strings.Join(all, " "))
	}
	return nil
}

func TestTheLexerNeverRunsOver(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		var s strings.Builder
		for range random.IntN(12) {
			s.WriteString(pieces[random.IntN(len(pieces))])
		}
		sql, last := s.String(), 0
		all := sqltext.Tokens(sql)
		for _, token := range all {
			if token.From < last || token.To <= token.From || token.To > len(sql) {
				t.Fatalf("%q: %v", sql, all)
			}
			last = token.To
		}
		if head, ok := sqltext.ParseInsert(sql); ok && (head.Data < len(head.SQL) || head.Data > len(sql)) {
			t.Fatalf("%q: %+v", sql, head)
		}
		sqltext.Parse(sql)
		if _, err := bindParams(sql, map[string]string{"x": "1"}); err != nil {
			exception.As(err).Status()
		}
	}
}

func TestWhatIsReadOfABody(t *testing.T) {
	for _, c := range []struct {
		size int
		want error
	}{{0, io.EOF}, {3, io.EOF}, {10, nil}} {
		n, err := fill(strings.NewReader(strings.Repeat("x", c.size)), make([]byte, 5))
		if n != min(c.size, 5) || err != c.want { //nolint:errorlint // io.EOF as it is
			t.Errorf("%d: %d %v", c.size, n, err)
		}
	}
}
