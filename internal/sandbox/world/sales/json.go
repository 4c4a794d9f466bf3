package sales

import (
	"strconv"

	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// append writes order n, or the tombstone of one that is no sale.
func (s *Orders) append(out []byte, n uint32, c *content) []byte {
	if !s.orders[n].counts() {
		return s.appendTombstone(out, n)
	}
	return s.appendSale(out, n, c)
}

// appendSale writes a sales order (docs/openapi.yaml, SalesOrder).
func (s *Orders) appendSale(out []byte, n uint32, c *content) []byte {
	o := &s.orders[n]
	more := s.more(n)
	if more != nil && more.raw != nil {
		return append(out, more.raw...)
	}
	s.fill(c, n)
	start := len(out) + len(`{"id":`)
	out = s.appendID(append(out, `{"id":`...), n)
	id := string(out[start+1 : len(out)-1])
	out = append(out, `,"deleted":false,"number":`...)
	out = c.appendNumber(out, n)
	out = append(append(out, `,"location_id":`...), s.Locations.All[o.loc].IDJSON...)
	out = append(append(out, `,"channel":"`...), channelNames[c.channel]...)
	out = append(append(out, `","type":"`...), typeNames[c.typ]...)
	out = append(out, `","table_id":`...)
	if c.table > 0 {
		out = append(strconv.AppendInt(append(out, `"masa-`...), int64(c.table), 10), '"')
	} else {
		out = append(out, "null"...)
	}
	out = append(units.AppendDate(append(out, `,"business_day":"`...), s.Calendar.Day(o.created)), '"')
	out = s.Precision.Append(append(out, `,"created_at":`...), o.created)
	out = s.Precision.Append(append(out, `,"updated_at":`...), o.stamp)
	paid := o.created + int64(o.paid)*units.Second
	out = s.Precision.Append(append(out, `,"paid_at":`...), paid)
	out = append(out, `,"items":[`...)
	for i := range c.lines {
		if i > 0 {
			out = append(out, ',')
		}
		out = c.lines[i].append(out, id, i+1, s.Readings.LongFloats)
	}
	out = c.appendTotals(append(out, `],"totals":`...))
	out = s.appendPayments(append(out, `,"payments":[`...), c, paid)
	out = s.appendRefunds(append(out, `],"refunds":[`...), more, id)
	return append(out, "]}"...)
}

// appendID writes the id as a JSON string.
func (s *store) appendID(out []byte, n uint32) []byte {
	if s.ids.strange {
		return units.AppendString(out, s.ID(n))
	}
	return append(s.ids.append(append(out, '"'), n, s.created), '"')
}

// appendNumber writes the number on the receipt.
func (c *content) appendNumber(out []byte, n uint32) []byte {
	if !c.number {
		return append(out, "null"...)
	}
	return append(strconv.AppendInt(append(out, `"B-`...), int64(n)+1001, 10), '"')
}

func (l *line) append(out []byte, orderID string, k int, longFloats bool) []byte {
	out = append(append(out, `{"id":"`...), orderID...)
	out = append(strconv.AppendInt(append(out, '-'), int64(k), 10), `",`...)
	out = l.appendProduct(out)
	if l.variant != nil {
		out = append(append(out, ','), l.variant.JSON...)
	} else {
		out = append(out, `,"variant_id":null,"variant_name":null`...)
	}
	kg := l.item != nil && l.item.ByWeight
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
		out = append(out, x.JSON...)
	}
	for i, x := range l.options {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, x.JSON...)
	}
	out = units.AppendBasisPoints(append(out, `],"discount_percent":`...), l.discount, longFloats)
	out = append(out, `,"vat_rate":`...)
	switch {
	case l.item == nil:
		out = units.AppendBasisPoints(out, 1100, longFloats)
	case l.item.VAT < 0:
		out = append(out, "null"...)
	default:
		out = units.AppendBasisPoints(out, l.item.VAT, longFloats)
	}
	return append(units.AppendMoney(append(out, `,"total":`...), l.total), '}')
}

// appendProduct writes product_id and name. A permanently deleted product takes
// the id of its sold lines along, without a new stamp.
func (l *line) appendProduct(out []byte) []byte {
	switch {
	case l.item == nil:
		return units.AppendString(append(out, `"product_id":null,"name":`...), l.name)
	case l.item.Product.Purged():
		return append(append(out, `"product_id":null,`...), l.item.NameJSON...)
	}
	return append(out, l.item.JSON...)
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

func (s *store) appendPayments(out []byte, c *content, paid int64) []byte {
	for i, p := range c.payments {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, `{"method":"`...), methodNames[p.method]...)
		out = units.AppendMoney(append(out, `","amount":`...), p.amount)
		out = append(s.Precision.Append(append(out, `,"at":`...), paid), '}')
	}
	return out
}

func (s *store) appendRefunds(out []byte, more *orderMore, id string) []byte {
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
		out = s.Precision.Append(out, r.at)
		if r.item > 0 {
			out = append(append(out, `,"item_id":"`...), id...)
			out = append(strconv.AppendInt(append(out, '-'), int64(r.item), 10), `"}`...)
		} else {
			out = append(out, `,"item_id":null}`...)
		}
	}
	return out
}

// appendTombstone writes an order that is no sale any more. An unpaid one
// was not removed, so it has no deleted_at.
func (s *store) appendTombstone(out []byte, n uint32) []byte {
	o := &s.orders[n]
	more := s.more(n)
	if more != nil && more.raw != nil {
		return append(out, more.raw...)
	}
	reason := o.reason()
	out = s.appendID(append(out, `{"id":`...), n)
	out = append(out, `,"deleted":true,"deleted_at":`...)
	deletedAt := int64(rows.NullStamp)
	if reason != rows.ReasonUnpaid && o.stamp != rows.NullStamp && more != nil && more.removedAt != 0 {
		deletedAt = more.removedAt
	}
	out = s.AppendInstant(out, deletedAt)
	out = s.AppendInstant(append(out, `,"updated_at":`...), o.stamp)
	return append(append(append(out, `,"reason":"`...), reason...), `"}`...)
}
