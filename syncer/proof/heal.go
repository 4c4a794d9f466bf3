package proof

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// Healing walks the orders of a day that differs in range mode, tombstones included, and writes
// every row again. What is live on that day in the mirror below the version with which that
// began was not shown by the service: it is asked for one by one, and removed when the answer
// is 404. Refunds count on the day they were made, and belong to orders of other days: what is
// lost of those comes with a full resync. Where removed orders would explain a day, they are asked
// for, and what has changed since the day began is walked: it may be a refund of as much.

// walkHeal names healing in runs and metrics. It has no checkpoint: the next run begins anew.
const walkHeal = "heal"

// Bounds of a walk, in pages: of one day, 200,000 orders where they are full, and of what has
// changed since a day began. Beyond them all orders are walked.
const (
	mostPages   = 1000
	mostChanges = 50
)

// heal is the healing of one day.
type heal struct {
	orders *list.List
	rows   *mapping.Comparer
	day    types.Date
	first  uint64   // rows below it were not shown
	ids    []string // of orders that were not as the service has them, up to mostIDs
	run    sinks.Run
}

// healings are the days of a source whose orders were fetched anew.
type healings struct {
	stream.Slot                        // one second look, and the healing after it, at a time; it guards what follows
	days        map[types.Date]fetched // within a day
}

// fetched is what fetching the orders of a day has shown.
type fetched struct {
	IDs      []string  // of the orders that were not as the service has them, up to mostIDs
	asked    []string  // removed orders that were asked for
	requests uint64    // it took
	at       time.Time // it ended, by this machine's steady clock
}

// wrong returns the orders of a day that were wrong when it was fetched. Where none was, it returns
// those of the days that were fetched since first: one that had moved is right by the time its own
// day is fetched.
func (h *healings) wrong(day types.Date, first time.Time) []string {
	ids := h.days[day].IDs
	if len(ids) == 0 {
		for _, f := range h.days {
			if f.at.After(first) {
				ids = append(ids, f.IDs...)
			}
		}
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return ids[:min(len(ids), mostIDs)]
}

// FetchDay writes the orders of a day again, and removes those that the service does not have any
// more. It walks what has changed since the day began, unless that is too much, and asks for removed
// orders, too, which live again when the service has them.
func (d *Shared) FetchDay(ctx context.Context, day types.Date, removed []string) (fetched, error) {
	s, orders := d.source, d.Orders
	h := &heal{
		orders: orders, rows: orders.Def.Plan.NewComparer(0), day: day, first: s.Versions.Take(1),
		run: sinks.Run{Source: s.Name, Stream: registry.Orders, Walk: walkHeal, StartedAt: time.Now()},
	}
	err := h.walk(ctx, api.ListQuery{From: day, To: day}, mostPages)
	if err == nil {
		err = h.vanished(ctx)
	}
	if err == nil && len(removed) > 0 {
		// An order that has a refund of the day is among what has changed since, whatever day it counts on.
		begins, _ := time.ParseInLocation(time.DateOnly, string(day), schedule.Zone())
		if failed := h.walk(ctx, api.ListQuery{UpdatedSince: begins.Add(-list.Lookback)}, mostChanges); failed != nil {
			s.Log.Info("what has changed since a day began could not be walked: a full resync decides what explains the day", "day", day, "err", failed)
			removed = nil
		}
	}
	for _, id := range removed {
		if err == nil {
			err = h.askFor(ctx, sinks.LiveRow{ID: id})
		}
	}
	h.ended(ctx, err)
	return fetched{h.ids, removed, h.run.Requests, time.Now()}, err
}

// walk writes orders again.
func (h *heal) walk(ctx context.Context, q api.ListQuery, most int) error {
	versions := h.orders.Source.Versions
	q.IncludeDeleted, q.Limit = true, api.PageLimit
	first, pages := versions.Take(api.PageLimit), 0
	for page, err := range api.SalesOrders.Pages(ctx, h.orders.Source.Lanes.Reconcile, q) {
		h.run.Requests++
		if err == nil {
			h.run.Pages++
			err = h.take(ctx, page, first)
		}
		if pages++; err == nil && pages >= most && page.HasMore {
			err = fmt.Errorf("the service lists more than %d pages", most)
		}
		if err != nil {
			return fmt.Errorf("walk the orders of %s: %w", h.day, err)
		}
		first = versions.Take(api.PageLimit)
	}
	return nil
}

// take writes a page, and notes what differs from what is stored.
func (h *heal) take(ctx context.Context, page api.Page, first uint64) error {
	st := h.orders
	var ids []string
	for _, raw := range page.Rows {
		id, _ := h.rows.Read(raw)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	stored, err := sinks.RowsByID(ctx, st.Source.Sink, registry.Orders, st.Source.Business(), slices.Compact(ids))
	if err != nil {
		return err
	}
	in := h.intake(len(page.Rows))
	mapper, at := st.Def.Plan.NewMapper(), st.Source.AnswerTime(page.Date)
	for i, raw := range page.Rows {
		if st.Source.LeavesOut(raw) {
			continue
		}
		version := first + uint64(i)
		if i >= api.PageLimit {
			version = st.Source.Versions.Take(1)
		}
		row := in.Row(mapper, raw, version, at, write.RowContext{})
		if row.Bad || h.changed(raw, stored[row.ID]) {
			h.wasWrong(row.ID)
		}
	}
	in.Counts.AddTo(&h.run)
	return storeUnlessEmpty(ctx, st.Writer, in)
}

func (h *heal) wasWrong(id string) {
	if len(h.ids) < mostIDs {
		h.ids = append(h.ids, id)
	}
}

func (h *heal) intake(rows int) *write.Intake {
	in := h.orders.Writer.Begin(h.orders.Writer.NextWalk(), rows)
	in.Rewrite = true
	in.Floor = h.orders.Source.ServiceNow() // of the rest, only what is remembered already
	return in
}

// changed reports whether a row is stored otherwise than the service has it.
func (h *heal) changed(raw []byte, stored *sinks.StoredRow) bool {
	_, tombstone := h.rows.Read(raw)
	switch live := stored != nil && !stored.Removed; {
	case tombstone != nil:
		return live
	case !live:
		return true
	}
	return len(h.rows.Differences(raw, stored)) > 0
}

// vanished asks for the live orders of the day that the walk has not shown, unless they are more
// than are asked for one by one: those are left to a full resync.
func (h *heal) vanished(ctx context.Context) error {
	s := h.orders.Source
	key := s.Identity()
	q := sinks.LiveQuery{Table: registry.Orders, Business: key.Business, Below: h.first, Day: string(h.day)}
	s.Scope(key, &q)
	rows, err := s.Sink.Live(ctx, q)
	if err != nil {
		return fmt.Errorf("live orders of %s: %w", h.day, err)
	}
	if len(rows) > list.AskFirst {
		return nil
	}
	for _, r := range rows {
		if err := h.askFor(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// askFor asks for one order. What the service does not have is removed below the version with
// which the healing began: a row that came since lives.
func (h *heal) askFor(ctx context.Context, r sinks.LiveRow) error {
	st, s := h.orders, h.orders.Source
	in := h.intake(1)
	stored, err := sinks.RowsByID(ctx, s.Sink, registry.Orders, s.Business(), []string{r.ID})
	if err != nil {
		return err
	}
	h.run.Requests++
	reason, raw, err := st.Confirm(ctx, s.Lanes.Reconcile, in, r.ID)
	was := stored[r.ID]
	removed := was != nil && was.Removed
	if err == nil && reason == write.ReasonGone && !removed {
		err = s.Refresh(ctx)
	}
	switch {
	case err != nil:
		return err
	case reason != "" && removed: // as the mirror has it
	case reason == write.ReasonGone && r.Location != "" && !slices.Contains(s.Usable(s.Identity()), r.Location):
		// The key has lost the location, so that 404 proves nothing: it is left to the sweep, with its guard.
	case reason != "":
		if st.Writer.MaybeQuarantined(r.ID) {
			in.Release(r.ID)
		}
		in.Remove(r.ID, reason, h.first, s.ServiceNow().UTC())
		h.wasWrong(r.ID)
	case h.changed(raw, was):
		h.wasWrong(r.ID)
	}
	in.Counts.AddTo(&h.run)
	return storeUnlessEmpty(ctx, st.Writer, in)
}

// ended stores the run.
func (h *heal) ended(ctx context.Context, err error) {
	s := h.orders.Source
	h.run.FinishedAt = time.Now()
	if err != nil {
		h.run.Error = err.Error()
	}
	s.Metrics.Walked(registry.Orders, walkHeal, err, time.Since(h.run.StartedAt))
	c := s.Commit(registry.Orders)
	c.Run = &h.run
	if _, err := s.Commits.Write(ctx, c); err != nil && ctx.Err() == nil {
		s.Log.Error("store the run of a healing", "day", h.day, "err", err)
	}
}
