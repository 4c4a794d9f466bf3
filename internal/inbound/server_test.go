package inbound

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

const full = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 5\r\n\r\nfull\n"

// serve returns the address of a server with these limits.
func serve(t *testing.T, h http.Handler, limits Limits) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, l := newServer(l, h, limits, slog.New(slog.DiscardHandler))
	go server.Serve(l) //nolint:errcheck // it ends when the test closes it
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func answerOn(t *testing.T, conn net.Conn) string {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(res.StatusCode, " ", strings.TrimSpace(string(body)))
}

func ask(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

func TestAFullListenerSaysSo(t *testing.T) {
	hold := make(chan struct{})
	entered := make(chan struct{}, 10)
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-hold
		io.WriteString(w, "held") //nolint:errcheck // the test reads what came
	}), Limits{Connections: 2, Request: time.Minute, Full: full})
	first, second := dial(t, address), dial(t, address)
	ask(t, first)
	ask(t, second)
	<-entered
	<-entered
	for range 20 {
		conn := dial(t, address)
		ask(t, conn)
		if got := answerOn(t, conn); got != "503 full" {
			t.Fatalf("one too many: %s", got)
		}
		conn.Close()
	}
	close(hold)
	if got := answerOn(t, first); got != "200 held" {
		t.Errorf("the first: %s", got)
	}
	if got := answerOn(t, second); got != "200 held" {
		t.Errorf("the second: %s", got)
	}
	// Both are idle now, or will be: a new one takes the place of one of them.
	third := dial(t, address)
	ask(t, third)
	for deadline := time.Now().Add(time.Minute); ; third = dial(t, address) {
		got := answerOn(t, third)
		if got == "200 held" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("beside two idle ones: %s", got)
		}
	}
}

// In a flood each one too many is answered.
func TestAFloodIsAnswered(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{})
	defer close(hold)
	address := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-hold
	}), Limits{Connections: 1, Request: time.Minute, Full: full})
	ask(t, dial(t, address))
	<-entered
	var flood []net.Conn
	for range 40 {
		flood = append(flood, dial(t, address))
	}
	for i, conn := range flood {
		if got := answerOn(t, conn); got != "503 full" {
			t.Fatalf("number %d: %s", i, got)
		}
	}
}

func TestSlowRequestsEnd(t *testing.T) {
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err == nil {
			t.Error("a body that never ended was read")
		}
		w.WriteHeader(http.StatusRequestTimeout)
	}), Limits{Connections: 2, Request: 200 * time.Millisecond, Full: full})
	head, body := dial(t, address), dial(t, address)
	for conn, text := range map[net.Conn]string{head: "GET / HT", body: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"} {
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		// A reset is an end, too: what was sent and not read has the kernel end with one.
		if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("not closed by the server: %v", err)
		}
	}
}

// What Go's server refuses before any handler sees it has none of our headers;
// docs/security.md says so. It is one of its own sentences, and tells nothing of who
// asked or of what there is.
func TestUnreadableRequestsAreToldNothing(t *testing.T) {
	const marker = "<script>marker</script>"
	address := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the handler was asked")
	}), Limits{Connections: 2, Header: 1 << 10, Request: time.Minute, Full: full})
	for name, c := range map[string]struct{ request, want string }{
		"a malformed Host":    {"GET / HTTP/1.1\r\nHost: " + marker + " x\r\n\r\n", "400 400 Bad Request: malformed Host header"},
		"two Hosts":           {"GET / HTTP/1.1\r\nHost: x\r\nHost: " + marker + "\r\n\r\n", "400 400 Bad Request"},
		"a malformed header":  {"GET / HTTP/1.1\r\nHost: x\r\n" + marker + "\r\n\r\n", "400 400 Bad Request"},
		"a long header":       {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat(marker, 2000) + "\r\n\r\n", "431 431 Request Header Fields Too Large"},
		"an unknown encoding": {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + marker + "\r\n\r\n", "501 Unsupported transfer encoding"},
		"an expectation":      {"GET / HTTP/1.1\r\nHost: x\r\nExpect: " + marker + "\r\n\r\n", "417"},
		"another protocol":    {"GET / HTTP/9.9\r\nHost: " + marker + "\r\n\r\n", "505 505 HTTP Version Not Supported: unsupported protocol version"},
		"no HTTP":             {marker + "\r\n\r\n", "400 400 Bad Request"},
	} {
		conn := dial(t, address)
		if _, err := io.WriteString(conn, c.request); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(answerOn(t, conn)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		conn.Close()
	}
}

// OPTIONS * has an answer of Go's server, too; the handler gives it instead.
func TestNothingIsAnsweredBesideTheHandler(t *testing.T) {
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Method+" "+r.URL.Path) //nolint:errcheck // the test reads what came
	}), Limits{Connections: 1, Request: time.Minute, Full: full})
	conn := dial(t, address)
	if _, err := io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got := answerOn(t, conn); got != "200 OPTIONS *" {
		t.Error(got)
	}
}

// The error of an address that cannot be listened on says what to set.
func TestErrorsOfListening(t *testing.T) {
	for err, want := range map[error]string{
		syscall.EADDRINUSE:    `web.listen: 192.0.2.1:80 is taken by another process; stop that one, or set web.listen to another address, or to "" for none`,
		syscall.EADDRNOTAVAIL: "web.listen: cannot assign requested address; set web.listen to an address of this machine that this user may listen on",
	} {
		if got := (&ListenError{Setting: "web.listen", Addr: "192.0.2.1:80", Err: err}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
