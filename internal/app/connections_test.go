package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
)

const fewFiles = "LARDER_FEW_FILES"

// daemonWithFewFiles runs a daemon in a process of its own that may have as many
// files open, and returns the addresses of its page and its reading interface.
func daemonWithFewFiles(t *testing.T, files uint64) (page, reading string) {
	t.Helper()
	if os.Getenv(fewFiles) != "" {
		serveWithFewFiles(t, files)
		return "", ""
	}
	ctx, stop := context.WithCancel(context.Background())                     // that of t ends before it is told to end
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:gosec // this binary
	child.Env = append(os.Environ(), fewFiles+"=1")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer stop()
		in.Close()
		if err := child.Wait(); err != nil {
			t.Errorf("the daemon: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if n, err := fmt.Sscanf(lines.Text(), "serving %s %s", &page, &reading); n == 2 && err == nil {
			go io.Copy(io.Discard, out) //nolint:errcheck // what it says at its end
			return page, strings.TrimPrefix(reading, "http://")
		}
	}
	t.Fatal("the daemon did not start")
	return "", ""
}

// serveWithFewFiles serves until the test that started this process closes stdin.
func serveWithFewFiles(t *testing.T, files uint64) {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: files}); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, sandbox.Options{Orders: 20})
	w.migrated(t)
	w.app.Config.Warehouse.HTTPListen = "127.0.0.1:0"
	d, stop := w.daemon(t, w.app)
	defer stop()
	polling.Page(t, d.page.URL()+"/readyz", http.StatusOK, "")
	fmt.Println("serving", d.page.URL(), d.queryURL)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Error(err)
	}
}

// More clients than the process may have files, each with a body that never ends,
// and more readers than there are places, none of whom reads: the page answers,
// the daemon reaches its warehouse, and who finds no room is told.
func TestStrangersDoNotStarveTheDaemon(t *testing.T) {
	page, reading := daemonWithFewFiles(t, 400)
	if page == "" {
		return // this is the daemon, at its end
	}
	const slow = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nSELECT"
	endless := "SELECT number, randomPrintableASCII(100) FROM system.numbers FORMAT TSV"
	stalled := fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(endless), endless)
	for name, c := range map[string]struct {
		clients int
		send    string
	}{"slow bodies": {450, slow}, "stalled readers": {70, stalled}} {
		var conns []net.Conn
		for range c.clients {
			conn, err := net.Dial("tcp", reading)
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
			if _, err := io.WriteString(conn, c.send); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
				t.Fatal(err)
			}
		}
		for range 5 {
			polling.Page(t, page+"/readyz", http.StatusOK, "") // a lease may be lost on a machine that is busy
			if code, _ := polling.Fetch(t, page+"/"); code != http.StatusOK {
				t.Errorf("beside %d %s: the page = %d", c.clients, name, code)
			}
		}
		if body := polling.Page(t, "http://"+reading+"/?query=SELECT+1", http.StatusServiceUnavailable, ""); !strings.Contains(body, "TOO_MANY_SIMULTANEOUS_QUERIES") {
			t.Errorf("one more beside %d %s: %s", c.clients, name, body)
		}
		for _, conn := range conns {
			conn.Close()
		}
		polling.Page(t, "http://"+reading+"/?query=SELECT+1", http.StatusOK, "")
	}
}
