package dashboards

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shown is what a panel shows for a choice.
func (w *warehouse) shown(t *testing.T, board, key string, c choice) answer {
	t.Helper()
	d := dashboardOf(board)
	i := slices.IndexFunc(d.panels, func(p panel) bool { return p.key == key })
	return w.ask(c.expand(t, boards(t, "ro")[board].Panels[i].Targets[0].RawSQL))
}

// value is that of a column in the only row.
func (a answer) value(t *testing.T, column string) string {
	t.Helper()
	i := slices.Index(a.columns, column)
	if i < 0 || len(a.lines) != 1 {
		t.Fatalf("%d rows of %v have no %s", len(a.lines), a.columns, column)
	}
	return a.lines[0][i]
}

// rows are the rows as text, sorted, some columns only.
func (a answer) rows(t *testing.T, columns ...string) []string {
	t.Helper()
	var all []string
	for _, line := range a.lines {
		var kept []string
		for _, c := range columns {
			i := slices.Index(a.columns, c)
			if i < 0 {
				t.Fatalf("%v have no %s", a.columns, c)
			}
			kept = append(kept, line[i])
		}
		all = append(all, strings.Join(kept, " "))
	}
	slices.Sort(all)
	return all
}

// daily asks what the service itself says of the days of the range.
func (w *warehouse) daily(view, columns, rest string) answer {
	w.t.Helper()
	return w.ask(fmt.Sprintf("SELECT %s FROM %s WHERE business_id = '%s' AND date BETWEEN '%s' AND '%s' %s", columns, view, w.restaurant,
		w.from.Format("2006-01-02"), w.to.Format("2006-01-02"), rest))
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("%s:\n%v\nthe service says\n%v", what, got, want)
	}
}

func (w *warehouse) figuresOfSales(t *testing.T) {
	c := w.mine()
	figures := []string{"net_sales", "orders", "discounts", "tips", "refunds"}
	service := w.daily("sales_daily", "sum(net_sales) AS net_sales, sum(orders) AS orders, sum(discounts) AS discounts, sum(tips) AS tips, sum(refunds) AS refunds", "")
	same(t, "the period", w.shown(t, "sales", "period", c).rows(t, figures...), service.rows(t, figures...))
	same(t, "days", w.shown(t, "sales", "daily", c).rows(t, "time", "net_sales"),
		w.daily("sales_daily", "toDateTime(date, 'Europe/Bucharest') AS time, net_sales", "AND orders > 0").rows(t, "time", "net_sales"))
	same(t, "locations", w.shown(t, "sales", "locations", c).rows(t, "location", "net_sales", "orders"),
		w.daily("sales_daily_by_location", "replaceOne(location_name, concat(business_name, ' '), '') AS location, sum(net_sales) AS net_sales, sum(orders) AS orders", "GROUP BY location").rows(t, "location", "net_sales", "orders"))
	for panel, of := range map[string][3]string{"channels": {"by_channel", "channel", "net_sales"}, "types": {"by_type", "type", "net_sales"}, "payments": {"payments", "method", "paid"}} {
		service := w.daily("sales_daily ARRAY JOIN mapKeys("+of[0]+") AS word, mapValues("+of[0]+") AS amount",
			"toString(word) AS "+of[1]+", sum(amount) AS "+of[2], "GROUP BY word HAVING sum(amount) != 0")
		same(t, panel, w.shown(t, "sales", panel, c).rows(t, of[1], of[2]), service.rows(t, of[1], of[2]))
	}
	w.todayIsToday(t)
	w.placesAddUp(t)
}

// Today's figure is the service's.
func (w *warehouse) todayIsToday(t *testing.T) {
	const service = "SELECT sum(net_sales) AS net_sales, sum(orders) AS orders FROM sales_daily WHERE business_id = '%s' AND date = toDate32(now('Europe/Bucharest'))"
	same(t, "today", w.shown(t, "sales", "today", w.mine()).rows(t, "net_sales", "orders"), w.ask(fmt.Sprintf(service, w.restaurant)).rows(t, "net_sales", "orders"))
}

// What each location shows alone adds up to what all show together.
func (w *warehouse) placesAddUp(t *testing.T) {
	places := w.texts("SELECT DISTINCT toString(location_id) FROM sales_orders WHERE business_id = '" + w.restaurant + "'")
	if len(places) != 2 {
		t.Fatalf("locations: %v", places)
	}
	for _, of := range [][3]string{{"sales", "period", "net_sales"}, {"products", "summary", "items_net"}, {"cash-up", "taken", "all_taken"}, {"cash-up", "taken", "drawer"}} {
		var alone []string
		for _, place := range places {
			c := w.mine()
			c.locations = []string{place}
			alone = append(alone, w.shown(t, of[0], of[1], c).value(t, of[2]))
		}
		together := w.shown(t, of[0], of[1], w.mine()).value(t, of[2])
		both := w.mine()
		both.locations = places
		if chosen := w.shown(t, of[0], of[1], both).value(t, of[2]); chosen != together {
			t.Errorf("%v of both locations chosen is %s, of all %s", of, chosen, together)
		}
		sum := w.texts(fmt.Sprintf("SELECT toString(toDecimal64('%s', 2) + toDecimal64('%s', 2) = toDecimal64('%s', 2))", alone[0], alone[1], together))
		if sum[0] != "true" && sum[0] != "1" {
			t.Errorf("%v: %v do not add up to %s", of, alone, together)
		}
	}
}

func (w *warehouse) figuresOfCashUp(t *testing.T) {
	c := w.mine()
	service := w.daily("sales_daily", "sum(net_sales + tips + deposits - payments['protocol']) AS all_taken, sum(tips) AS all_tips, sum(deposits) AS all_deposits, sum(refunds) AS all_refunds, sum(payments['card'] + payments['card_at_counter']) AS cards", "")
	columns := []string{"all_taken", "all_tips", "all_deposits", "all_refunds", "cards"}
	same(t, "takings", w.shown(t, "cash-up", "taken", c).rows(t, columns...), service.rows(t, columns...))
	closed := w.daily("day_close", "sum(cash_less_refunds) AS drawer", "")
	same(t, "the drawer", w.shown(t, "cash-up", "taken", c).rows(t, "drawer"), closed.rows(t, "drawer"))
	same(t, "days", w.shown(t, "cash-up", "each_day", c).rows(t, "date", "all_taken"),
		w.daily("sales_daily", "date, net_sales + tips + deposits - payments['protocol'] AS all_taken", "AND (orders > 0 OR refunds > 0)").rows(t, "date", "all_taken"))
	same(t, "locations", w.shown(t, "cash-up", "places", c).rows(t, "location", "all_taken"),
		w.daily("sales_daily_by_location", "replaceOne(location_name, concat(business_name, ' '), '') AS location, sum(net_sales + tips + deposits - payments['protocol']) AS all_taken", "GROUP BY location").rows(t, "location", "all_taken"))
	w.besideTheService(t, c)
	yesterday := c
	yesterday.from, yesterday.to = c.to.AddDate(0, 0, -2), c.to.AddDate(0, 0, -1)
	if v := w.shown(t, "cash-up", "proof", yesterday).value(t, "verdict"); v != "proven" && v != "healed" {
		t.Errorf("yesterday is %s", v)
	}
	if v := w.shown(t, "cash-up", "proof", c).value(t, "verdict"); v != "open" {
		t.Errorf("a period with today is %s", v)
	}
}

// Each figure stands beside the service's, and of closed days they do not differ.
func (w *warehouse) besideTheService(t *testing.T, c choice) {
	for _, places := range [][]string{nil, w.texts("SELECT DISTINCT toString(location_id) FROM sales_orders WHERE business_id = '" + w.restaurant + "'")} {
		c.locations = places
		a := w.shown(t, "cash-up", "beside", c)
		if len(a.lines) < len(closeFigures)+3 {
			t.Errorf("only %v", a.lines)
		}
		net := w.daily("sales_daily", "'net_sales' AS figure, sum(net_sales) AS service", "").rows(t, "figure", "service")
		if !slices.Contains(a.rows(t, "figure", "mirrored"), net[0]) {
			t.Errorf("%v is not among %v", net, a.lines)
		}
		if places == nil {
			same(t, "beside the service", a.rows(t, "figure", "mirrored"), a.rows(t, "figure", "service"))
		} else if said := a.rows(t, "service"); said[0] != "null" || said[len(said)-1] != "null" {
			t.Errorf("the service's figures of single locations stand beside a day that is open: %v", said)
		}
		if d := a.rows(t, "difference"); d[len(d)-1] != "null" {
			t.Errorf("a day that is open shows a difference: %v", d)
		}
		closed := c
		closed.to = c.to.AddDate(0, 0, -1)
		over := w.shown(t, "cash-up", "beside", closed)
		same(t, "days that are over beside the service", over.rows(t, "figure", "mirrored"), over.rows(t, "figure", "service"))
		for _, d := range over.rows(t, "difference") {
			if d != "0" {
				t.Errorf("days that are over show a difference of %s", d)
			}
		}
	}
}

// The panels of products add up lines before they join names: they show what the lines
// with their names, one by one, add up to.
func (w *warehouse) figuresOfProducts(t *testing.T) {
	c := w.mine()
	of := func(view string) string {
		return fmt.Sprintf(" FROM %s WHERE business_id = '%s' AND business_day BETWEEN '%s' AND '%s' ", view, w.restaurant, w.from.Format("2006-01-02"), w.to.Format("2006-01-02"))
	}
	const soldOf = "coalesce(product_name, name)"
	for panel, plain := range map[string]struct{ columns, sql string }{
		"summary":    {"items_net pieces_sold different", "SELECT sum(net) AS items_net, sumIf(quantity, NOT is_weighed) AS pieces_sold, uniqExact(" + soldOf + ") AS different" + of("sales_items")},
		"categories": {"category net_sales", "SELECT ifNull(category_name, '–') AS category, sum(net) AS net_sales" + of("sales_items") + "GROUP BY category ORDER BY net_sales DESC LIMIT 12"},
		"best": {"product quantity net_sales", "SELECT concat(" + soldOf + ", if(any(is_weighed), ' (kg)', '')) AS product, sum(if(is_weighed, weight_kg, quantity)) AS quantity, sum(net) AS net_sales" +
			of("sales_items") + "GROUP BY " + soldOf + " ORDER BY net_sales DESC, product LIMIT 20"},
		"matrix": {"product times net_sales", "SELECT " + soldOf + " AS product, count() AS times, sum(net) AS net_sales" + of("sales_items") +
			"AND product_id IS NOT NULL GROUP BY product ORDER BY net_sales DESC, product LIMIT 100"},
		"variants": {"product quantity net_sales", "SELECT concat(" + soldOf + ", ' · ', variant_name) AS product, sum(sales_items.quantity) AS quantity, sum(net) AS net_sales" +
			of("sales_items") + "AND variant_name IS NOT NULL GROUP BY product"},
		"extras": {"extra times amount", "SELECT name AS extra, sum(item_quantity) AS times, sum(sales_item_extras.amount) AS amount" +
			of("sales_item_extras") + "GROUP BY extra ORDER BY 3 DESC, extra LIMIT 30"},
	} {
		columns := strings.Fields(plain.columns)
		same(t, panel, w.shown(t, "products", panel, c).rows(t, columns...), w.ask(plain.sql).rows(t, columns...))
	}
	w.attachRates(t, c, of)
}

// An extra's rate is the lines that have it, once or more often, of the lines of the
// products that it was ever sold with.
func (w *warehouse) attachRates(t *testing.T, c choice, of func(view string) string) {
	t.Helper()
	lines := map[string]float64{}
	for _, l := range w.ask("SELECT assumeNotNull(product_id), count() AS lines" + of("sales_items") + "AND product_id IS NOT NULL GROUP BY product_id").lines {
		lines[l[0]] = float(t, l[1])
	}
	with, all := map[string]float64{}, map[string]float64{}
	for _, l := range w.ask("SELECT name, assumeNotNull(product_id), uniqExact(order_id, item_position)" + of("sales_item_extras") + "AND product_id IS NOT NULL GROUP BY name, product_id").lines {
		with[l[0]], all[l[0]] = with[l[0]]+float(t, l[2]), all[l[0]]+lines[l[1]]
	}
	for _, row := range w.shown(t, "products", "extras", c).lines {
		if want, got := 100*with[row[0]]/all[row[0]], float(t, row[3]); math.Abs(want-got) > 1e-9 {
			t.Errorf("%s was added to %v %% of the lines, %v are shown", row[0], want, got)
		}
	}
}

func float(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
