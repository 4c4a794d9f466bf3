package world

import "github.com/larder-sync/larder/internal/sandbox/units"

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
