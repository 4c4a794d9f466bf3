package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/larder-sync/larder/sinks/embedded"
)

// Options say which engine to open and serve.
type Options struct {
	Engine embedded.Options
}

// Server is an engine that can be asked.
type Server struct {
	engine   *embedded.Engine
	log      *slog.Logger
	settings map[string]bool // that the engine knows

	readers *embedded.Pool   // nil: everyone has full rights
	zone    string           // the time zone of readers' sessions
	end     func(why string) // see MirrorOptions

	listeners listeners
	stop      context.CancelFunc
	stopped   context.Context
	closing   sync.Once
	closeErr  error
}

// Open opens an engine and serves it: in the process (Dial) at once, and on the folder's
// socket (see DialHeld). Its errors are those of embedded.Open.
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
	s := &Server{engine: engine, log: o.Engine.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.learnSettings(ctx); err != nil {
		return nil, fmt.Errorf("ask the engine: %w", err)
	}
	s.stopped, s.stop = context.WithCancel(context.Background())
	if err := s.listenInside(); err != nil {
		return nil, errors.Join(err, s.quiet())
	}
	return s, nil
}

// learnSettings asks the engine which settings it knows.
func (s *Server) learnSettings(ctx context.Context) error {
	return s.engine.Pool().Use(ctx, embedded.Session{Database: "system"}, func(c *embedded.Conn) error {
		out, err := c.Ask("SELECT name FROM system.settings", "TSVRaw")
		s.settings = map[string]bool{}
		for name := range strings.Lines(string(out)) {
			s.settings[strings.TrimSuffix(name, "\n")] = true
		}
		return err
	})
}

// Engine is what is served.
func (s *Server) Engine() *embedded.Engine { return s.engine }

// Path is the data folder, absolute.
func (s *Server) Path() string { return s.engine.Path() }

// quiet ends the listeners, and tells all statements to stop.
func (s *Server) quiet() error {
	if s.engine.Health() != nil {
		s.listeners.socket = "" // what is in its place is another process's
	}
	err := s.listeners.close()
	s.stop()
	return err
}

// Close ends the listeners, stops the queries under way and closes the engine, in that
// order. A reader's query that does not stop is not waited for, see Engine.Close. Close
// may be called more than once.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closeErr = errors.Join(s.quiet(), s.engine.Close()) })
	return s.closeErr
}
