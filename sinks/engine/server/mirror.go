package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/exception"
)

// MirrorOptions say what readers are served from.
type MirrorOptions struct {
	Engine     *engine.MirrorOptions
	ReaderZone string // the session's time zone, in which today() and texts without a zone are understood; empty is UTC

	// End is called when the process has to end, with the reason. Stale is called once, when
	// another mirror should take the place of this one: its tables and views, or what was
	// removed of them, are not the writer's any more.
	End   func(why string)
	Stale func()
}

// What readers may have, all of them together.
const (
	readerPlaces   = 32               // statements at once, or a 32nd of the open files allowed: each takes ten
	readerPatience = 10 * time.Second // for a place
)

// readerTime is the longest that a reader's statement may take, the time in which
// its answer is read included. A reader may ask for less (max_execution_time).
const readerTime = 5 * time.Minute

// mirror is what a server has for readers.
type mirror struct {
	pool *engine.Pool
	zone string           // of their sessions
	end  func(why string) // see MirrorOptions
}

// ServeMirror opens a mirror and serves it until ctx or the process ends. What its readers may
// do is held by the kernel and by the engine: it looks at no statement. ready is called once
// it answers.
func ServeMirror(ctx context.Context, listener net.Listener, o MirrorOptions, ready func()) error {
	e, err := engine.OpenMirror(o.Engine)
	if err != nil {
		return err
	}
	limit, err := engine.MemoryLimitOf(o.Engine.Memory)
	if err != nil {
		return err
	}
	s, err := newServer(ctx, e, o.Engine.Logger)
	if err != nil {
		return err
	}
	settings := ReaderSettings(o.ReaderZone)
	settings["max_memory_usage"] = strconv.FormatInt(int64(limit)/2, 10)
	s.readers = &mirror{pool: e.Readers(settings, inbound.PerFiles(readerPlaces, 32), readerPatience), zone: o.ReaderZone, end: o.End}
	s.serve(listener)
	ready()
	s.watch(ctx, o)
	return nil
}

// mostWritten is what may be in the scratch folder: twice what the engine puts aside for
// statements. It counts no files that settings of theirs have it make.
const mostWritten = engine.TemporaryDisk / 2

// ReaderSettings are those of readers who ask for no others: what is right for natural SQL,
// what plans views fast (docs/benchmarks.md), and how long a statement may take. Texts without a zone are of this one, unless it is empty.
func ReaderSettings(zone string) map[string]string {
	all := map[string]string{
		"max_execution_time":          strconv.Itoa(int(readerTime.Seconds())),
		"join_use_nulls":              "1",
		"prefer_column_name_to_alias": "1",
		"union_default_mode":          "DISTINCT",
		// A CAST of what a JOIN has not found is NULL then, too, and no error: drivers ask so.
		"cast_keep_nullable": "1",
		"max_query_size":     strconv.Itoa(longestStatement), // values of parameters are part of it here
		// To find what follows from two comparisons, the engine goes through what names stand for
		// again at each of their uses: that took up to half of the time to plan a query of views.
		"optimize_and_compare_chain":          "0",
		"optimize_redundant_comparisons":      "0",
		"optimize_extract_common_expressions": "0",
		// The analysis has left out the columns that nobody asks for. Going through the plan for
		// more of them takes 3 ms of 45, and finds none that cost anything.
		"query_plan_remove_unused_columns": "0",
	}
	if zone != "" {
		all["session_timezone"] = zone
	}
	return all
}

// watch looks once a second whether the mirror is still one, and how much is in its scratch
// folder, until ctx ends.
func (s *Server) watch(ctx context.Context, o MirrorOptions) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for told := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		written, err := o.Engine.Written()
		if written > mostWritten {
			o.End(fmt.Sprintf("statements have written %d MB into its folder, which may hold %d", written>>20, mostWritten>>20))
		}
		changed, looked := o.Engine.Changed()
		vanished, unasked := s.engine.Vanished(ctx)
		if err = errors.Join(err, looked, unasked); err != nil && ctx.Err() == nil {
			s.log.Warn("reader: look whether tables have changed", "error", err)
		}
		if !told && (changed || vanished != "") {
			told = true
			o.Stale()
		}
	}
}

// readOnly makes a request one of a reader. The engine refuses what is not reading; who asks
// for a stricter readonly gets it.
func (s *Server) readOnly(q *request) {
	if q.settings["readonly"] != "1" {
		q.settings["readonly"] = "2"
	}
	if q.database == "default" {
		q.database = s.engine.Databases()[0]
	}
}

// onlyReads reports whether a request is a reader's: of a mirror, or by its setting. The setting
// alone lets INTO OUTFILE, KILL and SYSTEM through.
func (s *Server) onlyReads(q *request) bool {
	readonly := q.settings["readonly"]
	return s.readers != nil || readonly != "" && readonly != "0"
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
			s.readers.end("a statement did not stop")
		}
	})
	return bounded, func() {
		stop()
		close(done)
		cancel()
	}
}

// errReaderTime is why a statement of a reader is stopped.
var errReaderTime = errors.New("the time of a reader is over")

// inTime tells a statement that took too long from one that its client left.
func inTime(ctx context.Context, err error) error {
	if !errors.Is(context.Cause(ctx), errReaderTime) {
		return err
	}
	return exception.Refuse(exception.Timeout, "TIMEOUT_EXCEEDED", "Timeout exceeded: a statement over this interface may take %s, its answer included", readerTime)
}
