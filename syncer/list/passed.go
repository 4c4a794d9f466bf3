package list

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/write"
)

// final are the states that an order does not leave (docs/openapi.yaml, OrderStatus).
var final = []string{"rejected", "cancelled", "completed"}

// openFor is how long after it was placed an order that is not final may still change: it can
// be scheduled 12 hours ahead, and a day has a closing time.
const openFor = 48 * time.Hour

// refetchOpen fetches every stored order of the last days that is not final by its id, when a
// walk meets a page full of orders of one instant: others of that instant cannot be listed. It
// does so once for an instant, before the walk gets past it, so that a failure loses nothing. An
// order that the service does not show stays as it is.
func (w *walk) refetchOpen(ctx context.Context, skippedAt time.Time) error {
	st := w.list
	if !skippedAt.After(st.state.read().passed) {
		return nil
	}
	if err := w.window.wait(ctx, 0); err != nil { // what was listed is not asked for again
		return err
	}
	q, asked := st.Rows(), 0
	q.NotStatus, q.CreatedFrom, q.Limit = final, skippedAt.Add(-openFor), AskFirst
	for rows, err := range sinks.LivePages(ctx, st.Source.Sink, q) {
		if err != nil {
			return fmt.Errorf("read the orders that are not final: %w", err)
		}
		var answers []*answer
		for _, r := range rows {
			a, err := st.askFor(ctx, st.Source.Lanes.Fresh, r.ID)
			if err != nil {
				return err
			}
			answers = append(answers, a)
		}
		err = st.store(ctx, func(in *write.Intake) {
			in.All = true
			for _, a := range answers {
				a.into(in, st)
			}
		})
		if err != nil {
			return err
		}
		asked += len(rows)
	}
	st.Source.Log.Warn("more orders changed at one instant than the service lists: those of the last two days that are stored and not final were asked for one by one; "+
		"one that was never stored is missing until it changes", "stream", st.Def.Name, "changed_at", skippedAt, "asked", asked)
	st.state.change(func(p *position) { p.passed = skippedAt })
	return nil
}
