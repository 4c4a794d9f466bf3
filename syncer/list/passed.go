package list

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// final are the states that an order does not leave (api.md, "Order status").
var final = []string{"rejected", "cancelled", "completed"}

// skipped notes the [api.Page.PassedBy] of a page. Zero is none.
func (st *List) skipped(at time.Time) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.skippedAt = stream.Later(st.skippedAt, at)
}

// refetchOpen fetches every stored order that is not final by its id, when a walk has met a page
// full of orders of one instant: others of that instant cannot be listed. It does so once for
// an instant; when it fails, the end of the next walk tries it again.
func (st *List) refetchOpen(ctx context.Context) error {
	st.mu.Lock()
	skippedAt, done := st.skippedAt, !st.skippedAt.After(st.refetched.skippedAt)
	st.mu.Unlock()
	if done {
		return nil
	}
	q, asked := st.Rows(), 0
	q.NotStatus, q.Limit = final, AskFirst
	for rows, err := range sinks.LivePages(ctx, st.Source.Sink, q) {
		if err != nil {
			return fmt.Errorf("read the orders that are not final: %w", err)
		}
		if err := st.askAnew(ctx, rows); err != nil {
			return err
		}
		asked += len(rows)
	}
	st.Source.Log.Warn("more orders changed at one instant than the service lists: those that are stored and not final were asked for one by one; "+
		"one that was never stored is missing until it changes", "stream", st.Def.Name, "changed_at", skippedAt, "asked", asked)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.refetched.skippedAt, st.refetched.at, st.refetched.orders = skippedAt, st.Source.ServiceNow(), asked
	return nil
}

// askAnew asks for rows by their ids, and stores what the service answers. A row that it does
// not show stays as it is.
func (st *List) askAnew(ctx context.Context, rows []sinks.LiveRow) error {
	var answers []answer
	for _, r := range rows {
		// The version is taken before it is asked: see [write.VersionClock].
		a := answer{id: r.ID, version: st.Source.Versions.Take(1)}
		raw, _, err := st.Def.One(ctx, st.Source.Lanes.Fresh, r.ID)
		switch {
		case api.IsNotFound(err):
			continue
		case len(raw) == 0 && err != nil:
			return fmt.Errorf("ask for %s %q, which a full page may have left out: %w", st.Def.Name, r.ID, err)
		case st.Full.elsewhere(raw):
			continue
		}
		a.raw, a.at = raw, st.Source.Moment().UTC() // as walks and deliveries of them do
		answers = append(answers, a)
	}
	stored, err := st.Forgotten.Storing(ctx)
	if err != nil {
		return err
	}
	in := st.Writer.Begin(st.Writer.NextWalk(), len(answers))
	in.All, in.Counts.Requests = true, uint64(len(rows))
	for _, a := range answers {
		in.Row(st.Def.Plan.NewMapper(), st.Forgotten.OrderOf(a.id, a.raw), a.version, a.at, write.RowContext{ID: a.id, Columns: st.Def.Polled})
	}
	if in.Empty() {
		stored()
		in.CountRows()
		return nil
	}
	receipt, err := st.Writer.Write(ctx, in)
	stored()
	if err != nil {
		return err
	}
	if err := receipt.Wait(ctx); err != nil {
		return fmt.Errorf("wait for the warehouse: %w", err)
	}
	in.Remember()
	return nil
}
