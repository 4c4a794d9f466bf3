package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/go-faster/city"
	"github.com/klauspost/compress/zstd"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/server"
)

func (a *asker) address() string { return strings.Trim(strings.TrimPrefix(a.base, "http://"), "/") }

// stalled asks and does not read the answer.
func (a *asker) stalled(sql string) net.Conn {
	a.t.Helper()
	conn, err := net.Dial("tcp", a.address())
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(sql), sql); err != nil {
		a.t.Fatal(err)
	}
	return conn
}

const endless = "SELECT number, randomPrintableASCII(100) FROM system.numbers FORMAT TSV"

func TestAStalledReaderLosesItsPlace(t *testing.T) {
	in, out := inside(t), impatient(t, "", "", time.Minute, time.Second)
	if _, err := out.stalled(endless).Read(make([]byte, 1)); err != nil {
		t.Fatal(err) // the answer has begun
	}
	awaitRunning(t, in, "system.numbers FORMAT", "0")
	// A slow one that reads on keeps it: no answer is cut for being large.
	conn := out.stalled("SELECT repeat('x', 1000000) FROM numbers(3) FORMAT JSON")
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); n < 3000000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// frame is one of ClickHouse's own compression, whatever it claims.
func frame(method byte, packed []byte, size uint32) []byte {
	raw := append([]byte{method}, binary.LittleEndian.AppendUint32(nil, uint32(len(packed)+9))...)
	raw = append(binary.LittleEndian.AppendUint32(raw, size), packed...)
	sum := city.CH128(raw)
	head := binary.LittleEndian.AppendUint64(nil, sum.Low)
	return append(binary.LittleEndian.AppendUint64(head, sum.High), raw...)
}

// zeros packs n zeros with what wrap makes.
func zeros(t *testing.T, n int64, wrap func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := wrap(&packed)
	if _, err := io.CopyN(w, endlessZeros{}, n); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

type endlessZeros struct{}

func (endlessZeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func bestZstd(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20))
	if err != nil {
		panic(err) // the options are fixed
	}
	return z
}

// A small body that unpacks to much, or says so, costs what a long statement costs.
func TestBombsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("one statement after the other")
	}
	out := outside(t, "", "")
	const size = 512 << 20
	packed := zeros(t, size, bestZstd)
	claims := append(make([]byte, 16), 0x82)
	claims = binary.LittleEndian.AppendUint32(claims, size)
	claims = binary.LittleEndian.AppendUint32(claims, size)
	window := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x98}, 1, 0, 0) // one of 512 MB
	for name, c := range map[string]struct {
		body     []byte
		encoding string // "frames" is ClickHouse's own
		status   int
	}{
		"512 MB in a frame":             {frame(0x90, packed, size), "frames", http.StatusBadRequest},
		"25 bytes that claim 512 MB":    {claims, "frames", http.StatusBadRequest},
		"LZ4 that claims what it lacks": {frame(0x82, []byte{0}, 256<<10), "frames", http.StatusBadRequest},
		"100 MB in frames":              {bytes.Repeat(frame(0x90, zeros(t, 200<<10, bestZstd), 200<<10), 500), "frames", http.StatusRequestEntityTooLarge},
		"a window of 512 MB":            {window, "zstd", http.StatusBadRequest},
		"512 MB of zstd":                {packed, "zstd", http.StatusRequestEntityTooLarge},
		"64 MB of gzip":                 {zeros(t, 64<<20, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }), "gzip", http.StatusRequestEntityTooLarge},
		"64 MB of deflate":              {zeros(t, 64<<20, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }), "deflate", http.StatusRequestEntityTooLarge},
		"64 MB of br":                   {zeros(t, 64<<20, func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 1) }), "br", http.StatusRequestEntityTooLarge},
		"a long statement":              {bytes.Repeat([]byte("-"), 32<<20), "", http.StatusRequestEntityTooLarge},
		"a parameter in many places":    {[]byte("SELECT " + strings.Repeat("{x:String},", 20000)), "", http.StatusRequestEntityTooLarge},
		"an INSERT that does not end":   {append([]byte("INSERT INTO t VALUES "), bytes.Repeat([]byte("(1),"), 8<<20)...), "", http.StatusForbidden},
		"an INSERT in many frames":      {bytes.Repeat(frame(0x02, []byte("INSERT INTO t VALUES (1)"), 24), 500), "frames", http.StatusForbidden},
		"a statement nested for ever":   {append([]byte("SELECT "), bytes.Repeat([]byte("f("), 120<<10)...), "", http.StatusBadRequest},
		"many braces that are no types": {append([]byte("SELECT "), bytes.Repeat([]byte("{a:b("), 40<<10)...), "", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			params := []string{"param_x", strings.Repeat("y", 40<<10)}
			if c.encoding == "frames" {
				c.encoding, params = "", append(params, "decompress", "1")
			}
			r := out.do("POST", bytes.NewReader(c.body), http.Header{"Content-Encoding": {c.encoding}}, params...)
			runtime.ReadMemStats(&after)
			// Go's memory: the engine's is bounded by its own limits.
			spent := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d KB: %d, %d MB: %.120q", len(c.body)>>10, r.status, spent, r.body)
			if r.status != c.status {
				t.Errorf("%d, want %d: %.200q", r.status, c.status, r.body)
			}
			if spent > 200 {
				t.Errorf("%d MB were allocated", spent)
			}
		})
	}
}

// What clients compress must go on being read.
func TestCompressedStatementsAreRead(t *testing.T) {
	if testing.Short() {
		t.Skip("one statement after the other")
	}
	in, out := inside(t), outside(t, "", "")
	sql := "SELECT length('" + strings.Repeat("x", 100000) + "')"
	for method, m := range map[string]compress.Method{"LZ4": compress.LZ4, "ZSTD": compress.ZSTD, "none": compress.None} {
		c := compress.NewWriter(compress.LevelZero, m)
		var framed []byte
		for part := range slices.Chunk([]byte(sql), 1000) {
			if err := c.Compress(part); err != nil {
				t.Fatal(err)
			}
			framed = append(framed, c.Data...)
		}
		for _, a := range []*asker{in, out} {
			if r := a.do("POST", bytes.NewReader(framed), nil, "decompress", "1"); r.status != http.StatusOK || r.body != "100000\n" {
				t.Errorf("%s in many frames: %d %.200q", method, r.status, r.body)
			}
		}
		if err := c.Compress([]byte(sql)); err != nil {
			t.Fatal(err)
		}
		for _, a := range []*asker{in, out} {
			if r := a.do("POST", bytes.NewReader(c.Data), nil, "decompress", "1"); r.status != http.StatusOK || r.body != "100000\n" {
				t.Errorf("%s: %d %.200q", method, r.status, r.body)
			}
			if r := a.do("POST", bytes.NewReader(c.Data[:len(c.Data)-1]), nil, "decompress", "1"); r.status != http.StatusBadRequest || !strings.Contains(r.body, "unexpected EOF") {
				t.Errorf("%s cut short: %d %.200q", method, r.status, r.body)
			}
			damaged := bytes.Clone(c.Data)
			damaged[len(damaged)/2] ^= 1
			if r := a.do("POST", bytes.NewReader(damaged), nil, "decompress", "1"); r.status != http.StatusBadRequest || !strings.Contains(r.body, "corrupted") {
				t.Errorf("%s damaged: %d %.200q", method, r.status, r.body)
			}
		}
	}
	for encoding, wrap := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, "br": func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }, "zstd": bestZstd,
	} {
		var packed bytes.Buffer
		w := wrap(&packed)
		if _, err := io.WriteString(w, sql); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if r := out.do("POST", &packed, http.Header{"Content-Encoding": {encoding}}); r.status != http.StatusOK || r.body != "100000\n" {
			t.Errorf("%s: %d %.200q", encoding, r.status, r.body)
		}
	}
	longest := "SELECT length('" + strings.Repeat("x", server.LongestStatement-17) + "')"
	if r := out.ask("POST", longest, "max_query_size", fmt.Sprint(2*len(longest))); r.status != http.StatusOK {
		t.Errorf("a statement of %d bytes: %d %.200q", len(longest), r.status, r.body)
	}
	if r := out.ask("POST", longest+" "); r.status != http.StatusRequestEntityTooLarge || !strings.Contains(r.body, "longer than 16777216 bytes") {
		t.Errorf("a statement of one byte more: %d %.200q", r.status, r.body)
	}
}

func TestSlowBodiesEnd(t *testing.T) {
	out := impatient(t, "", "", time.Second, time.Minute)
	var group sync.WaitGroup
	for name, begin := range map[string]string{
		"a head":              "POST / HTTP/1.1\r\nHost: loc",
		"a statement":         "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nSELECT",
		"a chunk":             "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nSE",
		"one that is refused": "POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\nSELECT",
		"an INSERT":           "POST /?query=INSERT+INTO+t+VALUES HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n\r\n(1)",
	} {
		group.Go(func() {
			answer, err := sendAndWait(out.address(), begin)
			if err != nil {
				t.Errorf("%s is not ended: %v %q", name, err, answer)
			}
		})
	}
	group.Wait()
	// The time for the request does not end the statement.
	if r := out.ask("POST", "SELECT sleep(1.5)"); r.status != http.StatusOK {
		t.Errorf("a statement that takes longer than its request may: %d %q %v", r.status, r.body, r.err)
	}
}

// sendAndWait returns what comes until the other side closes.
func sendAndWait(address, text string) (string, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// The engine shows a long statement cut short: a client that leaves ends it too.
func TestAReadersStatementEndsWithItsClient(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		sql := "SELECT count() FROM system.numbers WHERE NOT ignore('lengthy', '" + strings.Repeat("a", 120_000) + "')"
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, out.base, strings.NewReader(sql))
		if err == nil {
			var response *http.Response
			if response, err = out.client.Do(request); err == nil {
				response.Body.Close()
			}
		}
		ended <- err
	}()
	awaitRunning(t, in, "lengthy", "1")
	leave()
	if err := <-ended; err == nil {
		t.Error("the request ended well")
	}
	awaitRunning(t, in, "lengthy", "0")
}

// Nobody's settings come to another by way of a connection that both use, nor by what the
// engine takes for the end of a value.
func TestSettingsStayWithTheirRequest(t *testing.T) {
	out := outside(t, "", "")
	const sql = "SELECT toString(toDateTime(0))"
	for range 5 {
		out.ask("POST", "SELECT 1 SETTINGS max_execution_time = '30\x00--session_timezone=Asia/Tokyo'")
		out.ask("POST", "SELECT 1", "log_comment", "x --session_timezone=Asia/Tokyo")
		if r := out.ask("POST", sql, "max_execution_time", "30", "session_timezone", "Asia/Tokyo"); r.body != "1970-01-01 09:00:00\n" {
			t.Fatalf("said %q", r.body)
		}
		if r := out.ask("POST", sql, "max_execution_time", "30"); r.body != "1970-01-01 00:00:00\n" {
			t.Fatalf("said %q", r.body)
		}
	}
}

func TestAReaderCanBeStricterAndNotMore(t *testing.T) {
	out := outside(t, "", "")
	for given, want := range map[string]string{"0": "2\n", "1": "1\n", "2": "2\n", "": "2\n"} {
		if got := out.must("SELECT getSetting('readonly')", "readonly", given); got != want {
			t.Errorf("readonly %q: %q, want %q", given, got, want)
		}
	}
	written := filepath.Join(t.TempDir(), "written")
	for _, sql := range []string{"INSERT INTO t VALUES (1)", "CREATE TABLE t (a UInt8) ENGINE = Memory", "SET readonly = 0", "SELECT 1 SETTINGS readonly = 0", "SELECT 1 SETTINGS readonly = 1, readonly = 0",
		"KILL QUERY WHERE 1", "SELECT 1 INTO OUTFILE '" + written + "'", "EXPLAIN SELECT 1 INTO OUTFILE '" + written + "'", "SHOW TABLES INTO OUTFILE '" + written + "'"} {
		if r := out.ask("POST", sql); r.status == http.StatusOK {
			t.Errorf("%s: %q", sql, r.body)
		}
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("a file was written")
	}
}

func TestWhoFindsNoPlaceIsToldSo(t *testing.T) {
	pool := enginetest.Engine(t).Engine().Readers(nil, 1, time.Millisecond)
	err := pool.Use(t.Context(), "default", nil, func(*engine.Conn) error {
		return pool.Use(t.Context(), "default", nil, func(*engine.Conn) error { return nil })
	})
	if thrown := exception.As(err); err == nil || thrown.Code != exception.TooManyQueries || thrown.Status() != http.StatusServiceUnavailable || !strings.Contains(thrown.Message, "the most that readers may have") {
		t.Errorf("%v", err)
	}
}

// The head of a request has a length, since each connection may hold one, and the name of a
// statement comes back without what a terminal would obey.
func TestHeadsHaveALength(t *testing.T) {
	out := outside(t, "", "")
	if r := out.ask("GET", "", "query", "SELECT 1", "log_comment", strings.Repeat("x", 60<<10)); r.status != http.StatusOK {
		t.Errorf("60 KB: %d %.200s", r.status, r.body)
	}
	if r := out.ask("GET", "", "query", "SELECT 1", "log_comment", strings.Repeat("x", 80<<10)); r.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("80 KB: %d %.200s", r.status, r.body)
	}
	for given, kept := range map[string]bool{"mine-1": true, "\x1b[2Jmine": false, "a\u009bb": false, "a\x00": false} {
		r := out.ask("POST", "SELECT 1", "query_id", given)
		if got := r.header.Get("X-ClickHouse-Query-Id"); (got == given) != kept || got == "" {
			t.Errorf("%q: %q", given, got)
		}
	}
}

func TestWrongPasswordsAreSlow(t *testing.T) {
	out := outside(t, "default", "secret")
	answers := make(chan reply, 30)
	for i := range cap(answers) {
		go func() {
			answers <- out.sent("GET", "?query=SELECT+1", "", "X-ClickHouse-User", "default", "X-ClickHouse-Key", fmt.Sprint("guess", i))
		}()
	}
	statuses := map[int]int{}
	for range cap(answers) {
		r := <-answers
		statuses[r.status]++
		if r.status == http.StatusTooManyRequests && (r.header.Get("Retry-After") != "1" || !strings.Contains(r.body, "too many wrong passwords from this address")) {
			t.Errorf("%v %q", r.header, r.body)
		}
	}
	if statuses[http.StatusForbidden] < 10 || statuses[http.StatusTooManyRequests] < 10 {
		t.Errorf("30 guesses at once: %v", statuses)
	}
	for begun := time.Now(); ; {
		r := out.sent("GET", "?query=SELECT+1", "", "X-ClickHouse-User", "default", "X-ClickHouse-Key", "secret")
		if r.status == http.StatusOK {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("the right one: %d %q", r.status, r.body)
		}
	}
}
