package list

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// leftOut says which rows of a page are not stored, where the configuration names locations:
// those of other ones, and tombstones of rows that are not stored. A tombstone does not say its
// location.
type leftOut struct {
	rows []bool   // by place on the page; nil where the configuration names no locations
	live []string // ids of the live rows that are stored
}

// leftOut looks at a page. A row on its way to the warehouse is waited for, so that its tombstone
// stays. One that another walk has on a page in memory comes again: its tombstone is newer, and a
// walk begins two minutes before what it has seen.
func (st *List) leftOut(ctx context.Context, p Page) (left leftOut, err error) {
	configured := st.Source.OnlyLocations
	if len(configured) == 0 {
		return left, nil
	}
	left.rows = make([]bool, len(p.Rows))
	tombstones := map[string][]int{} // places by id
	for i, raw := range p.Rows {
		var row struct {
			ID         string `json:"id"`
			Deleted    bool   `json:"deleted"`
			LocationID string `json:"location_id"`
		}
		switch {
		case mapping.Unmarshal(raw, &row) != nil: // it goes to quarantine
		case row.Deleted && row.ID != "" && !st.Writer.MaybeQuarantined(row.ID): // else it goes there, or closes the entry
			tombstones[row.ID] = append(tombstones[row.ID], i)
		case row.LocationID != "" && !slices.Contains(configured, row.LocationID):
			left.rows[i] = true
		case !row.Deleted && row.ID != "":
			left.live = append(left.live, row.ID)
		}
	}
	if len(tombstones) == 0 {
		return left, nil
	}
	var ids []string
	for id := range tombstones {
		ids = append(ids, id)
		if err := st.handed.await(ctx, id); err != nil {
			return left, err
		}
	}
	stored, err := sinks.RowsByID(ctx, st.Source.Sink, st.Def.Name, st.Source.Business(), ids)
	if err != nil {
		return left, fmt.Errorf("read the rows of tombstones: %w", err)
	}
	for id, places := range tombstones {
		for _, i := range places {
			left.rows[i] = stored[id] == nil
		}
	}
	return left, nil
}

// handed are the receipts of live rows on their way to the warehouse, by id.
type handed struct {
	mu       sync.Mutex
	receipts map[string]*sinks.Receipt
}

// add notes rows that have been handed to the sink, and drops those that are durable.
func (h *handed) add(ids []string, r *sinks.Receipt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.receipts, func(_ string, r *sinks.Receipt) bool {
		select {
		case <-r.Done():
			return true
		default:
			return false
		}
	})
	if h.receipts == nil {
		h.receipts = map[string]*sinks.Receipt{}
	}
	for _, id := range ids {
		h.receipts[id] = r
	}
}

// await waits for a row that is on its way. What the sink refuses is not stored, and no error.
func (h *handed) await(ctx context.Context, id string) error {
	h.mu.Lock()
	r := h.receipts[id]
	h.mu.Unlock()
	if r == nil {
		return nil
	}
	select {
	case <-r.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
