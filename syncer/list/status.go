package list

import (
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
)

// Describe adds to a status what is known of a list.
func (st *List) Describe(into *status.StreamStatus) {
	p := st.state.read()
	into.Progress, into.SweepHeld = st.Progress(), st.Held()
	if into.State == status.StateRunning && !st.Complete() {
		into.State = status.StateBackfill
	}
	into.Watermark = p.incr.Watermark
	if p.full.Done {
		into.LastResync = p.full.UpdatedAt
	}
}

// Progress is how far a backfill or full resync is and how long it will take (docs/rules.md B5), nil
// when none is under way. A full resync brings the rows that are mirrored. For a backfill, the
// number of orders is known from the service's own daily totals, which are mirrored early for
// that. These do not count orders that the service removed (cancelled, deleted), and the walk
// brings such orders too, as it brings those of locations that are left out: see [stream.Lanes.Forecast].
func (st *List) Progress() *status.Progress {
	if st.Off() {
		return nil
	}
	now, total := st.state.read(), st.Counted()
	cp := now.back
	if cp.Done {
		cp, total = now.full, max(now.mirrored, total)
	}
	if cp.Walk == sinks.WalkFull && !cp.underWay() {
		return nil
	}
	p := &status.Progress{
		Walk: cp.Walk, StartedAt: cp.StartedAt, Pages: cp.Pages, Rows: cp.Rows, AtLeast: cp.phase.AtLeast, TotalRows: total, Reached: cp.Watermark,
	}
	if total > 0 {
		st.Source.Lanes.Forecast(p, &st.pace)
	}
	return p
}
