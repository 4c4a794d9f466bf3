package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// errPages ends a walk that brings more pages than its day can have.
var errPages = errors.New("the service lists more pages than the day has orders")

func (h *heal) lane() *api.Client { return h.orders.Source.Lanes.Reconcile }

func (h *heal) walkLocations(ctx context.Context, locations []string) error {
	for _, l := range locations {
		if err := h.WalkDay(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// WalkDay writes the day's orders again and removes what the service does not have.
func (h *heal) WalkDay(ctx context.Context, location string) error {
	if err := h.walk(ctx, ordersOf(h.day, location), time.Time{}, int(h.most)); err != nil { //nolint:gosec // a count of orders
		return err
	}
	return h.vanished(ctx, location)
}

// ordersOf asks for the orders of one day.
func ordersOf(day types.Date, location string) api.ListQuery {
	return api.ListQuery{From: day, To: day, IncludeDeleted: true, LocationID: location, Limit: api.PageLimit}
}

// walk writes the orders of a list again, from at most so many pages. Unless until is
// zero it ends behind the page that reaches it.
func (h *heal) walk(ctx context.Context, q api.ListQuery, until time.Time, most int) error {
	versions := h.orders.Source.Versions
	first, pages := versions.Take(api.PageLimit), 0
	for page, err := range api.SalesOrders.Pages(ctx, h.lane(), q) {
		h.Run.Requests++
		if err != nil {
			return fmt.Errorf("walk the orders for %s: %w", h.day, err)
		}
		h.Run.Pages++
		newest, err := h.take(ctx, page, first)
		if err != nil {
			return err
		}
		if !until.IsZero() && !newest.Before(until) {
			return nil
		}
		if pages++; pages >= most && page.HasMore {
			return fmt.Errorf("walk the orders for %s: %w", h.day, errPages)
		}
		first = versions.Take(api.PageLimit)
	}
	return nil
}

// take writes a page, and notes what differs from what is stored. It returns when the
// last change of a row on the page was made.
func (h *heal) take(ctx context.Context, page api.Page, first uint64) (newest time.Time, err error) {
	st := h.orders
	ids := map[string]bool{}
	for _, raw := range page.Rows {
		id, _ := h.rows.Read(raw)
		ids[id] = true
	}
	stored, err := h.storedOf(ctx, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return newest, err
	}
	in := h.intake(len(page.Rows))
	mapper, at := st.Def.Plan.NewMapper(), st.Source.AnswerTime(page.Date)
	for i, raw := range page.Rows {
		version := first + uint64(i)
		if i >= api.PageLimit {
			version = st.Source.Versions.Take(1)
		}
		t := in.Row(mapper, raw, version, at, write.RowContext{})
		newest = stream.Later(newest, t.UpdatedAt)
		if t.Bad || h.changed(raw, stored[t.ID]) {
			h.IDs = append(h.IDs, t.ID)
		}
	}
	return newest, h.store(ctx, in)
}

func (h *heal) intake(rows int) *write.Intake {
	in := h.orders.Writer.Begin(h.orders.Writer.NextWalk(), rows)
	in.Rewrite = true
	in.Floor = h.orders.Source.ServiceNow() // of the rest, only what is remembered already
	return in
}

func (h *heal) store(ctx context.Context, in *write.Intake) error {
	h.Run.Rows += in.Counts.Upserts
	h.Run.Tombs += in.Counts.Tombstones
	h.Run.Unchanged += in.Counts.Unchanged
	h.Run.Quarantined += in.Counts.Quarantined
	if in.Empty() {
		in.CountRows()
		return nil
	}
	return h.orders.Writer.Store(ctx, in)
}

// storedOf reads what is stored of rows.
func (h *heal) storedOf(ctx context.Context, ids []string) (map[string]*sinks.StoredRow, error) {
	stored, err := sinks.RowsByID(ctx, h.orders.Source.Sink, registry.Orders, h.orders.Source.Business(), ids)
	if err != nil {
		return nil, fmt.Errorf("read the stored orders of %s: %w", h.day, err)
	}
	return stored, nil
}

// changed is true when what is stored is not what the service says.
func (h *heal) changed(raw []byte, stored *sinks.StoredRow) bool {
	_, tombstone := h.rows.Read(raw)
	switch {
	case tombstone != nil:
		return stored != nil && !stored.Removed
	case stored == nil || stored.Removed:
		return true
	default:
		return len(h.rows.Differences(raw, stored)) > 0
	}
}

// query selects live orders that the source answers for and that were not written
// since the healing began.
func (h *heal) query() sinks.LiveQuery {
	key := h.orders.Source.Identity()
	q := sinks.LiveQuery{Table: registry.Orders, Business: key.Business, Below: h.first}
	h.orders.Source.Scope(key, &q)
	return q
}

// vanished asks for the orders of the day that the walk has not shown.
func (h *heal) vanished(ctx context.Context, location string) error {
	q := h.query()
	q.Day = string(h.day)
	rows, err := h.live(ctx, q, location)
	if err != nil {
		return err
	}
	if len(rows) > list.AskFirst {
		h.leave(rows)
		return nil
	}
	unasked, err := h.askFor(ctx, rows)
	h.leave(unasked)
	return err
}

// leave notes rows that stay as they are.
func (h *heal) leave(rows []sinks.LiveRow) {
	for _, r := range rows {
		h.Left = append(h.Left, r.ID)
	}
	slices.Sort(h.Left)
	h.Left = slices.Compact(h.Left) // a walk of all locations leaves the same again
}

// RefundedOrders asks for the orders of other days that have a refund on the day. No
// walk has left them out: where the location is not active, 404 would say nothing, and
// the service may list them still.
func (h *heal) RefundedOrders(ctx context.Context) error {
	q := h.query()
	q.RefundDay = string(h.day)
	rows, err := h.live(ctx, q, "")
	if err != nil {
		return err
	}
	usable := h.orders.Source.Usable(h.orders.Source.Identity())
	rows = slices.DeleteFunc(rows, func(r sinks.LiveRow) bool { return !slices.Contains(usable, r.Location) })
	_, err = h.askFor(ctx, rows[:min(len(rows), list.AskFirst)])
	return err
}

// WeekBefore walks the days before, as far as the requests reach.
func (h *heal) WeekBefore(ctx context.Context) error {
	for n := 1; n <= weekBefore; n++ {
		day, err := calendar.AddDays(h.day, -n)
		if err != nil {
			return err
		}
		known := len(h.IDs)
		err = h.spend(ctx, ordersOf(day, ""), time.Time{})
		if mended := h.IDs[known:]; len(mended) > 0 { // which that day's own verdict tells
			h.totals.beside.Healed[day] = repair{at: time.Now(), IDs: fewIDs(slices.Clone(mended))}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ChangesOfDay walks what changed on the day: a refund changes its order, however old
// that is, and is most often its last change.
func (h *heal) ChangesOfDay(ctx context.Context) error {
	from, to, err := h.bounds()
	if err != nil {
		return err
	}
	return h.spend(ctx, api.ListQuery{UpdatedSince: from, Limit: api.PageLimit}, to)
}

// ChangesSince walks what changed after the day, as far as the requests reach.
func (h *heal) ChangesSince(ctx context.Context) error {
	_, to, err := h.bounds()
	if err != nil {
		return err
	}
	return h.spend(ctx, api.ListQuery{UpdatedSince: to, Limit: api.PageLimit}, time.Time{})
}

// bounds are when the day begins and ends. A change may be stamped a little earlier
// than it was made (api.md, "Pagination and sync rules" 2).
func (h *heal) bounds() (from, to time.Time, err error) {
	from, err = time.ParseInLocation(time.DateOnly, string(h.day), calendar.Zone())
	if err != nil {
		return from, to, fmt.Errorf("day %q: %w", h.day, err)
	}
	return from.Add(-list.Lookback).UTC(), from.AddDate(0, 0, 1).UTC(), nil
}

// spend walks a list in every place that the source has the orders of, as far as the
// requests beside those for the day reach.
func (h *heal) spend(ctx context.Context, q api.ListQuery, until time.Time) error {
	for _, place := range h.orders.Open(h.orders.Asked()) {
		if h.Extra <= 0 {
			return nil
		}
		q.LocationID = place
		before := h.Run.Requests
		err := h.walk(ctx, q, until, h.Extra)
		h.Extra -= int(h.Run.Requests - before) //nolint:gosec // a few requests
		if err != nil && !errors.Is(err, errPages) {
			return err
		}
	}
	return nil
}

func (h *heal) live(ctx context.Context, q sinks.LiveQuery, location string) ([]sinks.LiveRow, error) {
	rows, err := h.orders.Source.Sink.Live(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("live orders of %s: %w", h.day, err)
	}
	return slices.DeleteFunc(rows, func(r sinks.LiveRow) bool { return location != "" && r.Location != location }), nil
}

// sees is true when the key still has the location, so that 404 for one of its orders means
// that the order is gone. Rows of a lost location are the sweep's, with its guard.
func (h *heal) sees(ctx context.Context, location string) (bool, error) {
	s := h.orders.Source
	if err := s.Refresh(ctx); err != nil {
		return false, err
	}
	return location == "" || slices.Contains(h.orders.Source.Usable(s.Identity()), location), nil
}

// askFor asks for rows one by one, as far as the requests reach. What the service does
// not have is removed below the version with which the healing began: a row that came
// since lives.
func (h *heal) askFor(ctx context.Context, rows []sinks.LiveRow) (unasked []sinks.LiveRow, err error) {
	for i, r := range rows {
		if h.Extra <= 0 {
			return rows[i:], nil
		}
		h.Extra--
		if err := h.askForOne(ctx, r); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (h *heal) askForOne(ctx context.Context, r sinks.LiveRow) error {
	st := h.orders
	in := h.intake(1)
	stored, err := h.storedOf(ctx, []string{r.ID})
	if err != nil {
		return err
	}
	h.Run.Requests++
	reason, raw, err := st.Confirm(ctx, h.lane(), in, r.ID)
	seen := true
	if err == nil && reason == write.ReasonGone {
		seen, err = h.sees(ctx, r.Location)
	}
	switch {
	case err != nil:
		return err
	case !seen:
		h.Lost = append(h.Lost, r.ID)
	case reason != "":
		if st.Writer.MaybeQuarantined(r.ID) {
			in.Release(r.ID)
		}
		in.Remove(r.ID, reason, h.first, st.Source.ServiceNow().UTC())
		h.IDs = append(h.IDs, r.ID)
	case h.changed(raw, stored[r.ID]):
		h.IDs = append(h.IDs, r.ID)
	}
	return h.store(ctx, in)
}
