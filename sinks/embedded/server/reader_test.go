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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/go-faster/city"
	"github.com/klauspost/compress/zstd"

	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

// impatient asks over a read-only listener with limits that a test can wait for.
func impatient(t testing.TB, request, statement, stall time.Duration) *asker {
	addr, err := embeddedtest.Engine(t).ListenImpatiently(context.Background(), request, statement, stall)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &asker{t: t, client: &http.Client{Transport: transport}, base: "http://" + addr.String() + "/"}
}

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

// fillPlaces has twice as many readers stall as there are places, until there is room for
// none more. leave ends them, and waits until the engine has stopped their statements.
func (a *asker) fillPlaces(in *asker) (leave func()) {
	a.t.Helper()
	var stalled []net.Conn
	for range 2 * server.ReaderPlaces {
		stalled = append(stalled, a.stalled(endless))
	}
	for deadline := time.Now().Add(time.Minute); a.ask("POST", "SELECT 1").status != http.StatusServiceUnavailable; {
		if time.Now().After(deadline) {
			a.t.Fatal("there is room for one reader more")
		}
	}
	return func() {
		a.t.Helper()
		for _, conn := range stalled {
			conn.Close()
		}
		awaitRunning(a.t, in, "system.numbers FORMAT", "0")
	}
}

// Twice as many readers as there are places, none of which takes its answer: the
// daemon's statements go on as if they were not there, and those who find no
// place are told so.
func TestReadersLeaveTheDaemonItsPlaces(t *testing.T) {
	in, out := inside(t), impatient(t, time.Minute, 10*time.Minute, 10*time.Minute)
	db := embeddedtest.Database(t)
	in.must("CREATE TABLE w (a UInt64) ENGINE = MergeTree ORDER BY a", "database", db)
	defer embeddedtest.Engine(t).HurryReaders(time.Second)()
	leave := out.fillPlaces(in)
	begun := time.Now()
	for i := range 20 {
		in.must(fmt.Sprint("INSERT INTO w VALUES (", i, ")"), "database", db)
	}
	if got := in.must("SELECT count() FROM w", "database", db); got != "20\n" {
		t.Errorf("%q rows", got)
	}
	t.Logf("20 inserts beside %d stalled readers: %s", 2*server.ReaderPlaces, time.Since(begun).Round(time.Millisecond))
	r := out.ask("POST", "SELECT 1")
	if r.status != http.StatusServiceUnavailable || r.header.Get("X-ClickHouse-Exception-Code") != "202" || !strings.Contains(r.body, "TOO_MANY_SIMULTANEOUS_QUERIES") {
		t.Errorf("one reader more: %d %q", r.status, r.body)
	}
	leave()
	if got := out.must("SELECT 1"); got != "1\n" {
		t.Errorf("afterwards: %q", got)
	}
}

// owner asks over the folder's socket, as the commands beside a daemon do.
func owner(t testing.TB) *asker {
	transport := &http.Transport{DisableCompression: true}
	dial := server.DialHeld(embeddedtest.Engine(t).Path())
	transport.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) { return dial(ctx, address) }
	t.Cleanup(transport.CloseIdleConnections)
	return &asker{t: t, client: &http.Client{Transport: transport}, base: "http://embedded/"}
}

// Readers that take nothing of their answers hold all the memory that readers may have:
// the commands of the folder's owner go on.
func TestReadersLeaveTheOwnerACommand(t *testing.T) {
	in, out, own := inside(t), impatient(t, time.Minute, 10*time.Minute, 10*time.Minute), owner(t)
	defer embeddedtest.Engine(t).HurryReaders(time.Second)()
	leave := out.fillPlaces(in)
	for range 10 {
		if r := own.ask("POST", "SELECT count() FROM system.tables"); r.status != http.StatusOK {
			t.Fatalf("a command: %d %.300s", r.status, r.body)
		}
	}
	leave()
}

func TestAStalledReaderLosesItsPlace(t *testing.T) {
	in, out := inside(t), impatient(t, time.Minute, time.Minute, 2*time.Second)
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

func TestAReadersTimeIsBounded(t *testing.T) {
	in, out := inside(t), outside(t, "", "")
	bound := fmt.Sprintf("%.0f\n", server.ReaderTime.Seconds())
	for given, want := range map[string]string{"": bound, "0": bound, "7": "7\n", "0.5": "0.5\n", "1000000": bound, "-1": bound, "inf": bound, "nan": bound} {
		params := []string{"max_execution_time", given}
		if given == "" {
			params = nil
		}
		if got := out.must("SELECT getSetting('max_execution_time')", params...); got != want {
			t.Errorf("max_execution_time %q: %q, want %q", given, got, want)
		}
	}
	if r := out.ask("POST", "SELECT 1", "max_execution_time", "a while"); r.status != http.StatusBadRequest || !strings.Contains(r.body, "give a number up to") {
		t.Errorf("what is no number: %d %q", r.status, r.body)
	}
	// The statement's own SETTINGS are bounded as those of the URL are.
	if got := out.must("SELECT getSetting('max_execution_time') SETTINGS max_execution_time = 1000000"); got != bound {
		t.Errorf("SETTINGS max_execution_time: %q, want %q", got, bound)
	}
	if got := out.must("SELECT getSetting('max_threads')", "max_threads", "10000"); got != fmt.Sprintln(max(8, runtime.NumCPU())) {
		t.Errorf("max_threads %q", got)
	}
	if theirs, ours := out.must("SELECT getSetting('max_memory_usage')"), in.must("SELECT getSetting('max_memory_usage')"); atoi(t, theirs) >= atoi(t, ours) {
		t.Errorf("readers may use %s bytes, the daemon %s", theirs, ours)
	}
	// The server stops a statement by its own clock, whatever the engine was told.
	short := impatient(t, time.Minute, 300*time.Millisecond, time.Minute)
	r := short.ask("POST", "SELECT sum(sipHash64(number)) FROM numbers_mt(1000000000000)")
	if r.status != http.StatusRequestTimeout || r.header.Get("X-ClickHouse-Exception-Code") != "159" {
		t.Errorf("too long: %d %q", r.status, r.body)
	}
	awaitRunning(t, in, "numbers_mt(1000000000000)", "0")
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
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

// A small body that unpacks to much, or says so, costs what a statement costs.
func TestBombsCostLittle(t *testing.T) {
	out := outside(t, "", "")
	const gigabytes = 3 << 30
	z := zeros(t, gigabytes, bestZstd)
	claims := append(make([]byte, 16), 0x82)
	claims = binary.LittleEndian.AppendUint32(claims, 256<<20)
	claims = binary.LittleEndian.AppendUint32(claims, 256<<20)
	window := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x98}, 1, 0, 0) // one of 512 MB
	for name, c := range map[string]struct {
		body     []byte
		encoding string // "frames" is ClickHouse's own
		status   int
	}{
		"3 GB in a frame":               {frame(0x90, z, gigabytes&0xffffffff>>1), "frames", http.StatusBadRequest},
		"3 GB in a frame, said small":   {frame(0x90, z[:min(len(z), 200<<10)], 100), "frames", http.StatusBadRequest},
		"64 MB in a frame, said small":  {frame(0x90, zeros(t, 64<<20, bestZstd), 100), "frames", http.StatusBadRequest},
		"25 bytes that claim 256 MB":    {claims, "frames", http.StatusBadRequest},
		"LZ4 that claims the most":      {frame(0x82, []byte{0}, 256<<10), "frames", http.StatusBadRequest},
		"100 MB in frames":              {bytes.Repeat(frame(0x90, zeros(t, 200<<10, bestZstd), 200<<10), 500), "frames", http.StatusRequestEntityTooLarge},
		"a window of 512 MB":            {window, "zstd", http.StatusBadRequest},
		"3 GB of zstd":                  {z, "zstd", http.StatusRequestEntityTooLarge},
		"128 MB of gzip":                {zeros(t, 1<<27, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }), "gzip", http.StatusRequestEntityTooLarge},
		"128 MB of deflate":             {zeros(t, 1<<27, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }), "deflate", http.StatusRequestEntityTooLarge},
		"1 GB of br":                    {zeros(t, 1<<30, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }), "br", http.StatusRequestEntityTooLarge},
		"a long statement":              {bytes.Repeat([]byte("-"), 32<<20), "", http.StatusRequestEntityTooLarge},
		"a parameter in many places":    {[]byte("SELECT " + strings.Repeat("{x:String},", 20000)), "", http.StatusRequestEntityTooLarge},
		"an INSERT that does not end":   {append([]byte("INSERT INTO t VALUES "), bytes.Repeat([]byte("(1),"), 8<<20)...), "", http.StatusForbidden},
		"an INSERT in frames for ever":  {bytes.Repeat(frame(0x02, []byte("INSERT INTO t VALUES (1)"), 24), 500), "frames", http.StatusForbidden},
		"a statement nested for ever":   {append([]byte("SELECT "), bytes.Repeat([]byte("f("), 120<<10)...), "", http.StatusBadRequest},
		"a statement of many additions": {append([]byte("SELECT 1"), bytes.Repeat([]byte("+1"), 120<<10)...), "", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			params := []string{"param_x", strings.Repeat("y", 40<<10)}
			if c.encoding == "frames" {
				c.encoding, params = "", append(params, "decompress", "1")
			}
			begun := time.Now()
			r := out.do("POST", bytes.NewReader(c.body), http.Header{"Content-Encoding": {c.encoding}}, params...)
			took := time.Since(begun)
			runtime.ReadMemStats(&after)
			// Go's memory: the engine's is bounded by its own limits.
			spent := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d KB: %d in %s, %d MB: %.120q", len(c.body)>>10, r.status, took.Round(time.Millisecond), spent, r.body)
			if r.status != c.status {
				t.Errorf("%d, want %d: %.200q", r.status, c.status, r.body)
			}
			if spent > 64 {
				t.Errorf("%d MB were allocated", spent)
			}
		})
	}
}

// What clients compress must go on being read.
func TestCompressedStatementsAreRead(t *testing.T) {
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
			if r := a.do("POST", bytes.NewReader(damaged), nil, "decompress", "1"); r.status != http.StatusBadRequest || !strings.Contains(r.body, "damaged") {
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
	longest := "SELECT length('" + strings.Repeat("x", server.MostStatement-17) + "')"
	if r := out.ask("POST", longest); r.status != http.StatusOK {
		t.Errorf("a statement of %d bytes: %d %.200q", len(longest), r.status, r.body)
	}
	if r := out.ask("POST", longest+" "); r.status != http.StatusRequestEntityTooLarge || !strings.Contains(r.body, "longer than 262144 bytes") {
		t.Errorf("a statement of one byte more: %d %.200q", r.status, r.body)
	}
}

func TestSlowBodiesEnd(t *testing.T) {
	out := impatient(t, time.Second, time.Minute, time.Minute)
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
	if r := out.ask("POST", "SELECT sum(sipHash64(number)) FROM numbers(80000000) SETTINGS max_threads = 1"); r.status != http.StatusOK {
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
