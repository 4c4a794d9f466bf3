package list

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// Deliveries are the rows that the service sends by itself, outside of any walk.
type Deliveries struct {
	list       *List
	delivering rowLocks
}

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

// ErrNotFollowed means that a row is not taken.
var ErrNotFollowed = errors.New("the stream is off, or its source is not served yet")

// Deliver takes a row that the service sent by itself, and returns when it is durable. It
// moves no checkpoint: what was not sent, or was lost, the walks bring. The location may be
// one that /me did not list yet.
func (d *Deliveries) Deliver(ctx context.Context, raw []byte) (Delivered, error) {
	if d.list.Off() || d.list.Source.Business() == "" {
		return 0, ErrNotFollowed
	}
	var row struct {
		ID        string `json:"id"`
		UpdatedAt string `json:"updated_at"`
	}
	if mapping.Unmarshal(raw, &row) == nil && d.list.Full.elsewhere(raw) { // what is not JSON goes to quarantine
		return DeliveredLeftOut, nil
	}
	lock, err := d.delivering.take(ctx, row.ID)
	if err != nil {
		return 0, err
	}
	defer d.delivering.leave(lock)
	what, receipt, err := d.queueDelivered(ctx, lock, mapping.Instant(row.UpdatedAt), raw)
	lock.slot.Release()
	if err != nil || receipt == nil {
		return what, err
	}
	if err := receipt.Wait(ctx); err != nil {
		return 0, fmt.Errorf("wait for the warehouse: %w", err)
	}
	return what, nil
}

// rowLocks keep two deliveries of one row apart: what is sent twice at once may come in any
// order, and each has to see what the other has queued. None waits for the warehouse while it
// holds the row: the next would have to wait for a flush of its own.
type rowLocks struct {
	mu   sync.Mutex
	held map[string]*rowLock
}

type rowLock struct {
	id     string
	slot   stream.Slot
	users  int
	queued *sinks.Receipt // of the last delivery that was queued; nil for none
}

// take waits for the row. The caller releases its slot, and leaves it when what it has queued
// is durable.
func (l *rowLocks) take(ctx context.Context, id string) (*rowLock, error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*rowLock{}
	}
	row := l.held[id]
	if row == nil {
		row = &rowLock{id: id, slot: stream.NewSlot()}
		l.held[id] = row
	}
	row.users++
	l.mu.Unlock()
	if err := row.slot.Take(ctx); err != nil {
		l.leave(row)
		return nil, err
	}
	return row, nil
}

func (l *rowLocks) leave(row *rowLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if row.users--; row.users == 0 {
		delete(l.held, row.id)
	}
}

// queueDelivered hands a row to the sink, unless what is held is as new. The receipt tells
// when what is held is durable; nil: it is.
func (d *Deliveries) queueDelivered(ctx context.Context, lock *rowLock, updated time.Time, raw []byte) (Delivered, *sinks.Receipt, error) {
	if what, held, err := d.holds(ctx, lock.id, updated, d.list.Forgotten.Order(raw)); err != nil || held {
		return what, d.underWay(lock), err
	}
	stored, err := d.list.Forgotten.Storing(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer stored()
	in := d.list.Writer.Begin(d.list.Writer.NextWalk(), 1)
	in.All = true
	r := in.Row(d.list.Def.Plan.NewMapper(), d.list.Forgotten.Order(raw), d.list.Source.Versions.Take(1), d.list.Source.Moment().UTC(), write.RowContext{Columns: d.list.Def.Pushed})
	if in.Empty() {
		in.CountRows()
		return DeliveredSame, d.underWay(lock), nil
	}
	receipt, err := d.list.Writer.Write(ctx, in)
	if err != nil {
		return 0, nil, err
	}
	in.Remember()
	lock.queued = receipt
	if r.Bad {
		return DeliveredBad, receipt, nil
	}
	return DeliveredStored, receipt, nil
}

// underWay is the receipt of what may hold the row and not be durable: another delivery of
// it, else the last that the source has queued.
func (d *Deliveries) underWay(lock *rowLock) *sinks.Receipt {
	if lock.queued != nil {
		return lock.queued
	}
	last, _ := d.list.Source.Commits.Last(d.list.Source.Name)
	return last
}

// holds is true when a newer state of a row is stored, or just this one. What was written
// since the start of the last incremental walk is remembered; the warehouse is asked about
// anything else.
func (d *Deliveries) holds(ctx context.Context, id string, updated time.Time, raw []byte) (what Delivered, held bool, err error) {
	if id == "" || updated.IsZero() {
		return 0, false, nil // it goes to quarantine
	}
	if stamp, known := d.list.Writer.Remembers(id); known {
		return DeliveredOlder, stamp.After(updated), nil // one that is the same is found when it is written
	}
	if d.remembersSince(updated) {
		return 0, false, nil
	}
	rows, err := d.list.Source.Sink.Rows(ctx, d.list.Def.Name, d.list.Source.Business(), []string{id})
	if err != nil {
		return 0, false, fmt.Errorf("read the stored row: %w", err)
	}
	for _, r := range rows {
		var text string
		switch {
		case r.Removed:
		case bytes.Equal(r.Raw, raw):
			return DeliveredSame, true, nil
		case json.Unmarshal(r.Columns["updated_at"], &text) == nil && mapping.Instant(text).After(updated):
			return DeliveredOlder, true, nil
		}
	}
	return 0, false, nil
}

// remembersSince is true when all that was written of rows that changed at an instant is
// remembered: an incremental walk of this process has been there.
func (d *Deliveries) remembersSince(at time.Time) bool {
	d.list.mu.Lock()
	defer d.list.mu.Unlock()
	for _, t := range d.list.walks {
		if t.lastWalk == 0 || !t.floor().Before(at) {
			return false
		}
	}
	return len(d.list.walks) > 0 && !d.list.Writer.ForgetsRows()
}
