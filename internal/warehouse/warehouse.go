package warehouse

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
	"github.com/larder-sync/larder/internal/control"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/memory"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

// heldWait is how long a data folder that another process holds is waited for:
// a query ends within moments, a daemon that was told to stop within seconds.
const heldWait = 15 * time.Second

// Opener is what it takes to reach the warehouse of a configuration: its engine in this
// process, the process that holds the engine's folder, or another host.
type Opener struct {
	// Confined keeps the engine's threads to the data folder, where the kernel can: for
	// a process that carries out one command (see embedded.Options).
	Confined bool

	Config     *config.Config
	Log        *slog.Logger
	FindMemory func() memory.Limit
}

// Route is how the warehouse is reached.
type Route struct {
	Server *server.Server                                              // open in this process; nil when remote or held
	Engine *embedded.Engine                                            // what it serves
	Held   bool                                                        // another process holds the data folder
	dial   func(ctx context.Context, address string) (net.Conn, error) // nil: the network
	queue  int64                                                       // bytes of rows that may wait; 0: queueBytes
}

// OwnEngine opens the embedded engine for this process, waiting a moment when
// another one holds its folder. For a remote warehouse there is nothing to open.
func (a *Opener) OwnEngine(ctx context.Context, l *lifecycle.Cleanups) (*Route, error) {
	if !a.Config.Warehouse.DSN.Embedded() {
		return &Route{}, nil
	}
	deadline := time.Now().Add(heldWait)
	for logged := false; ; logged = true {
		w, err := a.openEngine(ctx, l)
		if err == nil || !errors.Is(err, embedded.ErrHeld) || time.Now().After(deadline) {
			return w, err
		}
		if a.ServedByDaemon(ctx) {
			return nil, a.HeldBy(ctx, err)
		}
		if !logged {
			a.Log.Info("waiting for the data folder", "reason", err)
		}
		if !lifecycle.Pause(ctx, 200*time.Millisecond) {
			return nil, context.Cause(ctx)
		}
	}
}

// AnyEngine opens the embedded engine, or reaches it through the process that
// holds its folder.
func (a *Opener) AnyEngine(ctx context.Context, l *lifecycle.Cleanups) (*Route, error) {
	if !a.Config.Warehouse.DSN.Embedded() {
		return &Route{}, nil
	}
	deadline := time.Now().Add(heldWait)
	for {
		if held := a.ThroughHolder(); held.Answers(ctx) {
			return held, nil
		}
		if err := a.FreeFolderReplaced(ctx); err != nil {
			return nil, err
		}
		w, err := a.openEngine(ctx, l)
		if err == nil || !errors.Is(err, embedded.ErrHeld) {
			return w, err
		}
		if time.Now().After(deadline) { // the holder is starting, ending, or stuck
			return nil, &exit.WarehouseError{Err: fmt.Errorf("%w; it does not answer on its socket either", err)}
		}
		if !lifecycle.Pause(ctx, 100*time.Millisecond) {
			return nil, context.Cause(ctx)
		}
	}
}

// OwnOrDaemon opens the engine, or finds the daemon that holds it.
func (a *Opener) OwnOrDaemon(ctx context.Context, l *lifecycle.Cleanups) (*Route, error) {
	if a.Config.Warehouse.DSN.Embedded() && a.ServedByDaemon(ctx) {
		return a.ThroughHolder(), nil
	}
	if a.Config.Warehouse.DSN.Embedded() {
		if err := a.FreeFolderReplaced(ctx); err != nil {
			return nil, err
		}
	}
	return a.OwnEngine(ctx, l)
}

// FreeFolderReplaced is folderReplaced for a folder that no process holds.
func (a *Opener) FreeFolderReplaced(ctx context.Context) error {
	if dir := a.Config.Warehouse.DSN.Dir(); embedded.FolderFree(dir) || !exists(filepath.Join(dir, embedded.LockName)) {
		return a.folderReplaced(ctx)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// RestoringFolder is in the data folder while larder restore fills it.
const RestoringFolder = ".restoring"

func (a *Opener) openEngine(ctx context.Context, l *lifecycle.Cleanups) (*Route, error) {
	if dir := a.Config.Warehouse.DSN.Dir(); exists(filepath.Join(dir, RestoringFolder)) {
		return nil, &exit.WarehouseError{Err: fmt.Errorf("larder restore is filling the data folder %s, or was stopped before it was done: "+
			"wait until it has ended, or run it again", dir)}
	}
	plan, err := a.Memory()
	if err != nil {
		return nil, err
	}
	serving, err := server.Open(ctx, server.Options{
		Engine: embedded.Options{
			Path: a.Config.Warehouse.DSN.Dir(), Logger: a.Log, Confined: a.Confined, Memory: plan.writer(),
			Databases: []string{a.Config.Warehouse.Database, a.Config.Warehouse.Database + "_raw"},
		},
	})
	if err != nil {
		return nil, &exit.WarehouseError{Err: err}
	}
	plan.keepHeap()
	a.Log.Info("memory of the embedded engine", "limit", plan.String())
	l.Add("engine", 20*time.Second, func(context.Context) error { return serving.Close() })
	return &Route{Server: serving, Engine: serving.Engine(), dial: serving.Dial, queue: plan.queue}, nil
}

// ThroughHolder leads through the process that holds the data folder.
func (a *Opener) ThroughHolder() *Route {
	return &Route{Held: true, dial: server.DialHeld(a.Config.Warehouse.DSN.Dir())}
}

// Existing refuses a data folder that is not there, or has nothing in it: a question
// must not create an empty warehouse.
func (a *Opener) Existing(ctx context.Context) error {
	if !a.Config.Warehouse.DSN.Embedded() {
		return nil
	}
	entries, err := os.ReadDir(a.Config.Warehouse.DSN.Dir())
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		if err := a.folderReplaced(ctx); err != nil {
			return err
		}
		return &exit.WarehouseError{Err: fmt.Errorf("there is no data at %s yet: larder sync or larder run fills it (warehouse.dsn, or --config, may name another place)", a.Config.Warehouse.DSN.Dir())}
	}
	return nil
}

// Holder asks the process at the other end.
func (w *Route) Holder() control.Client { return control.Client{HTTP: w.client()} }

// client speaks HTTP along the route.
func (w *Route) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return w.dial(ctx, address) },
	}}
}

// Answers is true when the engine at the other end does, within two seconds.
func (w *Route) Answers(ctx context.Context) bool {
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
func (a *Opener) sinkOptions(w *Route, registerer prometheus.Registerer) (clickhouse.Options, error) {
	c := &a.Config.Warehouse
	o := clickhouse.Options{
		Dial: w.dial, Database: c.Database, Cluster: c.Cluster,
		FlushInterval: c.FlushInterval, FlushRows: c.FlushRows, QueueBytes: cmp.Or(w.queue, queueBytes),
		Logger: a.Log, Registerer: registerer,
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
