package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/embedded/damage"
	"github.com/larder-sync/larder/sinks/embedded/memory"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// Engine is a ClickHouse that runs inside this process, on one data folder.
type Engine struct {
	path    string
	log     *slog.Logger
	lib     *native
	lock    *os.File
	folder  *Folder
	anchor  *conn    // keeps the engine up
	stopper *stopper // of queries, by the anchor
	version string

	args      []string          // of every connection
	settings  map[string]string // likewise
	databases []string          // that statements may use, see Options

	pool    *Pool // of the daemon and the folder's owner
	poolsMu sync.Mutex
	pools   []*Pool // beside it

	writes   *damage.Writes
	parts    *damage.Parts
	watching sync.WaitGroup // watchDisk
	stop     context.CancelFunc
	stopped  context.Context
	closing  sync.Once
	closeErr error
}

// process is what there can be one of: the library, and the engine in it.
var process struct {
	sync.Mutex
	lib  *native
	open *Engine
}

// ErrOpen is returned by Open while this process has an engine open: there can
// be one at a time.
var ErrOpen = errors.New("this process has an embedded engine open already")

// Open starts the engine on a data folder, which it creates if need be. Errors:
// ErrEngineMissing, ErrUnwritable, ErrHeld (a *HeldError), ErrOpen; each says
// what to do.
func Open(ctx context.Context, o Options) (*Engine, error) {
	process.Lock()
	defer process.Unlock()
	if process.open != nil {
		return nil, fmt.Errorf("%w, on %s: close it before opening %s", ErrOpen, process.open.path, o.Path)
	}
	limit, err := memory.Of(o.Memory)
	if err != nil {
		return nil, err
	}
	if err := loadLibrary(); err != nil {
		return nil, err
	}
	path, err := PrepareFolder(o.Path)
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	e, err := start(ctx, path, lock, o, limit)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	process.open = e
	return e, nil
}

func loadLibrary() error {
	if process.lib != nil {
		return nil
	}
	path, err := FindLibrary()
	if err != nil {
		return err
	}
	lib, err := loadNative(path)
	if err != nil {
		return err
	}
	process.lib = lib
	return nil
}

func start(ctx context.Context, path string, lock *os.File, o Options, limit memory.Limit) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder, err := newFolder(path, lock)
	if err != nil {
		return nil, err
	}
	e := &Engine{path: path, log: o.Logger, lib: process.lib, lock: lock, folder: folder, databases: o.databases(), settings: o.settings(limit)}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	config, err := o.writeConfig(path, limit)
	if err != nil {
		return nil, err
	}
	if err := e.keepPrivate(); err != nil {
		return nil, err
	}
	e.args = []string{"clickhouse", "--path=" + path, "--config-file=" + config}
	if err := e.boot(); err != nil {
		return nil, err
	}
	e.stopper = &stopper{conn: e.anchor, log: e.log}
	e.pool = e.newPool(PoolOptions{Places: maxConns})
	e.stopped, e.stop = context.WithCancel(context.Background())
	if err := errors.Join(e.learn(o.Settings), e.survey()); err != nil {
		e.quiet()
		e.disconnect()
		return nil, err
	}
	e.watching.Go(func() { lifecycle.Loop(e.stopped, e.log, "the watch of the disk", e.watchDisk) })
	e.log.Info("embedded engine open", "path", path, "version", e.version)
	return e, nil
}

// boot opens the first connection, which starts the engine.
func (e *Engine) boot() error {
	args := slices.Concat(e.args, settingArgs(e.settings))
	e.lib.signals(0) // a crash of the engine ends its process
	var err error
	if e.anchor, err = openConn(e.lib, args); err != nil {
		return fmt.Errorf("start the engine on %s: %w; a line of its own on standard error that begins with \"Code:\" has the reason. "+
			"The folder is as it was: keep it, whatever the reason", e.path, err)
	}
	return nil
}

// learn asks the engine for its version, and whether it knows these settings: it would
// ignore others without a word.
func (e *Engine) learn(settings map[string]string) error {
	version, _, err := e.anchor.query("SELECT version()", "TSVRaw")
	if err != nil {
		return fmt.Errorf("ask the engine: %w", err)
	}
	e.version = strings.TrimSpace(string(version))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		known, _, err := e.anchor.query("SELECT name FROM system.settings WHERE name = "+sqltext.QuoteString(name), "TSVRaw")
		if err != nil {
			return fmt.Errorf("ask the engine: %w", err)
		}
		if len(known) == 0 {
			return fmt.Errorf("open the embedded engine: it has no setting %q: correct the name", name)
		}
	}
	return nil
}

// owns is true when a database is one of those that statements may use.
func (e *Engine) owns(database string) bool {
	return slices.ContainsFunc(e.databases, func(name string) bool {
		prefix, many := strings.CutSuffix(name, "*")
		return name == database || many && strings.HasPrefix(database, prefix)
	})
}

// Alive runs a statement beside all that are under way, however many they are, and is nil when
// it has an answer.
func (e *Engine) Alive() error {
	if !e.pool.gate.enter() {
		return ErrClosed
	}
	defer e.pool.gate.leave()
	return e.anchor.exec("SELECT 1")
}

// Pool has the connections of the daemon and of the folder's owner.
func (e *Engine) Pool() *Pool { return e.pool }

// Databases are those that statements may use, see Options.
func (e *Engine) Databases() []string { return e.databases }

// Path is the data folder, absolute.
func (e *Engine) Path() string { return e.path }

// Version is the engine's ClickHouse version.
func (e *Engine) Version() string { return e.version }

// Close stops the queries under way, closes the connections and lets go of the folder,
// in that order. A statement that does not stop within the grace of its pool is not
// waited for: until it ends, the folder stays locked and no other engine can be opened.
// Close may be called more than once.
func (e *Engine) Close() error {
	e.closing.Do(func() { e.closeErr = e.shutDown() })
	return e.closeErr
}

// quiet ends the watching and the statements of the engine's own pool.
func (e *Engine) quiet() {
	e.stop()
	e.watching.Wait()
	e.pool.gate.close()
}

// others are the pools beside the engine's own.
func (e *Engine) others() []*Pool {
	e.poolsMu.Lock()
	defer e.poolsMu.Unlock()
	return slices.Clone(e.pools)
}

// disconnect closes all connections, when their statements have ended.
func (e *Engine) disconnect() {
	for _, p := range e.others() {
		p.gate.close()
		p.close()
	}
	e.pool.close()
	e.anchor.close()
}

func (e *Engine) shutDown() error {
	e.quiet()
	waiting := false
	for _, p := range e.others() {
		if !p.gate.closeWithin(p.o.Grace) {
			e.log.Warn("embedded engine: a statement does not stop; not waiting for it", "path", e.path, "of", p.o.Who, "waited", p.o.Grace)
			waiting = true
		}
	}
	if !waiting {
		return e.letGo()
	}
	// All that was acknowledged is on the disk, and the folder stays locked: the process
	// may end.
	go func() {
		if err := e.letGo(); err != nil {
			e.log.Error("embedded engine: close", "path", e.path, "error", err)
		}
	}()
	return nil
}

// letGo waits for the last statements, and lets go of the folder.
func (e *Engine) letGo() error {
	e.disconnect()
	var err error
	if e.lock != nil {
		err = e.lock.Close()
	}
	process.Lock()
	defer process.Unlock()
	if process.open == e {
		process.open = nil
	}
	e.log.Info("embedded engine closed", "path", e.path)
	return err
}
