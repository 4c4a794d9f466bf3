package inbound

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// Who sends a byte beyond its request and leaves is noticed, and who stays is not cut off.
func TestClientsThatHaveSentMoreAreSeenToLeave(t *testing.T) {
	begun, ended := make(chan bool), make(chan bool)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx, end := UntilGone(r.Context())
		defer end()
		begun <- true
		<-ctx.Done()
		ended <- true
	})
	server, limited := newServer(l, handler, Limits{Connections: 4, Header: 1 << 12, Request: time.Minute, Idle: time.Minute}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	go func() { _ = server.Serve(limited) }() // it ends when the server is closed
	t.Cleanup(func() { _ = server.Close() })
	for _, more := range []string{"", "G", "GET / HTTP/1.1\r\n"} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		<-begun
		if _, err := io.WriteString(conn, more); err != nil {
			t.Fatal(err)
		}
		if more == "G" {
			select {
			case <-ended:
				t.Errorf("%q: cut off while it is there", more)
			case <-time.After(goneLook + goneLook/2):
			}
		}
		conn.Close()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatalf("%q: not seen to leave", more)
		}
	}
}
