package warehouse

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/engine/reader"
	"github.com/larder-sync/larder/sinks/engine/writer"
)

// Opener is what it takes to reach the warehouse of a configuration: the program of its
// engine, or another host.
type Opener struct {
	// Unconfined lets the engine read files outside of the data folder, as a restore does.
	Unconfined bool

	Config *config.Config
	Log    *slog.Logger
}

// Route is how the warehouse is reached.
type Route struct {
	engine *writer.Writer     // nil when remote
	reader *reader.Supervisor // of warehouse.http_listen; nil for none
	queue  int64              // bytes of rows that may wait; 0: queueOf the machine
}

// Reach finds the way to the warehouse. The engine of an embedded one is started, unless
// another process has done so.
func (a *Opener) Reach(ctx context.Context, l *lifecycle.Cleanups) (*Route, error) {
	if !a.Config.Warehouse.DSN.Embedded() {
		return &Route{}, nil
	}
	dir := a.Config.Warehouse.DSN.Dir()
	if _, err := os.Stat(filepath.Join(dir, RestoringFolder)); err == nil {
		return nil, lifecycle.WarehouseError(fmt.Errorf("larder restore is filling the data folder %s, or was stopped before it was done: "+
			"wait until it has ended, or run it again", dir))
	}
	plan, err := a.Memory()
	if err != nil {
		return nil, err
	}
	engine, err := writer.Open(ctx, writer.Options{
		Folder: dir, Memory: plan.writer(), Unconfined: a.Unconfined, Log: a.Log,
		Databases: []string{a.Config.Warehouse.Database, a.Config.Warehouse.Database + "_raw"},
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, lifecycle.WarehouseError(err)
	}
	if plan.heap > 0 && os.Getenv("GOMEMLIMIT") == "" { // garbage is collected sooner as the heap comes close to what the engine leaves
		debug.SetMemoryLimit(plan.heap)
	}
	a.Log.Info("memory of the embedded engine", "limit", plan.String())
	l.Add("engine", 20*time.Second, func(context.Context) error { return engine.Close() })
	return &Route{engine: engine, queue: plan.queue}, nil
}

// Ends is how often the programs of the embedded engine have ended by themselves: the one that
// writes, and the one that answers readers.
func (w *Route) Ends() (writer, readers int) {
	if w.engine == nil {
		return 0, 0
	}
	if w.reader != nil {
		readers = w.reader.Ends()
	}
	return w.engine.Ends(), readers
}

// Health is nil while the data folder of an embedded warehouse is there.
func (w *Route) Health() error {
	if w.engine == nil {
		return nil
	}
	return w.engine.Health()
}

// Problems says what is wrong with the programs of the embedded engine.
func (w *Route) Problems() (all []string) {
	if w.engine != nil {
		all = append(all, w.engine.Problem())
	}
	if w.reader != nil {
		all = append(all, w.reader.Problem())
	}
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// RestoringFolder is in the data folder while larder restore fills it.
const RestoringFolder = ".restoring"

// Listens reports whether an engine has a data folder open.
func Listens(ctx context.Context, dir string) bool { return writer.Listens(ctx, dir) }
