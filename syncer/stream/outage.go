package stream

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// Outage is a stretch of time in which something fails, which is logged once when it begins and
// once when it ends. The zero Outage is none.
//
// An outage of hours fails at every probe and at every turn of every stream, and a log
// full of it hides everything else. So what a source's outage explains is not logged for its
// streams, and what the warehouse's outage explains is logged by the sink.
type Outage struct {
	Since time.Time // zero while nothing fails
	State string    // the one that was logged; empty while none was
}

// Lasted is how long it has lasted, for the log.
func (o Outage) Lasted() time.Duration { return time.Since(o.Since).Round(time.Millisecond) }

// News notes that the failure goes on in a state. It is true when that is to be logged, if it may be.
func (o *Outage) News(state string, may bool) bool {
	if o.Since.IsZero() {
		o.Since = time.Now()
	}
	if !may || o.State == state {
		return false
	}
	o.State = state
	return true
}

// outages are the outages of the streams of a source.
type outages struct {
	mu       sync.Mutex
	byStream map[string]Outage
}

// begin notes that a stream fails in a state, and reports whether that is to be logged if it may be.
func (all *outages) begin(stream, state string, may bool) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	o := all.byStream[stream]
	for _, other := range all.byStream {
		may = may && (state != status.StateUnreachable || other.State != state) // one service: one line
	}
	tell := o.News(state, may)
	if all.byStream == nil {
		all.byStream = map[string]Outage{}
	}
	all.byStream[stream] = o
	return tell
}

// end ends the outage of a stream, and returns it.
func (all *outages) end(stream string) Outage {
	all.mu.Lock()
	defer all.mu.Unlock()
	o := all.byStream[stream]
	delete(all.byStream, stream)
	return o
}

// LevelOf is how loud a failure is: what was logged of the source, or by the sink of the
// warehouse, explains it.
func (o *Source) LevelOf(err error) slog.Level {
	if errors.Is(err, sinks.ErrUnreachable) || !o.IsReady() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}
