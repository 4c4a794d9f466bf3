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

// heldRows is how many live rows the warehouse holds of each restaurant's streams. Counting them
// reads a column of every row, so nobody who looks at a status waits for it: they are counted when
// something was written, and never for more than a hundredth of the time.
type heldRows struct {
	mu   sync.Mutex
	rows map[string]map[string]uint64 // by restaurant and stream
	at   time.Time                    // of the last count; zero: none yet
}

const (
	heldPause = 3 * time.Second // at least so long between two counts
	heldShare = 100             // and at least so many times as long as the last one took
	heldStale = time.Hour       // other processes may write too
)

// run counts until ctx ends, when something was written since the last time, and once more after
// that: what is written is in the warehouse a moment later.
func (h *heldRows) run(ctx context.Context, log *slog.Logger, count func(ctx context.Context, businesses ...string) ([]clickhouse.Count, error), now func() status.Status) {
	var counted, before uint64 // rows written when the last two counts began
	for wait := time.Duration(0); lifecycle.Pause(ctx, wait); {
		wait = heldPause
		s, began := now(), time.Now()
		rows, written, isNew := map[string]map[string]uint64{}, uint64(0), false
		for i := range s.Sources {
			src := &s.Sources[i]
			if src.BusinessID == "" {
				continue
			}
			rows[src.BusinessID] = map[string]uint64{}
			isNew = isNew || h.rows[src.BusinessID] == nil
			for j := range src.Streams {
				written += src.Streams[j].Written
			}
		}
		if len(rows) == 0 || !isNew && written == counted && written == before && began.Sub(h.at) < heldStale {
			continue
		}
		counts, err := count(ctx, slices.Sorted(maps.Keys(rows))...)
		wait = max(heldPause, heldShare*time.Since(began))
		if err != nil {
			log.Debug("count the rows held", "error", err) // the page says so when the warehouse is unreachable
			continue
		}
		for _, c := range counts {
			rows[c.Business][c.Stream] = c.Rows
		}
		counted, before = written, counted
		h.mu.Lock()
		h.rows, h.at = rows, time.Now()
		h.mu.Unlock()
	}
}

// fill puts the rows into a status. What was not counted yet stays unknown.
func (h *heldRows) fill(s *status.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.CountedAt = h.at
	for i := range s.Sources {
		rows, counted := h.rows[s.Sources[i].BusinessID]
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; counted && st.State != status.StateOff { // else they are another source's
				st.Rows = new(rows[st.Name])
			}
		}
	}
}
