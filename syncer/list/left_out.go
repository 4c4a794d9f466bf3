package list

import (
	"context"
	"fmt"
	"sync"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// leftOut reports which rows of a page are not stored, by their places, where the configuration names
// locations: those of other ones, and tombstones of rows that are not stored. A tombstone does not say
// its location. It is nil where the configuration names none.
//
// A row on its way to the warehouse is waited for, so that its tombstone stays. One that another walk
// has on a page in memory comes again: its tombstone is newer, and a walk begins two minutes before
// what it has seen.
func (st *List) leftOut(ctx context.Context, p Page) ([]bool, error) {
	if len(st.Source.OnlyLocations) == 0 {
		return nil, nil
	}
	left, tombstones := make([]bool, len(p.Rows)), map[string][]int{} // places by id
	for i, raw := range p.Rows {
		var row struct {
			ID      string `json:"id"`
			Deleted bool   `json:"deleted"`
		}
		switch {
		case mapping.Unmarshal(raw, &row) != nil: // it goes to quarantine
		case row.Deleted && row.ID != "" && !st.Writer.MaybeQuarantined(row.ID): // else it goes there, or closes the entry
			tombstones[row.ID] = append(tombstones[row.ID], i)
		default:
			left[i] = st.Source.LeavesOut(raw)
		}
	}
	var ids []string
	for id := range tombstones {
		ids = append(ids, id)
		if err := st.handed.await(ctx, id); err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		return left, nil
	}
	stored, err := sinks.RowsByID(ctx, st.Source.Sink, st.Def.Name, st.Source.Business(), ids)
	if err != nil {
		return nil, fmt.Errorf("read the rows of tombstones: %w", err)
	}
	for id, places := range tombstones {
		for _, i := range places {
			left[i] = stored[id] == nil
		}
	}
	return left, nil
}

// handed are the receipts of live rows on their way to the warehouse, by id.
type handed struct{ sync.Map }

// add notes rows that have been handed to the sink, and drops those that are durable.
func (h *handed) add(ids []string, receipt *sinks.Receipt) {
	for _, id := range ids {
		h.Store(id, receipt)
	}
	h.Range(func(id, r any) bool {
		select {
		case <-r.(*sinks.Receipt).Done():
			h.CompareAndDelete(id, r)
		default:
		}
		return true
	})
}

// await waits for a row that is on its way. What the sink refuses is not stored, and no error.
func (h *handed) await(ctx context.Context, id string) error {
	if r, ok := h.Load(id); ok {
		if err := r.(*sinks.Receipt).Wait(ctx); ctx.Err() != nil {
			return fmt.Errorf("wait for the warehouse: %w", err)
		}
	}
	return nil
}
