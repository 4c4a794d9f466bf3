package world

import "github.com/larder-sync/larder/internal/sandbox/units"

// Days is a range of calendar days, both ends counted.
type Days struct{ From, To units.Day }

// MirrorOrders lists every order changed since, oldest change first; what no longer counts
// as a sale is a tombstone.
func (v *View) MirrorOrders(l Listing, emit Emit) (end Pos, more bool) {
	b := v.b
	return v.walk(&b.changes, l, l.Since, func(c change, o *order) (show, stop bool) {
		return b.currentOrder(c) && b.listed(o), false
	}, emit)
}

// RangeOrders lists paid orders opened in the range, oldest first, which is by created_at
// or by change; with Tombstones those deleted since, too.
func (v *View) RangeOrders(l Listing, days Days, emit Emit) (end Pos, more bool) {
	b := v.b
	first, last := b.cal.Start(days.From), b.cal.Start(days.To+1)
	shows := func(o *order) bool {
		return o.counts() || l.Tombstones && o.flags&(orderDeleted|orderPaid|orderCancelled) == orderDeleted|orderPaid
	}
	if b.readings.RangeByChange {
		return v.walk(&b.changes, l, first-MaxStampDelay.Microseconds(), func(c change, o *order) (show, stop bool) {
			return b.currentOrder(c) && o.created >= first && o.created < last && shows(o), false
		}, emit)
	}
	return v.walk(&b.byCreated, l, first, func(_ change, o *order) (show, stop bool) {
		return shows(o), o.created >= last
	}, emit)
}

// walk emits up to l.Limit orders, those since a stamp and those without one.
func (v *View) walk(log *changeLog, l Listing, since int64, match func(change, *order) (show, stop bool), emit Emit) (end Pos, more bool) {
	count := 0
	for i := l.After.from(log); i < len(log.entries); i++ {
		c := log.entries[i]
		if c.stamp != nullStamp && c.stamp < since {
			i = log.since(since) - 1
			continue
		}
		o := &v.b.orders[c.n]
		show, stop := match(c, o)
		if stop {
			break
		}
		if !show || !v.visible[o.loc] {
			continue
		}
		if count == l.Limit {
			return end, true
		}
		emit(func(out []byte) []byte { return v.appendOrder(out, c.n) })
		end = behind(c)
		count++
	}
	return end, false
}

func (v *View) appendOrder(out []byte, n uint32) []byte {
	if v.b.orders[n].counts() {
		return v.b.appendOrder(out, n, &v.content)
	}
	return v.b.appendOrderTombstone(out, n)
}

// Order is one sale of a location that the key sees.
func (v *View) Order(id string) ([]byte, bool) {
	n, ok := v.b.findOrder(id)
	if !ok || !v.b.orders[n].counts() || !v.visible[v.b.orders[n].loc] {
		return nil, false
	}
	return v.appendOrder(nil, n), true
}

// Today is the Bucharest day of the view's instant.
func (v *View) Today() units.Day { return v.b.cal.Day(v.now) }

// DailySales emits one row per day of the range, days without sales included, and returns
// the totals.
func (v *View) DailySales(days Days, emit Emit) (totals []byte) {
	var sum dayTotals
	for d := days.From; d <= days.To; d++ {
		t := v.b.sumDay(d, v.shows)
		sum.add(&t)
		emit(func(out []byte) []byte {
			out = units.AppendDate(append(out, `{"date":"`...), d)
			return append(v.b.appendBreakdown(append(out, `",`...), &t), '}')
		})
	}
	return append(v.b.appendBreakdown([]byte{'{'}, &sum), '}')
}

// ProductSales emits what was sold of each product in the range, highest net first; with
// byDay of each day.
func (v *View) ProductSales(days Days, byDay bool, emit Emit) {
	merged := newProductSum(v.b)
	for d := days.From; d <= days.To; d++ {
		merged.add(v.b.salesOf(d), v.shows)
		if byDay {
			merged.emit(units.AppendDate(nil, d), emit)
			merged = newProductSum(v.b)
		}
	}
	if !byDay {
		merged.emit(nil, emit)
	}
}

func (p *productSum) emit(date []byte, emit Emit) {
	for _, s := range p.sorted() {
		emit(func(out []byte) []byte {
			out = append(out, '{')
			if date != nil {
				out = append(append(append(out, `"date":"`...), date...), `",`...)
			}
			return append(s.append(out), '}')
		})
	}
}
