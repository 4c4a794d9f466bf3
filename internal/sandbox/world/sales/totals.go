package sales

import (
	"strconv"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// dayTotals are the sales of one day in one location (docs/openapi.yaml, Breakdown), kept up with
// every change of an order. This is the sandbox's own path: nothing of it is shared with what
// reconciles.
type dayTotals struct {
	orders                                          int64
	items, discounts, fees, tips, deposits, refunds units.Bani
	payments                                        [8]units.Bani
	byType                                          [4]units.Bani
	byChannel                                       [5]units.Bani
}

type dayPlace struct {
	day units.Day
	loc uint8
}

func (t *dayTotals) netSales() units.Bani { return t.items - t.discounts + t.fees }

func (t *dayTotals) add(u *dayTotals) {
	t.orders += u.orders
	t.items += u.items
	t.discounts += u.discounts
	t.fees += u.fees
	t.tips += u.tips
	t.deposits += u.deposits
	t.refunds += u.refunds
	for i, m := range u.payments {
		t.payments[i] += m
	}
	for i, m := range u.byType {
		t.byType[i] += m
	}
	for i, m := range u.byChannel {
		t.byChannel[i] += m
	}
}

// totals are those of all days and locations.
type totals map[dayPlace]*dayTotals

// count adds a sale to the day it was opened on (sign 1) or takes it out (-1). Refunds are on
// the days they were made.
func (t totals) count(day units.Day, loc uint8, c *content, sign int64) {
	d := t.of(day, loc)
	m := units.Bani(sign)
	d.orders += sign
	d.items += m * c.items
	d.discounts += m * c.discount
	d.fees += m * c.fee
	d.tips += m * c.tip
	d.deposits += m * c.deposit
	for _, p := range c.payments {
		d.payments[p.method] += m * p.amount
	}
	d.byType[c.typ] += m * c.netSales()
	d.byChannel[c.channel] += m * c.netSales()
}

func (t totals) of(day units.Day, loc uint8) *dayTotals {
	place := dayPlace{day, loc}
	d := t[place]
	if d == nil {
		d = &dayTotals{}
		t[place] = d
	}
	return d
}

// sum adds up the first so many locations, of them those that the reader sees.
func (t totals) sum(day units.Day, locations int, sees func(loc int) bool) dayTotals {
	var sum dayTotals
	for loc := range locations {
		if !sees(loc) {
			continue
		}
		if d := t[dayPlace{day, uint8(loc)}]; d != nil {
			sum.add(d)
		}
	}
	return sum
}

// append writes the fields of a breakdown, without braces; newKeys are what the API's description does not
// know.
func (t *dayTotals) append(out []byte, newKeys bool) []byte {
	out = append(out, `"orders":`...)
	out = strconv.AppendInt(out, t.orders, 10)
	out = units.AppendMoney(append(out, `,"net_sales":`...), t.netSales())
	out = units.AppendMoney(append(out, `,"items":`...), t.items)
	out = units.AppendMoney(append(out, `,"discounts":`...), t.discounts)
	out = units.AppendMoney(append(out, `,"delivery_fees":`...), t.fees)
	out = units.AppendMoney(append(out, `,"tips":`...), t.tips)
	out = units.AppendMoney(append(out, `,"deposits":`...), t.deposits)
	out = units.AppendMoney(append(out, `,"refunds":`...), t.refunds)
	drop := 1
	if newKeys {
		drop = 0
	}
	out = appendMoneyMap(append(out, `,"payments":`...), methodNames[:len(methodNames)-drop], t.payments[:])
	out = appendMoneyMap(append(out, `,"by_type":`...), typeNames[:len(typeNames)-drop], t.byType[:])
	return appendMoneyMap(append(out, `,"by_channel":`...), channelNames[:len(channelNames)-drop], t.byChannel[:])
}

func appendMoneyMap(out []byte, names []string, values []units.Bani) []byte {
	for i, name := range names {
		if i == 0 {
			out = append(out, '{')
		} else {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), name...), `":`...)
		out = units.AppendMoney(out, values[i])
	}
	return append(out, '}')
}
