package app

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/server"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// remote is a ClickHouse server on the network, as far as anyone can tell: the
// engine behind a proxy that can go down.
type remote struct {
	url  string
	down atomic.Bool
	trip atomic.Bool // goes down at the next INSERT
}

// newRemote has a server with a migrated warehouse.
func newRemote(t *testing.T) *remote {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	copyMigrated(t, dir)
	return newRemoteOn(t, dir)
}

// newRemoteOn has a server on a data folder.
func newRemoteOn(t *testing.T, dir string) *remote {
	t.Helper()
	engine, err := server.Open(t.Context(), engine.Options{Path: dir, Databases: []string{"larder", "larder_raw"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &remote{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) { return engine.Dial(ctx, addr) }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Query().Get("query"), "INSERT") && r.trip.CompareAndSwap(true, false) {
			r.down.Store(true)
		}
		if r.down.Load() {
			panic(http.ErrAbortHandler) // cuts the connection
		}
		// The engine may answer before the proxy has seen the end of the request.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		proxy.ServeHTTP(w, q)
	}))
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

func (w *world) use(t *testing.T, r *remote) {
	t.Helper()
	dsn, err := config.ParseDSN(r.url)
	if err != nil {
		t.Fatal(err)
	}
	w.app.Config.Warehouse.DSN = dsn
}

func TestRemoteWarehouse(t *testing.T) {
	notInShort(t)
	r := newRemoteOn(t, t.TempDir())
	w := newWorld(t, sandbox.Options{Seed: 5, Orders: 200, Days: 10, NoLimits: true})
	w.use(t, r)
	w.sync(t)
	w.equalsTruth(t)
	s, err := w.app.Status(t.Context()) // from the views: nobody is at web.listen
	if err != nil || !s.StartedAt.IsZero() || *s.Sources[0].Streams[6].Rows == 0 {
		t.Errorf("stored status = %+v, %v", s, err)
	}
	var lines []string
	if err := w.app.Checker().Run(t.Context(), func(f check.Finding) { lines = append(lines, f.Mark+" "+f.Text) }); err != nil {
		t.Errorf("check: %v", err)
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "tables are in place") || strings.Contains(all, "✗") {
		t.Errorf("check:\n%s", all)
	}
}

func TestRemoteWarehouseDownAndUp(t *testing.T) {
	notInShort(t)
	r := newRemote(t)
	r.down.Store(true)
	w := newWorld(t, sandbox.Options{Seed: 6, Orders: 200, Days: 10, NoLimits: true})
	w.use(t, r)

	_, err := w.app.Sync(t.Context(), syncer.Selection{}, time.Second, nil)
	if lifecycle.ExitCode(err) != lifecycle.ExitWarehouse {
		t.Fatalf("sync with the warehouse down: %v", err)
	}

	d, stop := w.daemon(t, w.app)
	until(t, d, http.StatusServiceUnavailable, "could not be reached")
	if s := statusOf(t, d); s.Sources[0].Health().Kind != status.HealthWarehouse || s.Health().Kind != status.HealthWarehouse {
		t.Errorf("before it was ever reached: %+v, %+v", s.Sources[0].Health(), s.Health())
	}
	r.down.Store(false)
	until(t, d, http.StatusOK, "ready")
	if _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); err != nil {
		t.Fatal(err)
	}
	w.equalsTruth(t)
	w.app.Config.Web.Listen = strings.TrimPrefix(d.page.URL(), "http://")
	if s, err := w.app.Status(t.Context()); err != nil || s.StartedAt.IsZero() {
		t.Errorf("status from the page = %+v, %v", s, err)
	}

	r.down.Store(true)
	orders := w.Restaurant(0).IDs(sandbox.StreamSalesOrders)
	if err := w.Restaurant(0).Touch(sandbox.StreamSalesOrders, orders[:20]...); err != nil {
		t.Fatal(err)
	}
	pass := make(chan error, 1)
	go func() { _, err := d.RunOnce(t.Context(), syncer.Selection{}, nil); pass <- err }()
	until(t, d, http.StatusServiceUnavailable, "Rows wait for the warehouse, and nothing is lost: the warehouse could not be reached")
	saysNothingIsStored(t, d)
	r.down.Store(false)
	if err := <-pass; err != nil {
		t.Errorf("a pass over an outage: %v", err)
	}
	w.equalsTruth(t)
	until(t, d, http.StatusOK, "ready")
	stop()
}

// until asks /readyz until it answers so.
func until(t *testing.T, d *Daemon, code int, words string) {
	t.Helper()
	var got int
	var body string
	if !polling.For(t.Context(), func() bool {
		got, body = polling.Fetch(t, d.page.URL()+"/readyz")
		return got == code && strings.Contains(body, words)
	}) {
		t.Fatalf("/readyz: want %d with %q, last %d:\n%s", code, words, got, body)
	}
}

// Before there is a syncer the warehouse is the reason, and nothing else that is wrong beside it.
func TestReadyzWithoutASyncer(t *testing.T) {
	w := newWorld(t, sandbox.Options{Seed: 8, Orders: 20, Days: 2, NoLimits: true})
	w.use(t, &remote{url: "http://127.0.0.1:1"})
	d, err := w.app.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d.reloader = &reloader{problem: "The changed configuration is refused."}
	served := make(chan error, 1)
	go func() { served <- d.page.Serve() }()
	defer func() {
		if err := errors.Join(d.life.Close(), <-served); err != nil {
			t.Error(err)
		}
	}()
	ready := func(want string) {
		t.Helper()
		if code, body := polling.Fetch(t, d.page.URL()+"/readyz"); code != http.StatusServiceUnavailable || body != "not ready\n- "+want+"\n" {
			t.Errorf("/readyz: %d %s\nwant %s", code, body, want)
		}
	}
	ready("The warehouse is being opened.")
	d.setProblem("Waiting for the warehouse: connection refused")
	ready("Waiting for the warehouse: connection refused")
}

func TestPassGivesUpWhenTheWarehouseGoes(t *testing.T) {
	notInShort(t)
	r := newRemote(t)
	w := newWorld(t, sandbox.Options{Seed: 7, Orders: 100, Days: 10, NoLimits: true})
	w.use(t, r)
	w.sync(t)
	orders := w.Restaurant(0).IDs(sandbox.StreamSalesOrders)
	if err := w.Restaurant(0).Touch(sandbox.StreamSalesOrders, orders[0]); err != nil {
		t.Fatal(err)
	}
	r.trip.Store(true)
	report, err := w.app.Sync(t.Context(), syncer.Selection{}, time.Second, nil)
	if lifecycle.ExitCode(err) != lifecycle.ExitWarehouse || !strings.Contains(err.Error(), "has taken no rows for") {
		t.Errorf("sync with the warehouse gone: %v, %+v", err, report)
	}
	if err := w.app.Query(t.Context(), "SELECT 1", "", io.Discard); lifecycle.ExitCode(err) != lifecycle.ExitWarehouse {
		t.Errorf("query with the warehouse gone: %v", err)
	}
	r.down.Store(false)
	w.sync(t)
	w.equalsTruth(t)
}
