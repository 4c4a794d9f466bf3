package world

import (
	"strconv"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// appendOrder writes a sales order (api.md, "Sales order").
func (b *Business) appendOrder(out []byte, n uint32, c *content) []byte {
	o := &b.orders[n]
	more := b.more(n)
	if more != nil && more.raw != nil {
		return append(out, more.raw...)
	}
	b.fill(c, n)
	start := len(out) + len(`{"id":`)
	out = b.appendOrderID(append(out, `{"id":`...), n)
	id := string(out[start+1 : len(out)-1])
	out = append(out, `,"deleted":false,"number":`...)
	out = c.appendNumber(out, n)
	out = append(append(out, `,"location_id":`...), b.locations[o.loc].idJSON...)
	out = append(append(out, `,"channel":"`...), channelNames[c.channel]...)
	out = append(append(out, `","type":"`...), typeNames[c.typ]...)
	out = append(out, `","table_id":`...)
	if c.table > 0 {
		out = append(strconv.AppendInt(append(out, `"masa-`...), int64(c.table), 10), '"')
	} else {
		out = append(out, "null"...)
	}
	out = append(units.AppendDate(append(out, `,"business_day":"`...), b.cal.Day(o.created)), '"')
	out = units.AppendInstant(append(out, `,"created_at":`...), o.created, b.decimals)
	out = units.AppendInstant(append(out, `,"updated_at":`...), o.stamp, b.decimals)
	paid := o.created + int64(o.paid)*units.Second
	out = units.AppendInstant(append(out, `,"paid_at":`...), paid, b.decimals)
	out = append(out, `,"items":[`...)
	for i := range c.lines {
		if i > 0 {
			out = append(out, ',')
		}
		out = c.lines[i].append(out, id, i+1)
	}
	out = c.appendTotals(append(out, `],"totals":`...))
	out = b.appendPayments(append(out, `,"payments":[`...), c, paid)
	out = b.appendRefunds(append(out, `],"refunds":[`...), more, id)
	return append(out, "]}"...)
}

// appendOrderID writes the id as a JSON string.
func (b *Business) appendOrderID(out []byte, n uint32) []byte {
	if b.orderIDs.strange {
		return units.AppendString(out, b.orderID(n))
	}
	return append(b.orderIDs.append(append(out, '"'), n, b.created), '"')
}

// appendNumber writes the number on the receipt.
func (c *content) appendNumber(out []byte, n uint32) []byte {
	if !c.number {
		return append(out, "null"...)
	}
	return append(strconv.AppendInt(append(out, `"B-`...), int64(n)+1001, 10), '"')
}

func (l *line) append(out []byte, orderID string, k int) []byte {
	out = append(append(out, `{"id":"`...), orderID...)
	out = append(strconv.AppendInt(append(out, '-'), int64(k), 10), `",`...)
	out = l.appendProduct(out)
	if l.variant != nil {
		out = append(append(out, ','), l.variant.json...)
	} else {
		out = append(out, `,"variant_id":null,"variant_name":null`...)
	}
	kg := l.item != nil && l.item.kg
	out = units.AppendQuantity(append(out, `,"quantity":`...), l.qty, kg)
	if kg {
		out = units.AppendQuantity(append(out, `,"weight_kg":`...), l.qty, true)
		out = units.AppendMoney(append(out, `,"price_per_kg":`...), l.unit)
	} else {
		out = append(out, `,"weight_kg":null,"price_per_kg":null`...)
	}
	out = units.AppendMoney(append(out, `,"unit_price":`...), l.unit)
	out = append(out, `,"extras":[`...)
	for i, x := range l.extras {
		if x == nil {
			break
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, x.json...)
	}
	for i, x := range l.options {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, x.json...)
	}
	out = units.AppendBasisPoints(append(out, `],"discount_percent":`...), l.discount)
	out = append(out, `,"vat_rate":`...)
	if l.item != nil {
		out = append(out, l.item.vatJSON...)
	} else {
		out = append(out, "11"...)
	}
	return append(units.AppendMoney(append(out, `,"total":`...), l.total), '}')
}

// appendProduct writes product_id and name. A permanently deleted product takes
// the id of its sold lines along, without a new stamp.
func (l *line) appendProduct(out []byte) []byte {
	switch {
	case l.item == nil:
		return units.AppendString(append(out, `"product_id":null,"name":`...), l.name)
	case l.item.row.purged:
		return append(append(out, `"product_id":null,`...), l.item.nameJSON...)
	}
	return append(out, l.item.json...)
}

func (c *content) appendTotals(out []byte) []byte {
	out = units.AppendMoney(append(out, `{"items":`...), c.items)
	out = units.AppendMoney(append(out, `,"discount":`...), c.discount)
	out = units.AppendMoney(append(out, `,"delivery_fee":`...), c.fee)
	out = units.AppendMoney(append(out, `,"tip":`...), c.tip)
	out = units.AppendMoney(append(out, `,"deposit":`...), c.deposit)
	out = units.AppendMoney(append(out, `,"total":`...), c.total)
	return append(units.AppendMoney(append(out, `,"net_sales":`...), c.netSales()), '}')
}

func (b *Business) appendPayments(out []byte, c *content, paid int64) []byte {
	for i, p := range c.payments {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, `{"method":"`...), methodNames[p.method]...)
		out = units.AppendMoney(append(out, `","amount":`...), p.amount)
		out = append(units.AppendInstant(append(out, `,"at":`...), paid, b.decimals), '}')
	}
	return out
}

func (b *Business) appendRefunds(out []byte, more *orderMore, id string) []byte {
	if more == nil {
		return out
	}
	for i, r := range more.refunds {
		if i > 0 {
			out = append(out, ',')
		}
		method := "card"
		if r.cash {
			method = "cash"
		}
		out = units.AppendMoney(append(out, `{"amount":`...), r.amount)
		out = append(append(append(out, `,"method":"`...), method...), `","at":`...)
		out = units.AppendInstant(out, r.at, b.decimals)
		if r.item > 0 {
			out = append(append(out, `,"item_id":"`...), id...)
			out = append(strconv.AppendInt(append(out, '-'), int64(r.item), 10), `"}`...)
		} else {
			out = append(out, `,"item_id":null}`...)
		}
	}
	return out
}

// appendOrderTombstone writes an order that is no sale any more. An unpaid one
// was not removed, so it has no deleted_at.
func (b *Business) appendOrderTombstone(out []byte, n uint32) []byte {
	o := &b.orders[n]
	more := b.more(n)
	if more != nil && more.raw != nil {
		return append(out, more.raw...)
	}
	reason := o.reason()
	out = b.appendOrderID(append(out, `{"id":`...), n)
	out = append(out, `,"deleted":true,"deleted_at":`...)
	deletedAt := int64(nullStamp)
	if reason != ReasonUnpaid && o.stamp != nullStamp && more != nil && more.removedAt != 0 {
		deletedAt = more.removedAt
	}
	out = b.appendInstantOrNull(out, deletedAt)
	out = b.appendInstantOrNull(append(out, `,"updated_at":`...), o.stamp)
	return append(append(append(out, `,"reason":"`...), reason...), `"}`...)
}

func (b *Business) appendInstantOrNull(out []byte, us int64) []byte {
	if us == nullStamp {
		return append(out, "null"...)
	}
	return units.AppendInstant(out, us, b.decimals)
}
