package api

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// overTLS starts a server of HTTP/2, or HTTP/1.1, and returns how transports to it are made.
func overTLS(t *testing.T, two bool, timeouts Timeouts, handler http.HandlerFunc) (*httptest.Server, func() *http.Transport) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = two
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, func() *http.Transport {
		transport := NewTransport(timeouts)
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		transport.TLSClientConfig.RootCAs.AddCert(server.Certificate())
		t.Cleanup(transport.CloseIdleConnections)
		return transport
	}
}

// TestHTTP2 speaks HTTP/2 where the service does; the body that keeps net/http
// from sending again by itself must not reach the service in either version.
func TestHTTP2(t *testing.T) {
	for _, two := range []bool{false, true} {
		var attempts atomic.Int32
		server, transport := overTLS(t, two, Timeouts{}, func(w http.ResponseWriter, r *http.Request) {
			if (r.ProtoMajor == 2) != two || r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
				t.Errorf("%s, content length %d, transfer encoding %v", r.Proto, r.ContentLength, r.TransferEncoding)
			}
			say(w, 200, emptyPage)
		})
		gate := &tally{}
		c, err := New(Options{BaseURL: server.URL, Key: func() string { return testKey }, Transport: transport(), Observe: func(string, int) { attempts.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := products.Page(t.Context(), c.Through(gate), ListQuery{}); err != nil {
				t.Error(err)
			}
		}
		if gate.entered != 3 || attempts.Load() != 3 {
			t.Errorf("entered %d times, %d attempts", gate.entered, attempts.Load())
		}
	}
}

// forwarder passes connections on to a server, until those that are open go silent.
type forwarder struct {
	net.Listener
	to     string
	mu     sync.Mutex
	silent []chan struct{} // of each connection, closed when it is to be
}

func forward(t *testing.T, to string) *forwarder {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{Listener: l, to: to}
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(context.WithoutCancel(t.Context()), "tcp", to)
			if err != nil {
				t.Error(err)
				return
			}
			silent := make(chan struct{})
			f.mu.Lock()
			f.silent = append(f.silent, silent)
			f.mu.Unlock()
			ended.Go(func() { pass(server, client, silent) })
			ended.Go(func() { pass(client, server, silent) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); ended.Wait() })
	return f
}

// pass copies what is sent until the end; of a silent connection all is lost, and its other
// end notices nothing.
func pass(to, from net.Conn, silent <-chan struct{}) {
	defer func() { _ = from.Close() }()
	b := make([]byte, 4<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			_ = to.Close()
			return
		}
		select {
		case <-silent:
		default:
			_, _ = to.Write(b[:n]) // an error is one of the next read, too
		}
	}
}

// silence makes every open connection silent, and reports how many there were.
func (f *forwarder) silence() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.silent {
		close(c)
	}
	n := len(f.silent)
	f.silent = nil
	return n
}

// A connection that has gone silent, as behind a firewall that has forgotten it, is given up
// long before the time-out of a request, and the request is sent again over another.
func TestASilentHTTP2ConnectionIsGivenUp(t *testing.T) {
	timeouts := Timeouts{Ping: time.Second, Header: time.Hour, Whole: time.Hour}
	server, transport := overTLS(t, true, timeouts, func(w http.ResponseWriter, _ *http.Request) { say(w, 200, emptyPage) })
	f := forward(t, server.Listener.Addr().String())
	c, err := New(Options{
		BaseURL: "https://" + f.Addr().String(), Key: func() string { return testKey }, Transport: transport(), Timeouts: timeouts,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // without a ping each round takes an hour
	defer cancel()
	for round := range 2 {
		if _, err := products.Page(ctx, c, ListQuery{}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if f.silence() == 0 {
			t.Fatalf("round %d: no connection", round)
		}
	}
}

// A connection is given up after a while even if there is never a moment without a request on
// it, so that a service that has moved is found. What is under way on it ends well.
func TestConnectionsAreRenewed(t *testing.T) {
	release := make(chan struct{})
	server, transport := overTLS(t, true, Timeouts{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-release
		}
		_, _ = fmt.Fprint(w, r.RemoteAddr)
	})
	way := Renewed(transport)
	ask := func(path string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := way.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	read := func(resp *http.Response) string {
		t.Helper()
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	slow := ask("/slow")
	first, second := read(ask("/")), read(ask("/"))
	way.since = time.Now().Add(-connectionAge)
	third, fourth := read(ask("/")), read(ask("/"))
	close(release)
	if of := read(slow); of != first || first != second || third == second || third != fourth {
		t.Errorf("the connections were %s, %s, %s, %s and %s", of, first, second, third, fourth)
	}
}
