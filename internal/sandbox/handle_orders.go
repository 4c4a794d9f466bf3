package sandbox

import (
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// listOrders answers one of the two modes of /sales/orders; both at once is 422.
func (rq *request) listOrders() *apiError {
	q := rq.q
	l := rows.Listing{Limit: rq.pageRows()}
	l.Since, l.Mirror = q.instant("updated_since")
	l.Tombstones, _ = q.flag("include_deleted")
	at := rq.cursor()
	l.After = at.pos
	if l.Mirror {
		for _, f := range []string{"from", "to"} {
			if q.has(f) {
				q.bad.add(f, "Use either from and to, or updated_since.")
			}
		}
	}
	rq.open()
	defer rq.view.Close()
	var days sales.Days
	if !l.Mirror {
		days = rq.days()
	}
	if at.pos.Begun && !l.Mirror { // a walk without from and to keeps its days over midnight
		days = at.days
	}
	if err := q.bad.err(); err != nil {
		return err
	}
	if err := rq.narrow(); err != nil {
		return err
	}
	rq.openPage()
	if l.Mirror {
		end, more := rq.view.Sales.Mirror(l, rq.addRow)
		rq.closePage(place{pos: end}, more)
		return nil
	}
	end, more := rq.view.Sales.Range(l, days, rq.addRow)
	rq.closePage(place{pos: end, days: days}, more)
	rq.out = append(rq.out[:len(rq.out)-1], `,"from":"`...)
	rq.out = append(units.AppendDate(rq.out, days.From), `","to":"`...)
	rq.out = append(units.AppendDate(rq.out, days.To), `"}`...)
	return nil
}

// oneOrder is 404 for anything that is not a sale of an allowed location.
func (rq *request) oneOrder() *apiError {
	return rq.one(func(v *world.View, id string) ([]byte, bool) { return v.Sales.One(id) })
}
