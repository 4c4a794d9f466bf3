package list

import (
	"context"
	"fmt"
	"time"

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
	var answers []*answer
	for _, r := range rows {
		a, err := st.Full.askFor(ctx, st.Source.Lanes.Fresh, r.ID)
		if err != nil {
			return err
		}
		a.at = st.Source.Moment().UTC() // as walks and deliveries of them do
		answers = append(answers, a)
	}
	return st.store(ctx, func(in *write.Intake) {
		in.All = true
		for _, a := range answers {
			st.Full.take(in, a)
		}
	})
}
