package sales

import (
	"github.com/larder-sync/larder/internal/sandbox/readings"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// Days is a range of calendar days, both ends counted.
type Days struct{ From, To units.Day }

// Reader reads the orders of the locations that somebody sees. It keeps its memory.
type Reader struct {
	Orders *Orders
	Sees   func(loc int) bool

	content content
}

// Mirror lists every order changed since, oldest change first; what no longer counts
// as a sale is a tombstone.
func (r *Reader) Mirror(l rows.Listing, emit rows.Emit) (end rows.Pos, more bool) {
	s := r.Orders
	return r.page(&s.changes, l, l.Since, emit, func(c rows.Change, o *order) (show, stop bool) {
		return s.current(c) && s.listed(o), false
	})
}

// Range lists paid orders opened in the range, oldest first, which is by created_at
// or by change; with Tombstones those deleted since, too.
func (r *Reader) Range(l rows.Listing, days Days, emit rows.Emit) (end rows.Pos, more bool) {
	s := r.Orders
	first, last := s.Calendar.Start(days.From), s.Calendar.Start(days.To+1)
	shows := func(o *order) bool {
		return o.counts() || l.Tombstones && o.flags&(orderDeleted|orderPaid|orderCancelled) == orderDeleted|orderPaid
	}
	if s.Readings.RangeByChange {
		return r.page(&s.changes, l, first-readings.MaxStampDelay.Microseconds(), emit, func(c rows.Change, o *order) (show, stop bool) {
			return s.current(c) && o.created >= first && o.created < last && shows(o), false
		})
	}
	return r.page(&s.byCreated, l, first, emit, func(_ rows.Change, o *order) (show, stop bool) {
		return shows(o), o.created >= last
	})
}

func (r *Reader) page(log *rows.Log, l rows.Listing, since int64, emit rows.Emit, match func(rows.Change, *order) (show, stop bool)) (end rows.Pos, more bool) {
	return log.Page(l, since, func(c rows.Change) (show, stop bool) {
		o := &r.Orders.orders[c.N]
		show, stop = match(c, o)
		return show && r.Sees(int(o.loc)), stop
	}, func(n uint32) {
		emit(func(out []byte) []byte { return r.Orders.append(out, n, &r.content) })
	})
}

// One is one sale of a location that is seen.
func (r *Reader) One(id string) ([]byte, bool) {
	n, err := r.Orders.Find(id)
	if err != nil || !r.Orders.orders[n].counts() || !r.Sees(int(r.Orders.orders[n].loc)) {
		return nil, false
	}
	return r.Orders.append(nil, n, &r.content), true
}

// Daily emits one row per day of the range, days without sales included, and returns
// the totals.
func (r *Reader) Daily(days Days, emit rows.Emit) (totals []byte) {
	s := r.Orders
	var sum dayTotals
	for d := days.From; d <= days.To; d++ {
		t := s.totals.sum(d, len(s.Locations.All), r.Sees)
		sum.add(&t)
		emit(func(out []byte) []byte {
			out = units.AppendDate(append(out, `{"date":"`...), d)
			return append(t.append(append(out, `",`...), s.Readings.NewMapKeys), '}')
		})
	}
	return append(sum.append([]byte{'{'}, s.Readings.NewMapKeys), '}')
}

// Products emits what was sold of each product in the range, highest net first; with
// byDay of each day.
func (r *Reader) Products(days Days, byDay bool, emit rows.Emit) {
	merged := productSum{}
	for d := days.From; d <= days.To; d++ {
		merged.add(r.Orders.products.of(d, func() productDay { return r.productDay(d) }), r.Sees)
		if byDay {
			merged.emit(units.AppendDate(nil, d), emit)
			merged = productSum{}
		}
	}
	if !byDay {
		merged.emit(nil, emit)
	}
}

// productDay sums the lines of a day's sales.
func (r *Reader) productDay(day units.Day) productDay {
	s := r.Orders
	d := productDay{}
	end := s.Calendar.Start(day + 1)
	for _, at := range s.byCreated.Entries[s.byCreated.Since(s.Calendar.Start(day)):] {
		if at.Stamp >= end {
			break
		}
		if o := &s.orders[at.N]; o.counts() {
			s.fill(&r.content, at.N)
			d.add(at, o.loc, &r.content, s.Readings.GrossPerProduct)
		}
	}
	return d
}

// Truth yields what a mirror must hold of the locations that it sees.
func (s *Orders) Truth(sees func(loc int) bool, yield func(rows.TruthRow) error) error {
	var c content
	for n := range s.orders {
		o := &s.orders[n]
		if !sees(int(o.loc)) || !s.listed(o) {
			continue
		}
		row := rows.TruthRow{ID: s.ID(uint32(n)), Reason: o.reason()}
		if row.Reason == "" {
			row.Row = s.append(nil, uint32(n), &c)
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}
