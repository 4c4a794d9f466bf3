package server

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/memory"
)

// MirrorOptions say what readers are served from.
type MirrorOptions struct {
	Engine     embedded.MirrorOptions
	Socket     string // where to listen, see Serve
	ReaderZone string // see Options

	// Stuck is called when a statement does not stop: the process has to end.
	Stuck func()
}

// ErrStale is why ServeMirror ends when its tables are not the writer's any more.
var ErrStale = errors.New("parts of the tables were removed")

// ServeMirror opens a mirror and serves it on a Unix socket that only this user can
// open, until ctx ends. What its readers may do is held by the kernel and by the engine:
// it looks at no statement. ready is called once it answers.
func ServeMirror(ctx context.Context, o MirrorOptions, ready func()) error {
	engine, err := embedded.OpenMirror(ctx, o.Engine)
	if err != nil {
		return err
	}
	limit, err := memory.Of(o.Engine.Memory)
	if err != nil {
		return errors.Join(err, engine.Close())
	}
	s := &Server{engine: engine, log: o.Engine.Logger, zone: o.ReaderZone, patience: readerPatience, unpacking: make(chan struct{}, maxUnpacking), stuck: o.Stuck}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.learnSettings(ctx); err != nil {
		return errors.Join(err, engine.Close())
	}
	s.readers = engine.NewPool(embedded.PoolOptions{
		Who: "readers", Settings: mirrorSettings(o, limit), Places: inbound.PerFiles(readerPlaces, 32), Marked: true, Grace: readersGrace,
	})
	s.stopped, s.stop = context.WithCancel(ctx)
	listener, err := listenSocket(o.Socket)
	if err != nil {
		return errors.Join(embedded.Unwritable(o.Engine.Scratch, err), engine.Close())
	}
	s.serve(listener, s.ours(&handler{server: s, rights: mirrored}))
	ready()
	return errors.Join(s.untilStale(ctx), s.Close())
}

// mirrorSettings are those of a reader's connection: what is right for natural SQL, and
// how much one statement may take.
func mirrorSettings(o MirrorOptions, limit memory.Limit) map[string]string {
	all := map[string]string{
		"max_memory_usage":            strconv.FormatInt(int64(limit)/2, 10),
		"max_execution_time":          strconv.Itoa(int(readerTime.Seconds())),
		"max_result_bytes":            "0",
		"join_use_nulls":              "1",
		"prefer_column_name_to_alias": "1",
		"union_default_mode":          "DISTINCT",
	}
	if o.ReaderZone != "" {
		all["session_timezone"] = o.ReaderZone
	}
	return all
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

// untilStale returns when ctx ends, or when parts of the tables have vanished.
func (s *Server) untilStale(ctx context.Context) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		path, err := s.engine.Vanished(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("reader: look for parts that were removed", "error", err)
		}
		if path != "" {
			return ErrStale
		}
	}
}

// mirror makes a request one of a mirror's. The engine refuses what is not reading; who
// asks for a stricter readonly gets it.
func (s *Server) mirror(q *request) {
	if q.settings["readonly"] != "1" {
		q.settings["readonly"] = "2"
	}
	if q.database == "default" {
		q.database = s.engine.Databases()[0]
	}
}

// stopGrace is how long a statement may take to stop once nobody waits for it any more.
const stopGrace = 5 * time.Second

// ended bounds the time of a statement of a mirror, and ends the process when it does not
// stop. Call end when it has.
func (s *Server) ended(ctx context.Context) (bounded context.Context, end context.CancelFunc) {
	bounded, cancel := context.WithTimeoutCause(ctx, readerTime, errReaderTime)
	done := make(chan struct{})
	stop := context.AfterFunc(bounded, func() {
		select {
		case <-done:
		case <-time.After(stopGrace):
			s.stuck()
		}
	})
	return bounded, func() {
		stop()
		close(done)
		cancel()
	}
}
