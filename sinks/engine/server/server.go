package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/larder-sync/larder/sinks/engine"
)

// Server is an engine that can be asked, by ClickHouse's HTTP interface.
type Server struct {
	engine   *engine.Engine
	log      *slog.Logger
	settings map[string]bool // that the engine knows
	readers  *mirror         // nil: it is the writer, and everyone has full rights

	http    *http.Server
	socket  string // of the writer, in the data folder
	serving sync.WaitGroup
	stop    context.CancelFunc
	stopped context.Context
}

// Open opens an engine and serves it on the folder's socket (see DialHeld). Its errors are those
// of engine.Open.
func Open(ctx context.Context, o engine.Options) (*Server, error) {
	e, err := engine.Open(o)
	if err != nil {
		return nil, err
	}
	s, err := newServer(ctx, e, o.Logger)
	if err == nil {
		err = s.listen()
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return s, nil
}

func newServer(ctx context.Context, e *engine.Engine, log *slog.Logger) (*Server, error) {
	s := &Server{engine: e, log: log, settings: map[string]bool{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	err := e.Pool().Use(ctx, "system", nil, func(c *engine.Conn) error {
		out, err := c.Ask("SELECT name FROM system.settings", "TSVRaw")
		for name := range strings.Lines(string(out)) {
			s.settings[strings.TrimSuffix(name, "\n")] = true
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ask the engine: %w", err)
	}
	s.stopped, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Engine is what is served.
func (s *Server) Engine() *engine.Engine { return s.engine }

// Path is the data folder, absolute.
func (s *Server) Path() string { return s.engine.Path() }

// Close ends the listener, stops the queries under way and closes the engine, in that order.
func (s *Server) Close() error {
	err := s.endListener()
	s.stop()
	return errors.Join(err, s.engine.Close())
}
