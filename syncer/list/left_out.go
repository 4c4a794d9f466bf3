package list

import (
	"context"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// leftOut reports which rows of a page are not stored, by their places, where the configuration names
// locations: those of other ones, and tombstones of rows that are not stored. A tombstone does not say
// its location. It is nil where the configuration names none.
//
// A row on its way to the warehouse is not stored yet. Its tombstone comes again, as an incremental walk
// begins two minutes before the last one; when a flush takes longer, the next full resync removes the row.
func (w *walk) leftOut(ctx context.Context, p page) ([]bool, error) {
	st := w.list
	if len(st.Source.OnlyLocations) == 0 {
		return nil, nil
	}
	left, tombstones, ids := make([]bool, len(p.Rows)), map[int]string{}, []string(nil) // ids by place
	for i, raw := range p.Rows {
		var row struct {
			ID      string `json:"id"`
			Deleted bool   `json:"deleted"`
		}
		switch {
		case mapping.Unmarshal(raw, &row) != nil: // it goes to quarantine
		case row.Deleted && row.ID != "" && !st.Writer.MaybeQuarantined(row.ID): // else it goes there, or closes the entry
			tombstones[i], ids = row.ID, append(ids, row.ID)
		default:
			left[i] = st.Source.LeavesOut(raw)
		}
	}
	stored, err := sinks.RowsByID(ctx, st.Source.Sink, st.Def.Name, st.Source.Business(), ids)
	if err != nil {
		return nil, err
	}
	for i, id := range tombstones {
		left[i] = stored[id] == nil
	}
	return left, nil
}
