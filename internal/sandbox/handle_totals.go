package sandbox

import (
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// salesDaily answers one row per calendar day of the range and the totals.
func (rq *request) salesDaily() *apiError {
	rq.open()
	defer rq.view.Close()
	days := rq.days()
	if err := rq.q.bad.err(); err != nil {
		return err
	}
	if err := rq.narrow(); err != nil {
		return err
	}
	rq.openTotals(days)
	rq.out = append(rq.out, `,"data":[`...)
	totals := rq.view.Sales.Daily(days, rq.addRow)
	rq.out = append(append(append(rq.out, `],"totals":`...), totals...), '}')
	return nil
}

// days reads from and to; both are days of the view.
func (rq *request) days() sales.Days {
	from, to := rq.q.days(rq.view.Today(), rq.s.opts.Readings.LooseRange)
	return sales.Days{From: from, To: to}
}

func (rq *request) openTotals(days sales.Days) {
	rq.out = units.AppendDate(append(rq.out, `{"currency":"RON","from":"`...), days.From)
	rq.out = append(units.AppendDate(append(rq.out, `","to":"`...), days.To), '"')
}

// salesProducts answers what was sold of each product, in the period or by day.
func (rq *request) salesProducts() *apiError {
	rq.open()
	defer rq.view.Close()
	days := rq.days()
	groupBy := rq.q.choice("group_by", "period", "period", "day")
	if err := rq.q.bad.err(); err != nil {
		return err
	}
	if err := rq.narrow(); err != nil {
		return err
	}
	rq.openTotals(days)
	rq.out = append(append(append(rq.out, `,"group_by":"`...), groupBy...), `","data":[`...)
	rq.view.Sales.Products(days, groupBy == "day", rq.addRow)
	rq.out = append(rq.out, "]}"...)
	return nil
}
