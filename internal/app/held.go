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
// it. The rows of the restaurants of which something was written are counted, and never for
// more than a hundredth of the time.
type heldRows struct {
	mu    sync.Mutex
	known map[string]heldOf // by business
	at    time.Time         // of the newest count
}

// heldOf is what was last counted of a restaurant.
type heldOf struct {
	rows            map[string]uint64 // by stream
	counted, before uint64            // rows written when the last two counts began
	at              time.Time
}

const (
	heldPause = 3 * time.Second // at least so long between two counts
	heldShare = 100             // and at least so many times as long as the last one took
	heldStale = time.Hour       // other processes may write too
)

// run counts until ctx ends the rows of the restaurants of which something was written since the last
// time, and once more after that: what is written is in the warehouse a moment later.
func (h *heldRows) run(ctx context.Context, log *slog.Logger, count func(ctx context.Context, businesses ...string) ([]clickhouse.Count, error), now func() status.Status) {
	for wait := time.Duration(0); lifecycle.Pause(ctx, wait); {
		wait = heldPause
		written, due := writtenOf(now()), map[string]heldOf{}
		for business, n := range written {
			if k := h.known[business]; k.at.IsZero() || k.counted != n || k.before != n || time.Since(k.at) >= heldStale {
				due[business] = heldOf{rows: map[string]uint64{}, counted: n, before: k.counted, at: time.Now()}
			}
		}
		if len(due) == 0 {
			continue
		}
		began := time.Now()
		counts, err := count(ctx, slices.Sorted(maps.Keys(due))...)
		wait = max(heldPause, heldShare*time.Since(began))
		if err != nil {
			log.Debug("count the rows held", "error", err) // the page says so when the warehouse is unreachable
			continue
		}
		for _, c := range counts {
			due[c.Business].rows[c.Stream] = c.Rows
		}
		h.mu.Lock()
		maps.DeleteFunc(h.known, func(business string, _ heldOf) bool { _, served := written[business]; return !served })
		maps.Copy(h.known, due)
		h.at = time.Now()
		h.mu.Unlock()
	}
}

// writtenOf is how many rows this process has written of each restaurant that is known.
func writtenOf(s status.Status) map[string]uint64 {
	written := map[string]uint64{}
	for i := range s.Sources {
		if src := &s.Sources[i]; src.BusinessID != "" {
			for j := range src.Streams {
				written[src.BusinessID] += src.Streams[j].Written
			}
		}
	}
	return written
}

// fill puts the rows into a status. What was not counted yet stays unknown.
func (h *heldRows) fill(s *status.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.CountedAt = h.at
	for i := range s.Sources {
		k, counted := h.known[s.Sources[i].BusinessID]
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; counted && st.State != status.StateOff { // else they are another source's
				st.Rows = new(k.rows[st.Name])
			}
		}
	}
}
