package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/status"
)

// heldRows knows how many live rows the warehouse holds of each restaurant's streams.
// Counting them reads a column of every row, so nobody who looks at a status waits for
// it. The rows of the restaurants of which something was written are counted now and then,
// and never for more than a hundredth of the time.
type heldRows struct {
	count func(ctx context.Context, businesses ...string) ([]clickhouse.Count, error)
	log   *slog.Logger

	mu    sync.Mutex
	known map[string]*heldOf // by business
	at    time.Time          // of the newest count
}

// heldOf is what a restaurant's rows were when they were last counted.
type heldOf struct {
	rows    map[string]uint64 // by stream
	written uint64            // by this process, when counting began
	// settled: they were counted again after nothing more was written, since what is
	// written is in the warehouse a moment later.
	settled bool
	at      time.Time
}

const (
	heldLook  = 2 * time.Second // how often it is looked whether anything was written
	heldPause = 3 * time.Second // at least so long between two counts
	heldShare = 100             // and at least so many times as long as the last one took
	heldStale = time.Hour       // other processes may write too
)

func newHeldRows(sink *clickhouse.Sink, log *slog.Logger) *heldRows {
	return &heldRows{count: sink.Counts, log: log, known: map[string]*heldOf{}}
}

// run counts until ctx ends.
func (h *heldRows) run(ctx context.Context, status func() status.Status) {
	for wait := time.Duration(0); lifecycle.Pause(ctx, wait); {
		wait = heldLook
		if due, written := h.due(time.Now(), status()); len(due) > 0 {
			began := time.Now()
			h.recount(ctx, due, written)
			wait = max(heldPause, heldShare*time.Since(began))
		}
	}
}

// due are the restaurants to count, with what was written of each so far.
func (h *heldRows) due(now time.Time, s status.Status) (due []string, written map[string]uint64) {
	written = map[string]uint64{}
	for i := range s.Sources {
		if src := &s.Sources[i]; src.BusinessID != "" {
			for j := range src.Streams {
				written[src.BusinessID] += src.Streams[j].Written
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.known, func(business string, _ *heldOf) bool { _, served := written[business]; return !served })
	for business, n := range written {
		if k := h.known[business]; k == nil || k.written != n || !k.settled || now.Sub(k.at) > heldStale {
			due = append(due, business)
		}
	}
	slices.Sort(due)
	return due, written
}

func (h *heldRows) recount(ctx context.Context, due []string, written map[string]uint64) {
	counts, err := h.count(ctx, due...)
	if err != nil {
		if ctx.Err() == nil {
			h.log.Debug("count the rows held", "error", err) // the page says so when the warehouse is unreachable
		}
		return
	}
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = now
	for _, business := range due {
		before := h.known[business]
		h.known[business] = &heldOf{
			rows: map[string]uint64{}, written: written[business], at: now,
			settled: before != nil && before.written == written[business],
		}
	}
	for _, c := range counts {
		if k := h.known[c.Business]; k != nil {
			k.rows[c.Stream] = c.Rows
		}
	}
}

// fill puts the rows into a status.
func (h *heldRows) fill(s *status.Status) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.CountedAt = h.at
	for i := range s.Sources {
		k := h.known[s.Sources[i].BusinessID]
		if k == nil {
			continue
		}
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; st.State != status.StateOff { // else they are another source's
				st.Rows = new(k.rows[st.Name])
			}
		}
	}
}
