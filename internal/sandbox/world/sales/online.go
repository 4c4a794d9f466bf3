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

// PlaceOnline opens an online order, unpaid, and tells the number on its receipt.
func (s *Orders) PlaceOnline(sale Sale, stamp int64) (id, number string, err error) {
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

// FindOnline is an online order; or rows.ErrNoRow. open is false once it is
// cancelled or deleted at the till.
func (s *Orders) FindOnline(id string) (n uint32, open bool, err error) {
	if n, err = s.Find(id); err != nil {
		return n, false, err
	}
	if more := s.more(n); more == nil || more.online == nil {
		return n, false, rows.ErrNoRow
	}
	return n, s.orders[n].flags&(orderCancelled|orderDeleted) == 0, nil
}

// PayOnline makes a sale of an online order.
func (s *Orders) PayOnline(n uint32, method string, stamp int64) {
	if i := slices.Index(methodNames, method); i >= 0 {
		s.extras[n].online.method = i
	}
	s.Pay(n, stamp, max(stamp, s.orders[n].stamp))
}

// CancelOnline takes back an online order.
func (s *Orders) CancelOnline(n uint32, stamp int64) { s.Cancel(n, max(stamp, s.orders[n].stamp)) }

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
