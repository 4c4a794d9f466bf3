package inbound

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// from is a connection from an address.
type from struct {
	net.Conn
	address net.TCPAddr
}

func (f from) RemoteAddr() net.Addr { return &f.address }

// incoming is a listener of connections that a test makes.
type incoming chan net.Conn

func (in incoming) Accept() (net.Conn, error) {
	conn, open := <-in
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (incoming) Close() error   { return nil }
func (incoming) Addr() net.Addr { return &net.TCPAddr{} }

// However many connections one address opens, another gets one. Where an address has its share, an
// idle connection of its own is closed for a new one, and none of others; where the listener is full,
// any idle one is.
func TestAnAddressLeavesConnectionsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 16
		in, hold := make(incoming), make(chan struct{})
		server, l := newServer(in, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hold" {
				<-hold
			}
		}), Limits{Connections: most, Request: time.Hour, Idle: time.Hour, Full: full}, slog.New(slog.DiscardHandler))
		go server.Serve(l) //nolint:errcheck // it ends when the test closes it
		defer server.Close()
		defer close(in)
		defer close(hold)
		open := func(last byte) net.Conn {
			ours, theirs := net.Pipe()
			in <- from{theirs, net.TCPAddr{IP: net.IPv4(192, 0, 2, last), Port: 1}}
			return ours
		}
		ask := func(conn net.Conn, path string) (status int) { // 0 for a connection that was closed
			go io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n") //nolint:errcheck // a refused one takes no request
			if path == "/hold" {
				synctest.Wait()
				return 0
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				return 0
			}
			res.Body.Close()
			synctest.Wait() // it is idle now
			return res.StatusCode
		}
		other := open(2)
		if got := ask(other, "/"); got != 200 {
			t.Fatal(got)
		}
		for range OfOneAddress(most) - 1 {
			ask(open(1), "/hold")
		}
		first := open(1)
		if got := ask(first, "/"); got != 200 {
			t.Fatalf("the last of its share: %d", got)
		}
		second := open(1)
		if got := ask(second, "/"); got != 200 || ask(first, "/") != 0 {
			t.Errorf("beyond its share, with an idle one: %d", got)
		}
		if ask(other, "/") != 200 {
			t.Error("the idle one of another was closed")
		}
		ask(second, "/hold")
		if got := ask(open(1), "/"); got != 503 {
			t.Errorf("beyond its share, with no idle one: %d", got)
		}
		third := open(3)
		if got := ask(third, "/"); got != 200 || ask(other, "/") != 200 {
			t.Errorf("another address: %d", got)
		}
		ask(third, "/hold")
		if got := ask(open(4), "/"); got != 200 || ask(other, "/") != 0 {
			t.Errorf("a full listener with an idle one: %d", got)
		}
	})
}
