package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/guard"
	"github.com/larder-sync/larder/sinks/embedded/memory"
)

// Options say which engine to open and serve.
type Options struct {
	Engine embedded.Options

	// ReaderZone is the session's time zone of readers, in which today() and texts
	// without a zone are understood; empty is UTC. A reader may name another one.
	ReaderZone string
}

// Server is an engine that can be asked.
type Server struct {
	engine   *embedded.Engine
	log      *slog.Logger
	zone     string          // the time zone of readers' sessions, see Options
	settings map[string]bool // that the engine knows
	guard    *guard.Guard    // of readers' statements

	readers  *embedded.Pool
	patience time.Duration      // of readers: for a place, and of all who borrow memory
	loans    *memory.Loans      // the memory of readers
	owner    *memory.OwnerLoans // that of commands beside the daemon

	unpacking chan struct{} // one for each compressed body of a reader that is being unpacked
	outlets   atomic.Uint64 // how many there were
	asking    stops         // statements of readers, see watchMemory
	listeners listeners
	watching  sync.WaitGroup // watchMemory
	stuck     func()         // see MirrorOptions
	stop      context.CancelFunc
	stopped   context.Context
	closing   sync.Once
	closeErr  error
}

// Open opens an engine and serves it: in the process (Dial) at once, and on the folder's
// socket (see DialHeld). ListenTCP adds the read-only way in. Its errors are those of
// embedded.Open.
func Open(ctx context.Context, o Options) (*Server, error) {
	engine, err := embedded.Open(ctx, o.Engine)
	if err != nil {
		return nil, err
	}
	s, err := start(ctx, engine, o)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return s, nil
}

func start(ctx context.Context, engine *embedded.Engine, o Options) (*Server, error) {
	limit, err := memory.Of(o.Engine.Memory)
	if err != nil {
		return nil, err
	}
	s := &Server{
		engine: engine, log: o.Engine.Logger, zone: o.ReaderZone,
		patience: readerPatience, unpacking: make(chan struct{}, maxUnpacking),
	}
	places := inbound.PerFiles(readerPlaces, 32)
	s.loans, s.owner = memory.Shares(limit)
	s.loans.SharedBy(places)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := removeOutlets(engine.Path()); err != nil {
		return nil, fmt.Errorf("remove what a process before this one has left: %w", err)
	}
	if err := s.learn(ctx, limit); err != nil {
		return nil, fmt.Errorf("ask the engine: %w", err)
	}
	s.readers = engine.NewPool(embedded.PoolOptions{
		Who: "readers", Settings: readerSettings(o, limit), Places: places, Marked: true, Grace: readersGrace,
	})
	s.stopped, s.stop = context.WithCancel(context.Background())
	if err := s.listenInside(); err != nil {
		return nil, errors.Join(err, s.quiet())
	}
	s.watching.Go(func() {
		lifecycle.Loop(s.stopped, s.log, "the watch of the memory", func(context.Context) { s.watchMemory(limit) })
	})
	return s, nil
}

// learn asks the engine what it knows.
func (s *Server) learn(ctx context.Context, limit memory.Limit) error {
	k := guard.Known{Databases: s.engine.Databases(), ReaderZone: s.zone, Memory: int64(limit)}
	err := s.engine.Pool().Use(ctx, embedded.Session{Database: "default"}, func(c *embedded.Conn) error {
		for sql, put := range map[string]*[]string{
			"SELECT name FROM system.settings":                         &k.Settings,
			"SELECT name FROM system.functions":                        &k.Functions,
			"SELECT name FROM system.table_functions":                  &k.TableFunctions,
			"SELECT name FROM system.data_type_families":               &k.Types,
			"SELECT name FROM system.formats":                          &k.Formats,
			"SELECT time_zone FROM system.time_zones":                  &k.Zones,
			"SELECT name FROM system.tables WHERE database = 'system'": &k.SystemTables,
		} {
			out, err := c.Ask(sql, "TSVRaw")
			if err != nil {
				return err
			}
			*put = strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.settings = map[string]bool{}
	for _, name := range k.Settings {
		s.settings[name] = true
	}
	s.guard = guard.New(k)
	return nil
}

// Engine is what is served.
func (s *Server) Engine() *embedded.Engine { return s.engine }

// Path is the data folder, absolute.
func (s *Server) Path() string { return s.engine.Path() }

// readersGrace is how long Close waits for statements of readers that it has stopped:
// some look at nothing while they run.
const readersGrace = 2 * time.Second

// quiet ends the listeners, and tells all statements to stop.
func (s *Server) quiet() error {
	if s.engine.Health() != nil {
		s.listeners.socket = "" // what is in its place is another process's
	}
	err := s.listeners.close()
	s.stop()
	s.watching.Wait()
	return err
}

// Close ends the listeners, stops the queries under way and closes the engine, in that
// order. A reader's query that does not stop is not waited for, see Engine.Close. Close
// may be called more than once.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closeErr = errors.Join(s.quiet(), s.engine.Close()) })
	return s.closeErr
}
