package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/larder-sync/larder/sinks/embedded"
)

// secret stands in every bait file; no answer may hold it.
const secret = "7316459"

// bait is what an attacker wants: files to read, a folder to write to, an address
// to reach. It notices when any of it was touched.
type bait struct {
	t        testing.TB
	folder   string
	watch    int // an inotify descriptor
	folders  map[int32]string
	address  string
	reached  atomic.Int32
	children []string // of this process, before
}

func newBait(t testing.TB) *bait {
	t.Helper()
	b := &bait{t: t, folder: t.TempDir()}
	for name, content := range map[string]string{
		"secret.csv": secret + "\n", "secret.json": `{"a": ` + secret + `}`, "key": secret + "\n",
		"secret.xml": "<clickhouse><a>" + secret + "</a></clickhouse>", "schema.proto": "syntax = \"proto3\"; message M { string a = 1; } // " + secret,
	} {
		if err := os.WriteFile(filepath.Join(b.folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if b.watch, err = syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	const touched = syscall.IN_OPEN | syscall.IN_ACCESS | syscall.IN_MODIFY | syscall.IN_CREATE | syscall.IN_DELETE | syscall.IN_MOVE | syscall.IN_ATTRIB
	folder, err := syscall.InotifyAddWatch(b.watch, b.folder, touched)
	if err != nil {
		t.Fatal(err)
	}
	temporary, err := syscall.InotifyAddWatch(b.watch, os.TempDir(), syscall.IN_CREATE|syscall.IN_OPEN)
	if err != nil {
		t.Fatal(err)
	}
	b.folders = map[int32]string{int32(folder): b.folder, int32(temporary): os.TempDir()}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.address = listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			b.reached.Add(1)
			_ = conn.Close()
		}
	}()
	b.children = children(t)
	t.Cleanup(func() { _ = listener.Close(); _ = syscall.Close(b.watch) })
	return b
}

// children are the processes that this one has started.
func children(t testing.TB) (all []string) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		content, err := os.ReadFile(list)
		if err == nil { // else its thread has ended
			all = append(all, strings.Fields(string(content))...)
		}
	}
	return all
}

// untouched fails the test when the bait was taken since the last look.
func (b *bait) untouched(after string) {
	b.t.Helper()
	if touched := b.touched(); touched != "" {
		b.t.Errorf("%q %s", after, touched)
	}
}

// touched is what became of the bait since the last look, empty for nothing.
func (b *bait) touched() (what string) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(b.watch, buffer)
		if n <= 0 || err != nil {
			break
		}
		for at := 0; at < n; {
			event := (*syscall.InotifyEvent)(unsafe.Pointer(&buffer[at]))
			name := strings.TrimRight(string(buffer[at+syscall.SizeofInotifyEvent:at+syscall.SizeofInotifyEvent+int(event.Len)]), "\x00")
			if event.Mask&(syscall.IN_IGNORED|syscall.IN_Q_OVERFLOW) == 0 && b.ours(event.Wd, name) {
				what = fmt.Sprintf("touched the file %q of %s: event %#x", name, b.folders[event.Wd], event.Mask)
			}
			at += syscall.SizeofInotifyEvent + int(event.Len)
		}
	}
	if n := b.reached.Swap(0); n > 0 {
		what = fmt.Sprintf("opened %d connections", n)
	}
	return what
}

// ours is true when an event counts: the folder for temporary files is everybody's,
// and the engine calls its own there tmp, the process and some letters.
func (b *bait) ours(watch int32, name string) bool {
	return b.folders[watch] == b.folder || strings.HasPrefix(name, "tmp"+strconv.Itoa(os.Getpid()))
}

// fill puts the bait's places into a statement.
func (b *bait) fill(sql string) string {
	return strings.NewReplacer(
		"{csv}", filepath.Join(b.folder, "secret.csv"), "{json}", filepath.Join(b.folder, "secret.json"),
		"{key}", filepath.Join(b.folder, "key"), "{proto}", filepath.Join(b.folder, "schema.proto"),
		"{new}", filepath.Join(b.folder, "written"), "{dir}", b.folder, "{host}", b.address,
	).Replace(sql)
}

// ask sends a statement to the read-only way in.
func (b *bait) ask(engine *Server, method, sql string, params url.Values) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	values := url.Values{"max_execution_time": {"5"}, "max_result_rows": {"1000"}}
	for name, given := range params {
		values[name] = given
	}
	body := sql
	if method == http.MethodGet {
		values.Set("query", sql)
		body = ""
	}
	r := httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
	r.Host, r.URL.RawQuery = "localhost", values.Encode()
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if reason := recover(); reason != nil && reason != http.ErrAbortHandler { //nolint:errorlint // a panic value is compared as it is
				panic(reason)
			}
		}()
		(&handler{server: engine, rights: reading}).ServeHTTP(w, r)
	}()
	if ctx.Err() != nil {
		b.t.Errorf("%q hangs", sql)
	}
	if strings.Contains(w.Body.String(), secret) && !strings.Contains(sql, secret) {
		b.t.Errorf("%q tells the secret: %q", sql, w.Body)
	}
	return w
}

// openWarehouse opens an engine as the daemon does, with a table in it.
func openWarehouse(t testing.TB) *Server {
	t.Helper()
	engine, err := Open(context.Background(), Options{Engine: embedded.Options{Path: t.TempDir(), Databases: []string{"larder", "larder_raw"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, sql := range []string{
		"CREATE DATABASE larder", "CREATE DATABASE larder_raw",
		"CREATE TABLE larder_raw.r (a UInt64, file_name String) ENGINE = ReplacingMergeTree ORDER BY a",
		"INSERT INTO larder_raw.r VALUES (1, 'x')",
		"CREATE VIEW larder.v AS SELECT a, file_name FROM larder_raw.r FINAL",
	} {
		asked(t, engine, sql, "Null")
	}
	return engine
}

// state is all that a reader must not change.
func state(t testing.TB, engine *Server) string {
	t.Helper()
	return asked(t, engine, "SELECT groupArray((database, name, engine, total_rows, metadata_modification_time)) FROM (SELECT * FROM system.tables WHERE database NOT IN ('system') ORDER BY database, name) UNION ALL SELECT [(toString(a), file_name, '', 0, now())] FROM larder_raw.r WHERE 0 FORMAT TSV", "TSV")
}
