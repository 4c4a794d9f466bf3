package world

import (
	"fmt"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Till is where a restaurant's online orders ring: each is an order of the restaurant,
// open until it is paid. Its changes happen at the instant given, which is no later than
// the restaurant's own and no earlier than its last; so the caller moves it there first.
type Till struct{ b *Business }

// Till is that of restaurant i, from 0.
func (w *World) Till(i int) Till { return Till{w.businesses[i]} }

// Sale is what an order from outside the till is made of.
type Sale struct {
	LocationID string
	Type       string // takeaway or delivery
	Lines      []SaleLine
	Tip        units.Bani
}

// SaleLine is one line, with the prices of one unit.
type SaleLine struct {
	ProductID, Name        string
	VariantID, VariantName string // "" for none
	Quantity               int
	UnitPrice, Deposit     units.Bani
	Extras                 []SaleExtra
}

// SaleExtra is an extra of a line, for each unit of the product.
type SaleExtra struct {
	Name  string
	Price units.Bani
}

// soldContent is the content of a sale that came from outside the till: nothing of it is
// drawn but what is edited afterwards.
type soldContent struct {
	content
	method int
}

// Open rings an order, unpaid, and tells its id and the number on its receipt.
func (t Till) Open(s Sale, at int64) (id, number string, err error) {
	b := t.b
	b.mu.Lock()
	defer b.mu.Unlock()
	loc, ok := b.locationOf(s.LocationID)
	if !ok {
		return "", "", fmt.Errorf("open an online order at location %q: %w", s.LocationID, errNoLocation)
	}
	c := &soldContent{method: online}
	c.channel, c.typ, c.number, c.tip = channelDirect, indexOf(typeNames, s.Type), true, s.Tip
	for i := range s.Lines {
		c.lines = append(c.lines, s.Lines[i].line(b.products.live(s.Lines[i].ProductID)))
	}
	stamp := b.trunc(at)
	n := b.openOrder(stamp, stamp, loc, nil)
	b.ensureMore(n).sold = c
	text := c.appendNumber(nil, n)
	return b.orderID(n), string(text[1 : len(text)-1]), nil
}

// Pay makes a sale of the order, and draws what it sold from the stock.
func (t Till) Pay(id, method string, at int64) error {
	return t.change("pay", id, at, func(n uint32, stamp int64) {
		if i := indexOf(methodNames, method); i >= 0 {
			t.b.extras[n].sold.method = i
		}
		t.b.payOrder(n, stamp, max(stamp, t.b.orders[n].stamp))
		t.b.consume(n, stamp)
	})
}

// Cancel takes the order back: it is no sale, or none any more.
func (t Till) Cancel(id string, at int64) error {
	return t.change("cancel", id, at, func(n uint32, stamp int64) {
		t.b.changeOrder(n, max(stamp, t.b.orders[n].stamp), func(o *order) { o.flags |= orderCancelled })
	})
}

// change leaves alone what is cancelled or deleted at the till already.
func (t Till) change(what, id string, at int64, f func(n uint32, stamp int64)) error {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	n, ok := t.b.findOrder(id)
	if !ok || t.b.more(n) == nil || t.b.more(n).sold == nil {
		return fmt.Errorf("%s online order %q: %w", what, id, errNoRow)
	}
	if t.b.orders[n].flags&(orderCancelled|orderDeleted) == 0 {
		f(n, t.b.trunc(at))
	}
	return nil
}

// line is the line as the till keeps it. The product may have left the catalogue since.
func (l *SaleLine) line(r *row[product]) line {
	out := line{name: l.Name, qty: units.Milli(l.Quantity) * 1000, unit: l.UnitPrice, deposit: l.Deposit * units.Bani(l.Quantity)}
	if l.VariantID != "" {
		j := units.AppendString([]byte(`"variant_id":`), l.VariantID)
		out.variant = &menuVariant{json: units.AppendString(append(j, `,"variant_name":`...), l.VariantName)}
	}
	for _, x := range l.Extras {
		j := units.AppendString([]byte(`{"name":`), x.Name)
		j = append(units.AppendMoney(append(j, `,"price":`...), x.Price), '}')
		out.options = append(out.options, &menuExtra{json: j, price: x.Price})
	}
	if r == nil {
		return out
	}
	out.item = newMenuItem(r)
	out.item.name, out.item.deposit = l.Name, l.Deposit
	out.item.nameJSON = units.AppendString([]byte(`"name":`), l.Name)
	out.item.json = append(append(units.AppendString([]byte(`"product_id":`), r.id), ','), out.item.nameJSON...)
	return out
}

// fill is Business.fill for an order from outside the till.
func (s *soldContent) fill(c *content, b *Business, n uint32) {
	lines, payments := c.lines[:0], c.payments[:0]
	*c = s.content
	c.lines, c.payments = append(lines, s.lines...), payments
	o := &b.orders[n]
	menu := b.menus[o.menu].locations[o.origin]
	for rev := max(1, int(o.rev)-2); rev <= int(o.rev); rev++ {
		b.revise(c, n, rev, menu)
	}
	c.sum()
	c.payments = append(c.payments, payment{s.method, c.total})
}
