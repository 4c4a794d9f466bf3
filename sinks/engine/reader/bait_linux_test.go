package reader_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

// secret stands in every file of the bait; no answer may hold it.
const secret = "7316459"

// bait is what an attacker wants: files to read, a folder to write into, an address to
// reach. It notices when any of it was touched.
type bait struct {
	folder  string
	address string
	reached atomic.Int32 // connections

	mu    sync.Mutex
	watch int // an inotify descriptor
}

func newBait(t testing.TB) *bait {
	t.Helper()
	b := &bait{folder: t.TempDir()}
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
	if _, err := syscall.InotifyAddWatch(b.watch, b.folder, touched); err != nil {
		t.Fatal(err)
	}
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
	t.Cleanup(func() { _ = listener.Close(); _ = syscall.Close(b.watch) })
	return b
}

// touched is what became of the bait since the last look, empty for nothing. Who only lists
// the folder, as a program that goes through all temporary files does, has touched nothing.
func (b *bait) touched() (what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	buffer := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(b.watch, buffer)
		if n <= 0 || err != nil {
			break
		}
		for at := 0; at < n; {
			event := (*syscall.InotifyEvent)(unsafe.Pointer(&buffer[at]))
			name := strings.TrimRight(string(buffer[at+syscall.SizeofInotifyEvent:at+syscall.SizeofInotifyEvent+int(event.Len)]), "\x00")
			if name != "" {
				what = fmt.Sprintf("touched the file %q: event %#x", name, event.Mask)
			}
			at += syscall.SizeofInotifyEvent + int(event.Len)
		}
	}
	if n := b.reached.Swap(0); n > 0 {
		what = fmt.Sprintf("opened %d connections", n)
	}
	return what
}

// fill puts the bait's places into a statement.
func (b *bait) fill(sql string) string {
	return strings.NewReplacer(
		"{csv}", filepath.Join(b.folder, "secret.csv"), "{json}", filepath.Join(b.folder, "secret.json"),
		"{key}", filepath.Join(b.folder, "key"), "{proto}", filepath.Join(b.folder, "schema.proto"),
		"{new}", filepath.Join(b.folder, "written"), "{dir}", b.folder, "{host}", b.address,
	).Replace(sql)
}

// The bait itself works: what is done to it is noticed.
func TestTheBaitNotices(t *testing.T) {
	b := newBait(t)
	if _, err := os.ReadDir(b.folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.folder, "key")); err != nil {
		t.Fatal(err)
	}
	if got := b.touched(); got != "" {
		t.Errorf("a look at the folder: %s", got)
	}
	if _, err := os.ReadFile(filepath.Join(b.folder, "key")); err != nil {
		t.Fatal(err)
	}
	if b.touched() == "" {
		t.Error("a file was read, and the bait says nothing")
	}
	if err := os.WriteFile(filepath.Join(b.folder, "written"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if b.touched() == "" {
		t.Error("a file was made, and the bait says nothing")
	}
}
