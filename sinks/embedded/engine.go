package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/embedded/guard"
)

// Engine is a ClickHouse that runs inside this process, on one data folder.
type Engine struct {
	path    string
	log     *slog.Logger
	lib     *native
	lock    *os.File
	place   place
	folder  *folder
	anchor  *conn           // keeps the engine up, and stops queries; see stopQuery
	pool    *pool           // of the daemon and the folder's owner
	readers *pool           // of the read-only way in
	loans   *loans          // the memory of readers
	owner   *ownerLoans     // that of commands beside the daemon
	names   map[string]bool // of the settings the engine knows
	version string

	databases  []string     // that statements may use, see Options
	readerZone string       // the time zone of readers' sessions, see Options
	guard      *guard.Guard // of readers' statements

	unpacking chan struct{} // one for each compressed body of a reader that is being unpacked

	anchorMu sync.Mutex
	serial   atomic.Uint64
	damage   damage
	damages  damages
	watching sync.WaitGroup // watchDisk, watchMemory
	work     gate           // statements of the daemon and the folder's owner
	reads    gate           // of readers
	asking   stops          // likewise, see watchMemory
	ways     ways           // the listeners
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
// what to do. The returned engine serves in the process (Dial) at once and on
// the folder's socket (see DialHeld); ListenTCP adds the read-only way in.
func Open(ctx context.Context, o Options) (*Engine, error) {
	process.Lock()
	defer process.Unlock()
	if process.open != nil {
		return nil, fmt.Errorf("%w, on %s: close it before opening %s", ErrOpen, process.open.path, o.Path)
	}
	if err := o.checkMemory(); err != nil {
		return nil, err
	}
	if err := loadLibrary(o.memory()); err != nil {
		return nil, err
	}
	if err := Elsewhere(o.Path); err != nil {
		return nil, err
	}
	path, err := prepareFolder(o.Path)
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	place, err := lockPlace(o.Path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	e, err := start(ctx, process.lib, path, lock, o)
	if err != nil {
		place.leave()
		return nil, errors.Join(err, lock.Close())
	}
	e.place = place
	process.open = e
	return e, nil
}

func loadLibrary(memory int64) error {
	if process.lib != nil {
		return nil
	}
	path, err := FindLibrary()
	if err != nil {
		return err
	}
	lib, err := loadNative(path, memory)
	if err != nil {
		return err
	}
	process.lib = lib
	return nil
}

func start(ctx context.Context, lib *native, path string, lock *os.File, o Options) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder, err := newFolder(path, lock)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		path: path, log: o.Logger, lib: lib, lock: lock, folder: folder, databases: o.databases(), readerZone: o.ReaderZone,
		unpacking: make(chan struct{}, maxUnpacking),
	}
	e.loans, e.owner = o.shares()
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	config, err := o.writeConfig(path)
	if err != nil {
		return nil, err
	}
	if err := removeOutlets(path); err != nil {
		return nil, fmt.Errorf("remove what a process before this one has left: %w", err)
	}
	if err := e.confine(o); err != nil {
		return nil, err
	}
	engine := []string{"clickhouse", "--path=" + path, "--config-file=" + config}
	args := slices.Concat(engine, settingArgs(o.settings()))
	if err := e.boot(args); err != nil {
		return nil, err
	}
	e.damages = damages{file: filepath.Join(path, damageName), sound: map[part]time.Time{}}
	e.pool = newPool(lib, args, maxConns, 0)
	e.readers = newPool(lib, slices.Concat(engine, settingArgs(o.readerSettings())), inbound.PerFiles(readerPlaces, 32), readerPatience)
	e.readers.marks = true
	e.stopped, e.stop = context.WithCancel(context.Background())
	if err := errors.Join(e.learn(o), e.knows(o.Settings), e.trustDisk(), e.findDamages(e.anchor)); err != nil {
		return nil, errors.Join(err, e.end())
	}
	if err := e.listenInside(); err != nil {
		return nil, errors.Join(err, e.end())
	}
	e.watching.Go(e.watchDisk)
	e.watching.Go(func() { e.watchMemory(o.memory()) })
	e.log.Info("embedded engine open", "path", path, "version", e.version, "confined", lib.threads != nil)
	return e, nil
}

// confine keeps the engine's threads to the folder, where the options ask for it and
// the kernel can.
func (e *Engine) confine(o Options) error {
	if !o.Confined {
		return nil
	}
	threads, err := confine(e.path)
	if errors.Is(err, errNoLandlock) {
		e.log.Warn("embedded engine: not confined to its folder by the kernel", "reason", err)
		return nil
	}
	e.lib.threads = threads
	return err
}

// boot opens the first connection, which starts the engine.
func (e *Engine) boot(args []string) error {
	var err error
	kept := keepingSignals(func() {
		e.lib.signals(0)
		e.anchor, err = openConn(e.lib, args)
	})
	if kept != nil {
		return fmt.Errorf("start the engine: %w", kept)
	}
	if err != nil {
		return fmt.Errorf("start the engine on %s: %w: the folder may hold data of a newer engine, or be damaged, or a setting may be unknown", e.path, err)
	}
	return nil
}

// learn asks the engine what it is and what it knows.
func (e *Engine) learn(o Options) error {
	var version []string
	k := guard.Known{Databases: e.databases, ReaderZone: o.ReaderZone, Memory: o.memory()}
	for sql, put := range map[string]*[]string{
		"SELECT version()":                                         &version,
		"SELECT name FROM system.settings":                         &k.Settings,
		"SELECT name FROM system.functions":                        &k.Functions,
		"SELECT name FROM system.table_functions":                  &k.TableFunctions,
		"SELECT name FROM system.data_type_families":               &k.Types,
		"SELECT name FROM system.formats":                          &k.Formats,
		"SELECT time_zone FROM system.time_zones":                  &k.Zones,
		"SELECT name FROM system.tables WHERE database = 'system'": &k.SystemTables,
	} {
		out, _, err := e.anchor.query(sql, "TSVRaw")
		if err != nil {
			return fmt.Errorf("ask the engine: %w", err)
		}
		*put = strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	}
	e.version, e.names = version[0], map[string]bool{}
	for _, name := range k.Settings {
		e.names[name] = true
	}
	e.guard = guard.New(k)
	return nil
}

// knows refuses settings that the engine would ignore without a word.
func (e *Engine) knows(settings map[string]string) error {
	for name := range settings {
		if !e.names[name] {
			return fmt.Errorf("open the embedded engine: it has no setting %q: correct the name", name)
		}
	}
	return nil
}

// owns says whether a database is one of those that statements may use.
func (e *Engine) owns(database string) bool {
	return slices.ContainsFunc(e.databases, func(name string) bool {
		prefix, many := strings.CutSuffix(name, "*")
		return name == database || many && strings.HasPrefix(database, prefix)
	})
}

// Path is the data folder, absolute.
func (e *Engine) Path() string { return e.path }

// Version is the engine's ClickHouse version.
func (e *Engine) Version() string { return e.version }

// Close ends the listeners, stops the queries under way, closes the connections
// and lets go of the folder, in that order. A reader's query that does not stop is
// not waited for: until it ends, the folder stays locked and no other engine can be
// opened. Close may be called more than once.
func (e *Engine) Close() error {
	e.closing.Do(func() { e.closeErr = e.shutDown() })
	return e.closeErr
}

// readersGrace is how long Close waits for statements of readers that it has stopped:
// some look at nothing while they run.
const readersGrace = 2 * time.Second

// quiet ends the listeners and all statements, but for those of readers, which are
// told to stop.
func (e *Engine) quiet() error {
	if e.present() != nil {
		e.ways.socket = "" // what is in its place is another process's
	}
	err := e.ways.close()
	e.stop()
	e.watching.Wait()
	e.work.close()
	return err
}

// end takes down what start built up.
func (e *Engine) end() error {
	err := e.quiet()
	e.disconnect()
	return err
}

// disconnect closes all connections, those of readers when their statements have ended.
func (e *Engine) disconnect() {
	e.reads.close()
	e.pool.close()
	e.readers.close()
	e.anchor.close()
}

func (e *Engine) shutDown() error {
	err := e.quiet()
	if e.reads.closeWithin(readersGrace) {
		return errors.Join(err, e.letGo())
	}
	// All that was acknowledged is on the disk, and the folder stays locked: the process
	// may end.
	e.log.Warn("embedded engine: a reader's statement does not stop; not waiting for it", "path", e.path, "waited", readersGrace.String())
	go func() {
		if err := e.letGo(); err != nil {
			e.log.Error("embedded engine: close", "path", e.path, "error", err)
		}
	}()
	return err
}

// letGo waits for the last statements of readers, and lets go of the folder.
func (e *Engine) letGo() error {
	e.disconnect()
	e.place.leave() // before the lock: see Elsewhere
	err := e.lock.Close()
	process.Lock()
	defer process.Unlock()
	if process.open == e {
		process.open = nil
	}
	e.log.Info("embedded engine closed", "path", e.path)
	return err
}

// gate counts the statements under way and lets none in once it is closed.
type gate struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

func (g *gate) leave() { g.inside.Done() }

// close waits until all have left.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}

// closeWithin waits no longer than this, and says whether all have left.
func (g *gate) closeWithin(d time.Duration) bool {
	left := make(chan struct{})
	go func() { defer close(left); g.close() }()
	select {
	case <-left:
		return true
	case <-time.After(d):
		return false
	}
}
