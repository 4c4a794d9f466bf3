package list

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
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

// sent is a row that the service has sent by itself.
type sent struct {
	list    *List
	raw     []byte
	id      string
	updated time.Time
}

// ErrNotFollowed means that a row is not taken.
var ErrNotFollowed = errors.New("the stream is off, or its source is not served yet")

// Deliver takes a row that the service sent by itself, and returns when it is durable. It
// moves no checkpoint: what was not sent, or was lost, the walks bring. The location may be
// one that /me did not list yet.
func (st *List) Deliver(ctx context.Context, raw []byte) (what Delivered, err error) {
	if st.Off() || st.Source.Business() == "" {
		return 0, ErrNotFollowed
	}
	var row struct {
		ID        string `json:"id"`
		UpdatedAt string `json:"updated_at"`
	}
	if mapping.Unmarshal(raw, &row) == nil && st.Source.LeavesOut(raw) { // what is not JSON goes to quarantine
		return DeliveredLeftOut, nil
	}
	s := sent{st, raw, row.ID, mapping.Instant(row.UpdatedAt)}
	var receipt *sinks.Receipt
	// One after the other: what is sent twice at once may come in any order, and each has to see
	// what the other has queued. None waits for the warehouse meanwhile: the next would have to
	// wait for a flush of its own.
	err = st.delivering.Run(ctx, func(ctx context.Context) (err error) {
		if what, err = s.compare(ctx); err == nil && what == DeliveredStored {
			what, receipt, err = s.queue(ctx)
		}
		if err == nil && receipt == nil { // what is held may be on its way
			receipt, _ = st.Source.Commits.Last(st.Source.Name)
		}
		return err
	})
	if err != nil || receipt == nil {
		return what, err
	}
	if err := receipt.Wait(ctx); err != nil {
		return 0, fmt.Errorf("wait for the warehouse: %w", err)
	}
	return what, nil
}

// queue hands the row to the sink, unless it is held just like this; the receipt is nil then.
func (s sent) queue(ctx context.Context) (Delivered, *sinks.Receipt, error) {
	st := s.list
	stored, err := st.Forgotten.Storing(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer stored()
	in := st.Writer.Begin(st.Writer.NextWalk(), 1)
	in.All = true
	r := in.Row(st.Def.Plan.NewMapper(), st.Forgotten.Order(s.raw), st.Source.Versions.Take(1), st.Source.Moment().UTC(), write.RowContext{Columns: st.Def.Pushed})
	if in.Empty() {
		in.CountRows()
		return DeliveredSame, nil, nil
	}
	receipt, err := st.Writer.Write(ctx, in)
	if err != nil {
		return 0, nil, err
	}
	in.Remember()
	if r.Bad {
		return DeliveredBad, receipt, nil
	}
	return DeliveredStored, receipt, nil
}

// compare returns what became of the row when a newer state of it is stored, or just this one, and
// DeliveredStored else. The warehouse is queried about a row that is not remembered.
func (s sent) compare(ctx context.Context) (Delivered, error) {
	st := s.list
	if s.id == "" || s.updated.IsZero() {
		return DeliveredStored, nil // it goes to quarantine
	}
	if stamp, known := st.Writer.Remembers(s.id); known && stamp.After(s.updated) {
		return DeliveredOlder, nil
	} else if known {
		return DeliveredStored, nil // one that is the same is found when it is written
	}
	rows, err := sinks.RowsByID(ctx, st.Source.Sink, st.Def.Name, st.Source.Business(), []string{s.id})
	if err != nil {
		return 0, err
	}
	r, text := rows[s.id], ""
	switch {
	case r == nil, r.Removed:
	case bytes.Equal(r.Raw, st.Forgotten.Order(s.raw)):
		return DeliveredSame, nil
	case json.Unmarshal(r.Columns["updated_at"], &text) == nil && mapping.Instant(text).After(s.updated):
		return DeliveredOlder, nil
	}
	return DeliveredStored, nil
}
