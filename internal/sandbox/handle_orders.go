package sandbox

import (
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// listOrders answers one of the two modes of /sales/orders; both at once is 422.
func listOrders(c readCall) *refusal.Refusal {
	l, at := c.listing()
	if l.Mirror {
		for _, f := range []string{"from", "to"} {
			if c.q.has(f) {
				c.q.bad.Add(f, "Use either from and to, or updated_since.")
			}
		}
	}
	var days sales.Days
	if !l.Mirror {
		days = c.days()
	}
	if at.pos.Begun && !l.Mirror { // a walk without from and to keeps its days over midnight
		days = at.days
	}
	if err := c.begin(); err != nil {
		return err
	}
	c.openList()
	if l.Mirror {
		c.page(at, func() (rows.Pos, bool) { return c.view.Sales.Mirror(l, c.addRow) })
		return nil
	}
	at.days = days
	c.page(at, func() (rows.Pos, bool) { return c.view.Sales.Range(l, days, c.addRow) })
	c.out = append(c.out[:len(c.out)-1], `,"from":"`...)
	c.out = append(units.AppendDate(c.out, days.From), `","to":"`...)
	c.out = append(units.AppendDate(c.out, days.To), `"}`...)
	return nil
}

// oneOrder is 404 for anything that is not a sale of an allowed location.
func oneOrder(c readCall) *refusal.Refusal { return c.one(c.view.Sales.One) }

// salesDaily answers one row per calendar day of the range and the totals.
func salesDaily(c readCall) *refusal.Refusal {
	days := c.days()
	if err := c.begin(); err != nil {
		return err
	}
	c.openTotals(days)
	c.write(`,"data":[`)
	totals := c.view.Sales.Daily(days, c.addRow)
	c.write(`],"totals":` + string(totals) + "}")
	return nil
}

func (c readCall) openTotals(days sales.Days) {
	c.out = units.AppendDate(append(c.out, `{"currency":"RON","from":"`...), days.From)
	c.out = append(units.AppendDate(append(c.out, `","to":"`...), days.To), '"')
}

// salesProducts answers what was sold of each product, in the period or by day.
func salesProducts(c readCall) *refusal.Refusal {
	days := c.days()
	groupBy := c.q.choice("group_by", "period", "period", "day")
	if err := c.begin(); err != nil {
		return err
	}
	c.openTotals(days)
	c.write(`,"group_by":"` + groupBy + `","data":[`)
	c.view.Sales.Products(days, groupBy == "day", c.addRow)
	c.write("]}")
	return nil
}
