package world

import "github.com/larder-sync/larder/internal/sandbox/units"

// dayTotals are the sales of one day in one location (api.md, "Sales
// breakdown"), kept up with every change of an order. This is the sandbox's own
// path: nothing of it is shared with what reconciles.
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

// countOrder adds a sale to its day (sign 1) or takes it out (-1): the order on
// the Bucharest day it was opened, each refund on the day it was made.
func (b *Business) countOrder(n uint32, sign int64) {
	o := &b.orders[n]
	c := &b.scratch
	b.fill(c, n)
	day := b.cal.Day(o.created)
	t := b.totals(day, o.loc)
	m := units.Bani(sign)
	t.orders += sign
	t.items += m * c.items
	t.discounts += m * c.discount
	t.fees += m * c.fee
	t.tips += m * c.tip
	t.deposits += m * c.deposit
	for _, p := range c.payments {
		t.payments[p.method] += m * p.amount
	}
	t.byType[c.typ] += m * c.netSales()
	t.byChannel[c.channel] += m * c.netSales()
	if more := b.more(n); more != nil {
		for _, r := range more.refunds {
			b.totals(b.cal.Day(r.at), o.loc).refunds += m * r.amount
		}
	}
	delete(b.productDays, day)
}

func (b *Business) totals(day units.Day, loc uint8) *dayTotals {
	place := dayPlace{day, loc}
	t := b.days[place]
	if t == nil {
		t = &dayTotals{}
		b.days[place] = t
	}
	return t
}

// sumDay adds up the locations that the reader sees.
func (b *Business) sumDay(day units.Day, sees func(loc int) bool) dayTotals {
	var sum dayTotals
	for loc := range b.locations {
		if !sees(loc) {
			continue
		}
		if t := b.days[dayPlace{day, uint8(loc)}]; t != nil {
			sum.add(t)
		}
	}
	return sum
}

// appendBreakdown writes the fields of a breakdown, without braces.
func (b *Business) appendBreakdown(out []byte, t *dayTotals) []byte {
	out = append(out, `"orders":`...)
	out = units.AppendInt(out, t.orders)
	out = units.AppendMoney(append(out, `,"net_sales":`...), t.netSales())
	out = units.AppendMoney(append(out, `,"items":`...), t.items)
	out = units.AppendMoney(append(out, `,"discounts":`...), t.discounts)
	out = units.AppendMoney(append(out, `,"delivery_fees":`...), t.fees)
	out = units.AppendMoney(append(out, `,"tips":`...), t.tips)
	out = units.AppendMoney(append(out, `,"deposits":`...), t.deposits)
	out = units.AppendMoney(append(out, `,"refunds":`...), t.refunds)
	drop := 1
	if b.readings.NewMapKeys {
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
