package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/status"
)

// heldRows is how many live rows the warehouse holds of each restaurant's streams. Counting them
// reads a column of every row, so nobody who looks at a status waits for it: they are counted when
// something was written, of the streams that were written to, and never for more than a hundredth of
// the time.
type heldRows struct {
	mu    sync.Mutex
	rows  map[string]map[string]uint64 // by restaurant and stream
	at    time.Time                    // of the last count; zero: none yet
	shown bool                         // a status was asked for: see looked
}

const (
	heldPause  = 3 * time.Second // at least so long between two counts
	heldUnseen = time.Minute     // and so long while nobody looks: at first a quarter of the time since the start
	heldShare  = 100             // and at least so many times as long as the last one took
	heldStale  = time.Hour       // other processes may write too
)

// run counts until ctx ends, when something was written since the last time, and once more after
// that: what is written is in the warehouse a moment later.
func (h *heldRows) run(ctx context.Context, log *slog.Logger, count func(ctx context.Context, streams []string, businesses ...string) ([]clickhouse.Count, error), written func() (businesses []string, rows map[string]uint64)) {
	var counted, before map[string]uint64 // rows written by stream when the last two counts began
	var checked, whole time.Time          // whether something was written; all streams counted
	start := time.Now()
	for wait := time.Duration(0); lifecycle.Pause(ctx, wait); {
		wait = heldPause
		began := time.Now()
		if !h.looked() && began.Sub(checked) < min(heldUnseen, began.Sub(start)/4) {
			continue
		}
		businesses, now := written()
		if len(businesses) == 0 {
			continue
		}
		checked = began
		streams := slices.DeleteFunc(slices.Sorted(maps.Keys(now)), func(s string) bool { return now[s] == counted[s] && now[s] == before[s] })
		all := slices.ContainsFunc(businesses, func(b string) bool { return h.rows[b] == nil }) || began.Sub(whole) >= heldStale
		if all {
			streams = config.Streams
		}
		if len(streams) == 0 {
			continue
		}
		counts, err := count(ctx, streams, businesses...)
		wait = max(heldPause, heldShare*time.Since(began))
		if err != nil {
			log.Debug("count the rows held", "error", err) // the page says so when the warehouse is unreachable
			continue
		}
		counted, before = now, counted
		if all {
			whole = began
		}
		h.take(businesses, streams, counts)
	}
}

// looked reports whether a status was asked for since it was called last.
func (h *heldRows) looked() (shown bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	shown, h.shown = h.shown, false
	return shown
}

// take replaces the counts of some streams.
func (h *heldRows) take(businesses, streams []string, counts []clickhouse.Count) {
	rows := make(map[string]map[string]uint64, len(businesses))
	for _, b := range businesses {
		rows[b] = map[string]uint64{}
		maps.Copy(rows[b], h.rows[b])
		for _, s := range streams {
			delete(rows[b], s)
		}
	}
	for _, c := range counts {
		rows[c.Business][c.Stream] = c.Rows
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows, h.at = rows, time.Now()
}

// fill puts the rows into a status. What was not counted yet stays unknown.
func (h *heldRows) fill(s *status.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.CountedAt, h.shown = h.at, true
	for i := range s.Sources {
		rows, counted := h.rows[s.Sources[i].BusinessID]
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; counted && st.State != status.StateOff { // else they are another source's
				st.Rows = new(rows[st.Name])
			}
		}
	}
}
