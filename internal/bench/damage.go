package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// harmKind is a mistake that can be made with orders of a day in the warehouse.
type harmKind struct {
	name   string
	orders string // query of the ids; %s is the day
	most   int    // orders at once; 0 for all of the day
	change string // of their columns; empty: they are removed. %s is another day
}

const (
	soldOrders     = "SELECT id FROM larder_raw.sales_orders FINAL WHERE business_day = toDate32('%s') ORDER BY cityHash64(id)"
	refundedOrders = "SELECT id FROM larder_raw.sales_orders FINAL WHERE has(arrayMap(at -> toDate32(toTimeZone(at, 'Europe/Bucharest')), `refunds.at`), toDate32('%s')) ORDER BY cityHash64(id)"
	removedOrders  = "SELECT id FROM larder_raw.sales_orders WHERE business_day = toDate32('%s') AND location_id != '' GROUP BY id HAVING argMax(_deleted, _version) = 1 ORDER BY cityHash64(id)"
)

var harmKinds = []harmKind{
	{"rows removed", soldOrders, 3, ""},
	{"a day removed", soldOrders, 0, ""},
	{"a figure altered", soldOrders, 1, "toDecimal64('1234.56', 2) AS totals_tip"},
	{"payments altered", soldOrders, 2, "arrayMap(paid -> toDecimal64('0.01', 2), `payments.amount`) AS `payments.amount`"},
	{"lines altered", soldOrders, 2, "arrayMap(total -> toDecimal64('0.01', 2), `items.total`) AS `items.total`"},
	{"buried by mistake", soldOrders, 3, "1 AS _deleted, 'deleted' AS _delete_reason"},
	{"un-deleted", removedOrders, 2, "0 AS _deleted, '' AS _delete_reason"},
	{"doubled", soldOrders, 2, "concat(id, ' copy') AS id"},
	{"moved to another day", soldOrders, 1, "toDate32('%s') AS business_day"},
	{"moved to another location", soldOrders, 1, "if(location_id = (SELECT min(location_id) FROM larder_raw.sales_orders WHERE location_id != ''), (SELECT max(location_id) FROM larder_raw.sales_orders), (SELECT min(location_id) FROM larder_raw.sales_orders WHERE location_id != '')) AS location_id"},
	{"refunds lost", refundedOrders, 1, "[] AS `refunds.amount`, [] AS `refunds.method`, [] AS `refunds.at`, [] AS `refunds.item_id`"},
	{"refunds altered", refundedOrders, 1, "arrayMap(given -> toDecimal64('0.01', 2), `refunds.amount`) AS `refunds.amount`"},
}

// harm is what was done to a day.
type harm struct {
	kind   string
	day    string
	days   []string // all whose figures may differ for it
	orders int
}

// vandal damages the orders of days, each of which is damaged once.
type vandal struct {
	conn driver.Conn
	g    *rand.Rand
	days []string // not damaged yet, in an order by chance
}

func newVandal(ctx context.Context, conn driver.Conn, g *rand.Rand) (*vandal, error) {
	days, err := texts(ctx, conn, "SELECT DISTINCT toString(business_day) FROM larder_raw.sales_orders FINAL ORDER BY 1")
	if err != nil {
		return nil, err
	}
	g.Shuffle(len(days), func(i, j int) { days[i], days[j] = days[j], days[i] })
	return &vandal{conn, g, days}, nil
}

// harm damages the first of the days left that has something for the kind.
func (v *vandal) harm(ctx context.Context, kind harmKind) (harm, error) {
	for i, day := range v.days {
		ids, err := texts(ctx, v.conn, fmt.Sprintf(kind.orders, day))
		if err != nil {
			return harm{}, err
		}
		if len(ids) == 0 {
			continue
		}
		if kind.most > 0 {
			ids = ids[:min(len(ids), 1+v.g.IntN(kind.most))]
		}
		v.days = append(v.days[:i:i], v.days[i+1:]...)
		h := harm{kind: kind.name, day: day, orders: len(ids)}
		return h, v.do(ctx, kind, &h, "'"+strings.Join(ids, "', '")+"'")
	}
	return harm{}, fmt.Errorf("no day is left for %q", kind.name)
}

func (v *vandal) do(ctx context.Context, kind harmKind, h *harm, ids string) error {
	var err error
	h.days, err = texts(ctx, v.conn, "SELECT DISTINCT toString(arrayJoin(arrayConcat([business_day], arrayMap(at -> toDate32(toTimeZone(at, 'Europe/Bucharest')), `refunds.at`)))) FROM larder_raw.sales_orders WHERE id IN ("+ids+")")
	if err != nil {
		return err
	}
	if kind.change == "" {
		return v.conn.Exec(ctx, "DELETE FROM larder_raw.sales_orders WHERE id IN ("+ids+")")
	}
	change := kind.change
	if strings.Contains(change, "%s") {
		other := v.days[0]
		v.days = v.days[1:]
		change, h.days = fmt.Sprintf(change, other), append(h.days, other)
	}
	return v.conn.Exec(ctx, "INSERT INTO larder_raw.sales_orders SELECT * REPLACE (_version + 1 AS _version, "+change+
		") FROM (SELECT * FROM larder_raw.sales_orders WHERE id IN ("+ids+") ORDER BY _version DESC LIMIT 1 BY id)")
}

// texts are the rows of a query with one column.
func texts(ctx context.Context, conn driver.Conn, sql string) ([]string, error) {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
