package list

import (
	"context"
	"fmt"
	"slices"

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

func (l leftOut) has(i int) bool { return len(l.rows) > 0 && l.rows[i] }

func (l leftOut) any() bool { return slices.Contains(l.rows, true) }

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
		if r := st.onItsWay(id); r != nil {
			select {
			case <-r.Done(): // what the sink refused is not stored
			case <-ctx.Done():
				return left, context.Cause(ctx)
			}
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

// handOver notes the live rows of a page that has been handed to the sink, and forgets those
// that are durable.
func (st *List) handOver(left leftOut, r *sinks.Receipt) {
	if left.rows == nil {
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.handed == nil {
		st.handed = map[string]*sinks.Receipt{}
	}
	for id, is := range st.handed {
		select {
		case <-is.Done():
			delete(st.handed, id)
		default:
		}
	}
	for _, id := range left.live {
		st.handed[id] = r
	}
}

// onItsWay is the receipt of a row that was handed over, nil for none.
func (st *List) onItsWay(id string) *sinks.Receipt {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.handed[id]
}
