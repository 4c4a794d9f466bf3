package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/engine/damage"
)

// Engine is a ClickHouse that runs inside this process, on one data folder.
type Engine struct {
	path    string
	spare   int64 // see explained
	log     *slog.Logger
	lib     *native
	folder  *Folder  // nil: it is a mirror, which keeps nothing
	anchor  *Conn    // keeps the engine up
	stopper *stopper // of queries, by the anchor
	version string

	args      []string // of every connection
	databases []string // that statements may use, see Options
	pool      *Pool    // of the daemon and the folder's owner

	writes   *damage.Writes
	parts    *damage.Parts
	watching sync.WaitGroup // watchDisk
	stop     context.CancelFunc
	stopped  context.Context
}

// library is loaded once.
var library = sync.OnceValues(func() (*native, error) {
	path, err := FindLibrary()
	if err != nil {
		return nil, err
	}
	return loadNative(path)
})

// Open starts the engine on a data folder, which it creates if need be. Errors:
// ErrEngineMissing, ErrUnwritable, ErrHeld; each says what to do.
func Open(o Options) (*Engine, error) {
	limit, err := MemoryLimitOf(o.Memory)
	if err != nil {
		return nil, err
	}
	lib, err := library()
	if err != nil {
		return nil, err
	}
	path, err := PrepareFolder(o.Path)
	if err != nil {
		return nil, err
	}
	folder, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	e := &Engine{path: path, spare: spareDisk, log: o.Logger, lib: lib, folder: folder, databases: o.databases()}
	if err := e.openFolder(o, limit); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return e, nil
}

func (e *Engine) openFolder(o Options, limit MemoryLimit) error {
	config, err := o.writeConfig(e.path, limit)
	if err != nil {
		return err
	}
	if err := e.keepPrivate(); err != nil {
		return err
	}
	if err := e.start(config, limit); err != nil {
		return err
	}
	if err := e.survey(); err != nil {
		e.disconnect()
		return err
	}
	e.watching.Go(func() { lifecycle.Loop(e.stopped, e.log, "the watch of the disk", e.watchDisk) })
	e.log.Info("embedded engine open", "path", e.path, "version", e.version)
	return nil
}

// start opens the first connection, which starts the engine.
func (e *Engine) start(config string, limit MemoryLimit) error {
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	e.args = slices.Concat([]string{"clickhouse", "--path=" + e.path, "--config-file=" + config}, settingArgs(settingsOf(limit)))
	e.lib.signals(0) // a crash of the engine ends its process
	anchor, err := e.connect(e.args)
	if err != nil {
		return fmt.Errorf("start the engine on %s: %w; a line of its own on standard error that begins with \"Code:\" has the reason. "+
			"The folder is as it was: keep it, whatever the reason", e.path, err)
	}
	e.anchor, e.stopper = anchor, &stopper{conn: anchor, log: e.log}
	e.pool = e.newPool(e.args, maxConns, 0)
	e.stopped, e.stop = context.WithCancel(context.Background())
	version, err := e.anchor.Ask("SELECT version()", "TSVRaw")
	if err != nil {
		e.disconnect()
		return fmt.Errorf("ask the engine: %w", err)
	}
	e.version = strings.TrimSpace(string(version))
	return nil
}

// owns reports whether a database is one of those that statements may use.
func (e *Engine) owns(database string) bool {
	return slices.ContainsFunc(e.databases, func(name string) bool {
		prefix, many := strings.CutSuffix(name, "*")
		return name == database || many && strings.HasPrefix(database, prefix)
	})
}

// Alive runs a statement beside all that are under way, however many they are, and is nil when
// it has an answer.
func (e *Engine) Alive() error {
	return e.stopper.ask("SELECT 1")
}

// Pool has the connections of the daemon and of the folder's owner.
func (e *Engine) Pool() *Pool { return e.pool }

// Databases are those that statements may use, see Options.
func (e *Engine) Databases() []string { return e.databases }

// Path is the data folder, absolute.
func (e *Engine) Path() string { return e.path }

// Version is the engine's ClickHouse version.
func (e *Engine) Version() string { return e.version }

// Close waits for the statements under way, closes the connections and lets go of the
// folder, in that order.
func (e *Engine) Close() error {
	e.disconnect()
	e.log.Info("embedded engine closed", "path", e.path)
	return e.folder.Close()
}

func (e *Engine) disconnect() {
	e.stop()
	e.watching.Wait()
	e.pool.close()
	e.stopper.close() // with the anchor
}
