package sales

import (
	"fmt"
	"slices"

	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// Sale is what an online order is made of.
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

// onlineContent is the content of an online order: nothing of it is drawn but what is edited
// afterwards.
type onlineContent struct {
	content
	method int
}

// Online takes and moves the online orders among a restaurant's orders.
type Online struct{ orders *Orders }

// Online returns those of the orders that came online.
func (s *Orders) Online() Online { return Online{s} }

// Place opens an order, unpaid, and tells the number on its receipt.
func (o Online) Place(sale Sale, stamp int64) (id, number string, err error) {
	s := o.orders
	loc, err := s.Locations.Find(sale.LocationID)
	if err != nil {
		return "", "", fmt.Errorf("open an online order at location %q: %w", sale.LocationID, err)
	}
	c := &onlineContent{method: online}
	c.channel, c.typ, c.number, c.tip = channelDirect, slices.Index(typeNames, sale.Type), true, sale.Tip
	for i := range sale.Lines {
		c.lines = append(c.lines, sale.Lines[i].line(s.invent.catalogue.Products.Live(sale.Lines[i].ProductID)))
	}
	n := s.Open(stamp, stamp, loc)
	s.ensureMore(n).online = c
	text := c.appendNumber(nil, n)
	return s.ID(n), string(text[1 : len(text)-1]), nil
}

// Find is the order of an id; or rows.ErrNoRow. open is false once it is cancelled or deleted
// at the till.
func (o Online) Find(id string) (n uint32, open bool, err error) {
	if n, err = o.orders.Find(id); err != nil {
		return n, false, err
	}
	if more := o.orders.more(n); more == nil || more.online == nil {
		return n, false, rows.ErrNoRow
	}
	return n, o.orders.orders[n].flags&(orderCancelled|orderDeleted) == 0, nil
}

// Pay makes a sale of the order.
func (o Online) Pay(n uint32, method string, stamp int64) {
	if i := slices.Index(methodNames, method); i >= 0 {
		o.orders.extras[n].online.method = i
	}
	o.orders.Pay(n, stamp, max(stamp, o.orders.orders[n].stamp))
}

// Cancel takes the order back.
func (o Online) Cancel(n uint32, stamp int64) {
	o.orders.Cancel(n, max(stamp, o.orders.orders[n].stamp))
}

// line is the line as the till keeps it. The product may have left the catalogue since.
func (l *SaleLine) line(r *rows.Row[catalogue.Product]) line {
	out := line{name: l.Name, qty: units.Milli(l.Quantity) * 1000, unit: l.UnitPrice, deposit: l.Deposit * units.Bani(l.Quantity)}
	if l.VariantID != "" {
		out.variant = new(catalogue.NewVariant(l.VariantID, l.VariantName, 0))
	}
	for _, x := range l.Extras {
		out.options = append(out.options, new(catalogue.NewExtra(x.Name, x.Price)))
	}
	if r != nil {
		out.item = catalogue.NewItem(r)
		out.item.Deposit = l.Deposit
		out.item.Rename(l.Name)
	}
	return out
}

// fill is inventor.fill for an online order.
func (s *onlineContent) fill(c *content, f *inventor, n uint32, o *order) {
	lines, payments := c.lines[:0], c.payments[:0]
	*c = s.content
	c.lines, c.payments = append(lines, s.lines...), payments
	f.reviseAll(c, n, o)
	c.sum()
	c.payments = append(c.payments, payment{s.method, c.total})
}
