package list

import (
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Describe adds to a status what is known of a list.
func (st *List) Describe(into *status.StreamStatus) {
	into.Progress, into.SweepHeld = st.Progress(), st.Full.Held()
	if into.State == status.StateRunning && st.Places.opens() {
		into.State = status.StateBackfill
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	into.Watermark, into.LastResync = st.watermark(), st.Full.lastEnded()
	if last := st.refetched; into.Detail == "" && !last.at.IsZero() && st.Source.ServiceNow().Sub(last.at) < 24*time.Hour {
		into.Detail = fmt.Sprintf("More orders changed at %s than the service lists of one instant. The %d stored orders that were not final were asked for "+
			"one by one; an order that was never stored is missing until it changes.", last.skippedAt.Format(time.RFC3339Nano), last.orders)
	}
}

// watermark is the oldest watermark of all its locations; the caller holds the list's mu.
func (st *List) watermark() time.Time {
	var oldest time.Time
	for i, t := range st.walks {
		if i == 0 || t.incr.Watermark.Before(oldest) {
			oldest = t.incr.Watermark
		}
	}
	return oldest
}

// underway returns the kind of long walk that is under way and the checkpoints of its
// locations; none when there is no such walk.
func (st *List) underway() (kind string, all []sinks.Checkpoint) {
	filled := st.Filled()
	gained, _ := st.covered.Changed()
	st.mu.Lock()
	defer st.mu.Unlock()
	kind = sinks.WalkBackfill
	if filled {
		kind = sinks.WalkFull
	}
	for _, t := range st.walks {
		switch {
		case !filled:
			all = append(all, t.back)
		case t.resyncing():
			all = append(all, t.full)
		}
	}
	if len(all) > 0 || !st.Def.ByLocation {
		return kind, all
	}
	for _, l := range gained { // each of which is opened by a walk of its own
		if t := st.Places.openings[l]; t != nil {
			all = append(all, t.back)
		} else {
			all = append(all, sinks.Checkpoint{})
		}
	}
	return sinks.WalkBackfill, all
}

// Progress is how far a backfill or full resync is and how long it will take (DESIGN B5), nil
// when none is under way. A full resync brings the rows that are mirrored. For a backfill, the
// number of orders is known from the service's own daily totals, which are mirrored early for
// that. These do not count orders that the service removed (cancelled, deleted), and the walk
// brings such orders too. So their share of the rows so far is added.
func (st *List) Progress() *status.Progress {
	if st.Off() {
		return nil
	}
	kind, walks := st.underway()
	if len(walks) == 0 {
		return nil
	}
	p := status.Progress{Walk: kind}
	var removed uint64
	for _, cp := range walks {
		p.Pages += cp.Pages
		p.Rows += cp.Rows
		removed += cp.Tombstones
		p.Reached = stream.Later(p.Reached, cp.Watermark)
		if p.StartedAt.IsZero() || cp.StartedAt.Before(p.StartedAt) {
			p.StartedAt = cp.StartedAt
		}
	}
	p.TotalRows = st.expected(kind)
	if p.TotalRows > 0 {
		p.RequestsLeft = stream.RequestsLeft(p.TotalRows, p.Rows, removed)
		p.ExpectedLeft = status.Seconds(max(st.Source.Lanes.Expect(int(p.RequestsLeft)), st.Paced(p.RequestsLeft)))
	}
	return &p
}

// expected is how many live rows a walk will bring, 0 while that is not known.
func (st *List) expected(kind string) uint64 {
	all, filled := st.Counted(), st.Filled()
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case kind == sinks.WalkFull:
		return st.Full.rows
	case filled: // of gained locations
		return all - min(all, st.Places.ownRows)
	}
	return all
}
