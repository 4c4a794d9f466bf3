package sales

import (
	"slices"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
)

// inventor computes what orders are made of: from the seed, the number of the order and its
// revision alone, so that it is the same whenever it is asked for.
type inventor struct {
	seed      uint64
	newKeys   bool
	catalogue *catalogue.Catalogue
}

// fill computes an order's content.
func (f *inventor) fill(c *content, n uint32, o *order, m *orderMore) {
	var spec OrderSpec
	switch {
	case m != nil && m.online != nil:
		m.online.fill(c, f, n, o)
		return
	case m != nil && m.spec != nil:
		spec = *m.spec
	}
	g := seeded.New(f.seed, uint64(n))
	*c = content{lines: c.lines[:0], payments: c.payments[:0]}
	f.head(c, &g, &spec)
	count := 1 + g.N(4)
	if g.Chance(300) {
		count += g.N(5)
	}
	if spec.Items > 0 {
		count = spec.Items
	}
	menu := f.catalogue.Menu(o.menu, o.origin)
	for range count {
		c.addLine(&g, menu)
	}
	c.fillExtras(&g)
	f.reviseAll(c, n, o)
	c.sum()
	c.pay(&g, f.newKeys)
}

// head decides channel, type, table and number.
func (f *inventor) head(c *content, g *seeded.RNG, spec *OrderSpec) {
	c.channel = g.Pick([]int{70, 12, 8, 10})
	if f.newKeys && g.Chance(30) {
		c.channel = channelNew
	}
	if i := slices.Index(channelNames, spec.Channel); i >= 0 {
		c.channel = i
	}
	switch c.channel {
	case channelPOS:
		c.typ = g.Pick([]int{80, 15, 5})
	case channelDirect:
		c.typ = g.Pick([]int{0, 45, 55})
	default:
		c.typ = g.Pick([]int{0, 8, 92})
	}
	if f.newKeys && g.Chance(30) {
		c.typ = catering
	}
	if i := slices.Index(typeNames, spec.Type); i >= 0 {
		c.typ = i
	}
	if c.typ == dineIn {
		c.table = 1 + g.N(30)
	}
	c.number = c.channel == channelPOS || !g.Chance(300)
}

// addLine sells one product; those at the front of the menu sell best.
func (c *content) addLine(g *seeded.RNG, menu []*catalogue.Item) {
	unmapped := 8
	if c.channel != channelPOS && c.channel != channelDirect {
		unmapped = 30
	}
	l := line{qty: 1000 * units.Milli(1+g.Pick([]int{75, 18, 5, 2}))}
	if len(menu) == 0 || g.Chance(unmapped) {
		l.name = unmappedLines[g.N(len(unmappedLines))]
		l.unit = units.Bani(g.Between(10, 60)) * 100
	} else if p := pickProduct(g, menu, c.channel); p != nil {
		l.draw(g, p, c.channel)
	} else {
		l.name, l.unit = unmappedLines[0], 2500
	}
	c.lines = append(c.lines, l)
}

// draw sells a product as a channel offers it.
func (l *line) draw(g *seeded.RNG, p *catalogue.Item, channel int) {
	l.item = p
	l.unit = p.Prices[channel]
	switch {
	case p.ByWeight:
		l.qty = units.Milli(g.Between(120, 900))
	case len(p.Variants) > 0:
		l.variant = &p.Variants[g.N(len(p.Variants))]
		l.unit += l.variant.Delta
	}
	if len(p.Extras) > 0 && g.Chance(350) {
		for i := range 1 + g.N(2) {
			l.extras[i] = &p.Extras[g.N(len(p.Extras))]
		}
	}
	if g.Chance(30) {
		l.discount = []int{1000, 1250, 2500, 5000, 10000}[g.N(5)]
	}
}

// pickProduct prefers the front of the menu and takes what the channel offers;
// nil when nothing of that kind turns up.
func pickProduct(g *seeded.RNG, menu []*catalogue.Item, channel int) *catalogue.Item {
	for range 5 {
		u := g.Float()
		if p := menu[int(u*u*float64(len(menu)))]; p.Offered[channel] {
			return p
		}
	}
	return nil
}

// fillExtras decides discount, fee and tip.
func (c *content) fillExtras(g *seeded.RNG) {
	c.sum()
	if g.Chance(40) {
		c.discount = c.items * units.Bani(5*g.Between(1, 6)) / 100
	}
	if c.typ == delivery && (c.channel == channelDirect || c.channel == channelPOS) {
		c.fee = []units.Bani{0, 999, 1200, 1500}[g.N(4)]
	}
	if c.channel == channelPOS && c.typ == dineIn && g.Chance(250) {
		c.tip = c.items * units.Bani(g.Between(5, 12)) / 100 / 50 * 50
	}
}

// reviseAll applies the edits made at the till after payment; of many the last ones.
func (f *inventor) reviseAll(c *content, n uint32, o *order) {
	menu := f.catalogue.Menu(o.menu, o.origin)
	for rev := max(1, int(o.rev)-2); rev <= int(o.rev); rev++ {
		g := seeded.New(f.seed, uint64(n), uint64(rev))
		c.revise(&g, menu)
	}
}

// revise applies one edit.
func (c *content) revise(g *seeded.RNG, menu []*catalogue.Item) {
	switch g.N(4) {
	case 0:
		c.tip += 100 * units.Bani(1+g.N(20))
	case 1:
		c.addLine(g, menu)
	case 2:
		c.lines[g.N(len(c.lines))].discount = 500 * (1 + g.N(10))
	default:
		c.lines[g.N(len(c.lines))].qty += 1000
	}
	if len(c.lines) > 1 && g.Chance(200) {
		c.lines = c.lines[:len(c.lines)-1]
	}
}

// pay splits the total over payments; the split adds up to it.
func (c *content) pay(g *seeded.RNG, newKeys bool) {
	method := online
	switch c.channel {
	case channelPOS:
		method = []int{cash, card, voucher, protocol, other}[g.Pick([]int{380, 560, 40, 10, 10})]
	case channelDirect:
		method = []int{online, cardAtCounter, cash}[g.Pick([]int{60, 15, 25})]
	}
	if newKeys && g.Chance(40) {
		method = mealTicket
	}
	if c.channel == channelPOS && c.total > 2000 && g.Chance(50) {
		part := c.total / units.Bani(g.Between(2, 4))
		c.payments = append(c.payments, payment{voucher, part}, payment{method, c.total - part})
		return
	}
	c.payments = append(c.payments, payment{method, c.total})
}
