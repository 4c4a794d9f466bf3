package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/status"
)

// heldRows knows how many live rows the warehouse holds of each restaurant's streams.
// Counting them reads a column of every row, so nobody who looks at a status waits for
// it, and it never takes more than a hundredth of the time.
type heldRows struct {
	mu     sync.Mutex
	counts []clickhouse.Count
	at     time.Time // of the count; zero: there is none yet
}

const (
	heldPause = 3 * time.Second // at least so long between two counts
	heldShare = 100             // and at least so many times as long as the last one took
	heldStale = time.Hour       // other processes may write too
)

// run counts until ctx ends, when something was written since the last time, and once more after
// that: what is written is in the warehouse a moment later.
func (h *heldRows) run(ctx context.Context, log *slog.Logger, sink *clickhouse.Sink, now func() status.Status) {
	var counted, before uint64 // rows written when the last two counts began
	for wait := time.Duration(0); lifecycle.Pause(ctx, wait); {
		wait = heldPause
		written := uint64(0)
		for _, src := range now().Sources {
			for i := range src.Streams {
				written += src.Streams[i].Written
			}
		}
		if !h.at.IsZero() && written == counted && counted == before && time.Since(h.at) < heldStale {
			continue
		}
		began := time.Now()
		counts, err := sink.Counts(ctx)
		wait = max(heldPause, heldShare*time.Since(began))
		if err != nil {
			log.Debug("count the rows held", "error", err) // the page says so when the warehouse is unreachable
			continue
		}
		counted, before = written, counted
		h.mu.Lock()
		h.counts, h.at = counts, time.Now()
		h.mu.Unlock()
	}
}

// fill puts the rows into a status.
func (h *heldRows) fill(s *status.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.CountedAt = h.at; h.at.IsZero() {
		return
	}
	type list struct{ business, stream string }
	rows := map[list]uint64{}
	for _, c := range h.counts {
		rows[list{c.Business, c.Stream}] = c.Rows
	}
	for i := range s.Sources {
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; st.State != status.StateOff { // else they are another source's
				st.Rows = new(rows[list{s.Sources[i].BusinessID, st.Name}])
			}
		}
	}
}
