package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

const testKey = "svc_live_4f9d2c7e81b36a05"

var products = ListAt("/products")

// memory is a listener whose connections are pipes, so that a bubble of
// testing/synctest sees both ends.
type memory struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), done: make(chan struct{})} }

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error { m.once.Do(func() { close(m.done) }); return nil }

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case m.conns <- theirs:
		return ours, nil
	case <-m.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// service is an HTTP server in memory, a client of it, and all the client said.
type service struct {
	*Client
	log       *bytes.Buffer
	exchanges []string
	mu        sync.Mutex
}

// serve starts handler and a client of it; both end with the test.
func serve(t *testing.T, handler http.HandlerFunc, change func(*Options)) *service {
	t.Helper()
	l := newMemory()
	server := &http.Server{Handler: handler, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	var ended sync.WaitGroup
	ended.Go(func() { _ = server.Serve(l) }) // always ErrServerClosed
	transport := NewTransport(Timeouts{})
	transport.Proxy, transport.DialContext = nil, l.dial
	s := &service{log: new(bytes.Buffer)}
	opts := Options{
		BaseURL: "http://pos.example/v1", Key: func() string { return testKey }, Transport: transport,
		Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Jitter: func() float64 { return 0.5 },
		Observe: func(route string, status int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.exchanges = append(s.exchanges, fmt.Sprint(route, " ", status))
		},
	}
	if change != nil {
		change(&opts)
	}
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Client = c
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close() // ends every connection; says only what is closed already
		ended.Wait()
	})
	return s
}

// say answers with a status and a body.
func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may have gone
}

const emptyPage = `{"data":[],"next_cursor":null,"has_more":false}`

// tally is a gate that lets everyone through after a while and keeps the
// verdicts.
type tally struct {
	mu       sync.Mutex
	hold     time.Duration
	entered  int
	heavy    int
	left     int
	verdicts []Verdict
	err      error
}

func (g *tally) Enter(ctx context.Context, heavy bool) (func(Verdict), error) {
	select {
	case <-time.After(g.hold):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, g.err
	}
	g.entered++
	if heavy {
		g.heavy++
	}
	return func(v Verdict) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.left++
		g.verdicts = append(g.verdicts, v)
	}, nil
}
