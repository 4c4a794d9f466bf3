package list

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// Delivered is what became of a row that the service sent by itself.
type Delivered int

// What became of it.
const (
	DeliveredStored  Delivered = iota
	DeliveredSame              // it is stored just like this
	DeliveredOlder             // a newer state of it is stored
	DeliveredLeftOut           // the configuration leaves its location out
	DeliveredBad               // it is in quarantine
)

// Errors of a row that is not taken.
var (
	ErrNotFollowed = errors.New("the stream is off, or its source is not served yet")
	ErrForeignRow  = errors.New("the row is of a location that the key does not have")
)

// Deliver takes a row that the service sent by itself, and returns when it is durable. It
// moves no checkpoint: what was not sent, or was lost, the walks bring.
func (st *List) Deliver(ctx context.Context, raw []byte) (Delivered, error) {
	if st.Off() || st.Source.Business() == "" {
		return 0, ErrNotFollowed
	}
	var row struct {
		ID         string `json:"id"`
		LocationID string `json:"location_id"`
		UpdatedAt  string `json:"updated_at"`
	}
	if mapping.Unmarshal(raw, &row) == nil { // else the mapping says what is wrong
		switch {
		case st.elsewhere(raw):
			return DeliveredLeftOut, nil
		case row.LocationID != "" && !slices.Contains(st.Source.Identity().Locations, row.LocationID):
			return 0, ErrForeignRow
		}
		release, err := st.delivering.take(ctx, row.ID)
		if err != nil {
			return 0, err
		}
		defer release()
		older, err := st.holdsNewer(ctx, row.ID, mapping.Instant(row.UpdatedAt))
		if err != nil {
			return 0, err
		}
		if older {
			return DeliveredOlder, nil
		}
	}
	return st.storeDelivered(ctx, raw)
}

// rowLocks keep two deliveries of one row apart: what is sent twice at once may come in any
// order, and each has to see what the other has stored.
type rowLocks struct {
	mu   sync.Mutex
	held map[string]*rowLock
}

type rowLock struct {
	slot  stream.Slot
	users int
}

// take waits for the row; the caller releases it.
func (l *rowLocks) take(ctx context.Context, id string) (release func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*rowLock{}
	}
	row := l.held[id]
	if row == nil {
		row = &rowLock{slot: stream.NewSlot()}
		l.held[id] = row
	}
	row.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if row.users--; row.users == 0 {
			delete(l.held, id)
		}
	}
	if err := row.slot.Take(ctx); err != nil {
		leave()
		return nil, err
	}
	return func() { row.slot.Release(); leave() }, nil
}

func (st *List) storeDelivered(ctx context.Context, raw []byte) (Delivered, error) {
	defer st.Forgotten.Storing()()
	in := st.Writer.Begin(st.Writer.NextWalk(), 1)
	in.All = true
	r := in.Row(st.Def.Plan.NewMapper(), st.Forgotten.Order(raw), st.Source.Versions.Take(1), st.Source.Moment().UTC(), write.RowContext{Columns: st.Def.Pushed})
	if in.Empty() {
		in.CountRows()
		return DeliveredSame, nil
	}
	if err := st.Writer.Store(ctx, in); err != nil {
		return 0, err
	}
	if r.Bad {
		return DeliveredBad, nil
	}
	return DeliveredStored, nil
}

// holdsNewer is true when a newer state of a row is stored. What was written since the start
// of the last incremental walk is remembered; the warehouse is asked about anything else.
func (st *List) holdsNewer(ctx context.Context, id string, updated time.Time) (bool, error) {
	if id == "" || updated.IsZero() {
		return false, nil // it goes to quarantine
	}
	if stamp, known := st.Writer.Remembers(id); known {
		return stamp.After(updated), nil
	}
	if st.remembersSince(updated) {
		return false, nil
	}
	rows, err := st.Source.Sink.Rows(ctx, st.Def.Name, st.Source.Business(), []string{id})
	if err != nil {
		return false, fmt.Errorf("read the stored row: %w", err)
	}
	return slices.ContainsFunc(rows, func(r sinks.StoredRow) bool {
		var text string
		return !r.Removed && json.Unmarshal(r.Columns["updated_at"], &text) == nil && mapping.Instant(text).After(updated)
	}), nil
}

// remembersSince is true when all that was written of rows that changed at an instant is
// remembered: an incremental walk of this process has been there.
func (st *List) remembersSince(at time.Time) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, t := range st.walks {
		if t.lastWalk == 0 || !t.floor().Before(at) {
			return false
		}
	}
	return len(st.walks) > 0 && !st.Writer.ForgetsRows()
}
