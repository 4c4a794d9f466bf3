package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/memory"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

// heldWait is how long a data folder that another process holds is waited for:
// a query ends within moments, a daemon that was told to stop within seconds.
const heldWait = 15 * time.Second

// reach is what it takes to reach the warehouse of a configuration: its engine in this
// process, the process that holds the engine's folder, or another host.
type reach struct {
	// Confined keeps the engine's threads to the data folder, where the kernel can: for
	// a process that carries out one command (see embedded.Options).
	Confined bool

	cfg        *config.Config
	log        *slog.Logger
	findMemory func() memory.Limit
}

// route is how the warehouse is reached.
type route struct {
	server *server.Server                                              // open in this process; nil when remote or held
	engine *embedded.Engine                                            // what it serves
	held   bool                                                        // another process holds the data folder
	dial   func(ctx context.Context, address string) (net.Conn, error) // nil: the network
	queue  int64                                                       // bytes of rows that may wait; 0: queueBytes
}

// ownEngine opens the embedded engine for this process, waiting a moment when
// another one holds its folder. For a remote warehouse there is nothing to open.
func (a *reach) ownEngine(ctx context.Context, l *lifecycle) (*route, error) {
	if !a.cfg.Warehouse.DSN.Embedded() {
		return &route{}, nil
	}
	deadline := time.Now().Add(heldWait)
	for told := false; ; told = true {
		w, err := a.openEngine(ctx, l)
		if err == nil || !errors.Is(err, embedded.ErrHeld) || time.Now().After(deadline) {
			return w, err
		}
		if a.servedByDaemon(ctx) {
			return nil, a.heldBy(ctx, err)
		}
		if !told {
			a.log.Info("waiting for the data folder", "reason", err)
		}
		if !pause(ctx, 200*time.Millisecond) {
			return nil, context.Cause(ctx)
		}
	}
}

// anyEngine opens the embedded engine, or reaches it through the process that
// holds its folder.
func (a *reach) anyEngine(ctx context.Context, l *lifecycle) (*route, error) {
	if !a.cfg.Warehouse.DSN.Embedded() {
		return &route{}, nil
	}
	deadline := time.Now().Add(heldWait)
	for {
		if held := a.throughHolder(); held.answers(ctx) {
			return held, nil
		}
		if err := a.freeFolderReplaced(ctx); err != nil {
			return nil, err
		}
		w, err := a.openEngine(ctx, l)
		if err == nil || !errors.Is(err, embedded.ErrHeld) {
			return w, err
		}
		if time.Now().After(deadline) { // the holder is starting, ending, or stuck
			return nil, &WarehouseError{fmt.Errorf("%w; it does not answer on its socket either", err)}
		}
		if !pause(ctx, 100*time.Millisecond) {
			return nil, context.Cause(ctx)
		}
	}
}

// ownOrDaemon opens the engine, or finds the daemon that holds it.
func (a *reach) ownOrDaemon(ctx context.Context, l *lifecycle) (*route, error) {
	if a.cfg.Warehouse.DSN.Embedded() && a.servedByDaemon(ctx) {
		return a.throughHolder(), nil
	}
	if a.cfg.Warehouse.DSN.Embedded() {
		if err := a.freeFolderReplaced(ctx); err != nil {
			return nil, err
		}
	}
	return a.ownEngine(ctx, l)
}

// freeFolderReplaced is folderReplaced for a folder that nobody holds.
func (a *reach) freeFolderReplaced(ctx context.Context) error {
	if dir := a.cfg.Warehouse.DSN.Dir(); embedded.FolderFree(dir) || !exists(filepath.Join(dir, embedded.LockName)) {
		return a.folderReplaced(ctx)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (a *reach) openEngine(ctx context.Context, l *lifecycle) (*route, error) {
	plan, err := a.memory()
	if err != nil {
		return nil, err
	}
	serving, err := server.Open(ctx, server.Options{
		Engine: embedded.Options{
			Path: a.cfg.Warehouse.DSN.Dir(), Logger: a.log, Confined: a.Confined, Memory: plan.engine,
			Databases: []string{a.cfg.Warehouse.Database, a.cfg.Warehouse.Database + "_raw"},
		},
		ReaderZone: clickhouse.Zone,
	})
	if err != nil {
		return nil, &WarehouseError{err}
	}
	plan.keepHeap()
	a.log.Info("memory of the embedded engine", "limit", plan.String())
	l.add("engine", 20*time.Second, func(context.Context) error { return serving.Close() })
	return &route{server: serving, engine: serving.Engine(), dial: serving.Dial, queue: plan.queue}, nil
}

// throughHolder leads through the process that holds the data folder.
func (a *reach) throughHolder() *route {
	return &route{held: true, dial: server.DialHeld(a.cfg.Warehouse.DSN.Dir())}
}

// existing refuses a data folder that is not there, or has nothing in it: a question
// must not create an empty warehouse.
func (a *reach) existing(ctx context.Context) error {
	if !a.cfg.Warehouse.DSN.Embedded() {
		return nil
	}
	entries, err := os.ReadDir(a.cfg.Warehouse.DSN.Dir())
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		if err := a.folderReplaced(ctx); err != nil {
			return err
		}
		return &WarehouseError{fmt.Errorf("there is no data at %s yet: larder sync or larder run fills it (warehouse.dsn, or --config, may name another place)", a.cfg.Warehouse.DSN.Dir())}
	}
	return nil
}

// Holder asks the process at the other end.
func (w *route) Holder() Client { return Client{HTTP: w.client()} }

// client speaks HTTP along the route.
func (w *route) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return w.dial(ctx, address) },
	}}
}

func (w *route) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c := w.client()
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine/ping", http.NoBody)
	if err != nil {
		return false
	}
	res, err := c.Do(r)
	if err != nil {
		return false
	}
	_ = res.Body.Close() // the status was all
	return res.StatusCode == http.StatusOK
}

// queueBytes bounds the rows that wait for the warehouse: with it the heap of a
// backfill stays below 150 MB, and an INSERT is still some ten thousand orders.
const queueBytes = 48 << 20

// sinkOptions are those of the ClickHouse sink at the end of the route.
func (a *reach) sinkOptions(w *route, registerer prometheus.Registerer) (clickhouse.Options, error) {
	c := &a.cfg.Warehouse
	o := clickhouse.Options{
		Dial: w.dial, Database: c.Database, Cluster: c.Cluster,
		FlushInterval: c.FlushInterval, FlushRows: c.FlushRows, QueueBytes: cmp.Or(w.queue, queueBytes),
		Logger: a.log, Registerer: registerer,
	}
	if c.DSN.Embedded() {
		return o, nil
	}
	password, err := c.ReadPassword()
	if err != nil {
		return o, fmt.Errorf("warehouse.password_file: %w", err)
	}
	o.DSN = c.DSN.Reveal(password)
	return o, nil
}

// listenTCP serves the engine's read-only interface (warehouse.http_listen) and
// returns its URL, empty when it is off.
func (a *reach) listenTCP(ctx context.Context, s *server.Server) (string, error) {
	c := &a.cfg.Warehouse
	if s == nil || c.HTTPListen == "" {
		return "", nil
	}
	password, err := c.ReadPassword()
	if err != nil {
		return "", UsageError(fmt.Errorf("warehouse.password_file: %w", err))
	}
	addr, err := s.ListenTCP(ctx, c.HTTPListen, "default", password.Reveal())
	if err != nil {
		return "", UsageError(err)
	}
	return "http://" + addr.String(), nil
}
