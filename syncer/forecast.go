package syncer

import (
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
)

// forecast tells how far a backfill, full resync or deep run is and how long it will
// take (DESIGN B5), nil when none is under way. A full resync brings the rows that are
// mirrored. For a backfill, how many orders there are is known from the service's
// own daily totals, which are mirrored early for that; what the service removed
// (cancelled, deleted) comes in the walk as well and is not in those totals, so
// the share of it seen so far is added.
func (st *stream) forecast() *Progress {
	switch {
	case st.off():
		return nil
	case st.def.Kind == registry.TotalsKind && !st.filled():
		return st.totalsProgress()
	case st.def.Kind == registry.TotalsKind:
		return st.deepProgress()
	case st.def.Kind != registry.ListKind:
		return nil
	}
	kind, walks := st.underway()
	if len(walks) == 0 {
		return nil
	}
	p := Progress{Walk: kind}
	var removed uint64
	for _, cp := range walks {
		p.Pages += cp.Pages
		p.Rows += cp.Rows
		removed += cp.Tombstones
		p.Reached = later(p.Reached, cp.Watermark)
		if p.StartedAt.IsZero() || cp.StartedAt.Before(p.StartedAt) {
			p.StartedAt = cp.StartedAt
		}
	}
	p.TotalRows = st.expected(kind)
	if kind == sinks.WalkBackfill && st.filled() { // of gained locations
		st.mu.Lock()
		p.TotalRows -= min(p.TotalRows, st.ownRows)
		st.mu.Unlock()
	}
	if p.TotalRows > 0 {
		p.RequestsLeft = requestsLeft(p.TotalRows, p.Rows, removed)
		st.mu.Lock()
		paced := st.pace.left(p.RequestsLeft)
		st.mu.Unlock()
		p.ExpectedLeft = Seconds(max(st.source.link.expect(int(p.RequestsLeft)), paced))
	}
	return &p
}

// expected is how many live rows a walk will bring, 0 while that is not known.
func (st *stream) expected(kind string) uint64 {
	if kind == sinks.WalkFull {
		st.mu.Lock()
		defer st.mu.Unlock()
		return st.resyncRows
	}
	if st.def.Name == registry.Orders {
		return st.source.ordersTotal()
	}
	return 0
}

// requestsLeft is how many pages are still to come when total live rows are known
// to exist, rows of them have come, and removed tombstones between them.
func requestsLeft(total, rows, removed uint64) uint64 {
	left := uint64(1) // the page that says it is the last
	if total > rows {
		left = total - rows
	}
	if rows > 0 {
		left += left * removed / rows
	}
	return (left + api.PageLimit - 1) / api.PageLimit
}

// totalsProgress is how far back the daily totals have been asked for; how far
// they go is known once the first order is.
func (st *stream) totalsProgress() *Progress {
	st.mu.Lock()
	defer st.mu.Unlock()
	cp := st.totals.stored
	p := &Progress{Walk: sinks.WalkTotals, StartedAt: cp.StartedAt, Pages: cp.Pages, Rows: cp.Rows}
	if pos, err := readPosition(cp.Position); err == nil && pos.To != "" {
		if t, err := time.Parse(time.DateOnly, string(pos.To)); err == nil {
			p.Reached = t.AddDate(0, 0, 1)
		}
	}
	return p
}

// ordersTotal is how many orders the service counts over all days, 0 while that
// is not known.
func (s *source) ordersTotal() uint64 {
	st := s.stream(registry.Daily)
	st.mu.Lock()
	defer st.mu.Unlock()
	pos, err := readPosition(st.totals.stored.Position)
	if err != nil || !st.totals.stored.Done && !pos.counted() {
		return 0
	}
	return pos.Orders
}
