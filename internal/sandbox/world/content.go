package world

import (
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// content is an order in full. One is reused for many orders.
type content struct {
	channel, typ int
	table        int // 0 for none
	number       bool
	lines        []line
	payments     []payment

	items, discount, fee, tip, deposit, total units.Bani
}

func (c *content) netSales() units.Bani { return c.total - c.tip - c.deposit }

// line is one item of an order.
type line struct {
	item     *menuItem // nil for a line without a product
	name     string    // of a line without a product
	variant  *menuVariant
	qty      units.Milli
	unit     units.Bani
	extras   [3]*menuExtra
	options  []*menuExtra // of an online order, which may have many
	discount int          // basis points
	deposit  units.Bani
	gross    units.Bani
	total    units.Bani
}

type payment struct {
	method int
	amount units.Bani
}

// The values of api.md, and one each that it does not know (Readings.NewMapKeys).
var (
	channelNames = []string{"pos", "platform_a", "platform_b", "direct", "platform_c"}
	typeNames    = []string{"dine_in", "takeaway", "delivery", "catering"}
	methodNames  = []string{"cash", "card", "card_at_counter", "online", "voucher", "protocol", "other", "meal_ticket"}
)

const (
	channelPOS = iota
	channelA
	channelB
	channelDirect
	channelNew
)

const (
	dineIn = iota
	takeaway
	delivery
	catering
)

const (
	cash = iota
	card
	cardAtCounter
	online
	voucher
	protocol
	other
	mealTicket
)

// fill computes the order's content from seed, number and revision alone, so
// that it is the same whenever it is asked for.
func (b *Business) fill(c *content, n uint32) {
	o := &b.orders[n]
	var spec OrderSpec
	switch m := b.more(n); {
	case m != nil && m.sold != nil:
		m.sold.fill(c, b, n)
		return
	case m != nil && m.spec != nil:
		spec = *m.spec
	}
	g := seeded.New(b.contentSeed, uint64(n))
	*c = content{lines: c.lines[:0], payments: c.payments[:0]}
	b.fillHead(c, &g, &spec)
	count := 1 + g.N(4)
	if g.Chance(300) {
		count += g.N(5)
	}
	if spec.Items > 0 {
		count = spec.Items
	}
	menu := b.menus[o.menu].locations[o.origin]
	for range count {
		b.addLine(c, &g, menu)
	}
	c.fillExtras(&g)
	for rev := max(1, int(o.rev)-2); rev <= int(o.rev); rev++ {
		b.revise(c, n, rev, menu)
	}
	c.sum()
	c.pay(&g, b.readings.NewMapKeys)
}

func (b *Business) fillHead(c *content, g *seeded.RNG, spec *OrderSpec) {
	c.channel = g.Pick([]int{70, 12, 8, 10})
	if b.readings.NewMapKeys && g.Chance(30) {
		c.channel = channelNew
	}
	if i := indexOf(channelNames, spec.Channel); i >= 0 {
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
	if b.readings.NewMapKeys && g.Chance(30) {
		c.typ = catering
	}
	if i := indexOf(typeNames, spec.Type); i >= 0 {
		c.typ = i
	}
	if c.typ == dineIn {
		c.table = 1 + g.N(30)
	}
	c.number = c.channel == channelPOS || !g.Chance(300)
}

// addLine sells one product; those at the front of the menu sell best.
func (b *Business) addLine(c *content, g *seeded.RNG, menu []*menuItem) {
	unmapped := 8
	if c.channel != channelPOS && c.channel != channelDirect {
		unmapped = 30
	}
	l := line{qty: 1000 * units.Milli(1+g.Pick([]int{75, 18, 5, 2}))}
	if len(menu) == 0 || g.Chance(unmapped) {
		l.name = unmappedLines[g.N(len(unmappedLines))]
		l.unit = units.Bani(g.Between(10, 60)) * 100
		c.lines = append(c.lines, l)
		return
	}
	p := pickProduct(g, menu, c.channel)
	if p == nil {
		l.name = unmappedLines[0]
		l.unit = 2500
		c.lines = append(c.lines, l)
		return
	}
	l.item = p
	l.unit = p.prices[c.channel]
	switch {
	case p.kg:
		l.qty = units.Milli(g.Between(120, 900))
	case len(p.variants) > 0:
		l.variant = &p.variants[g.N(len(p.variants))]
		l.unit += l.variant.delta
	}
	if len(p.extras) > 0 && g.Chance(350) {
		for i := range 1 + g.N(2) {
			l.extras[i] = &p.extras[g.N(len(p.extras))]
		}
	}
	if g.Chance(30) {
		l.discount = []int{1000, 1250, 2500, 5000, 10000}[g.N(5)]
	}
	l.deposit = p.deposit * units.Bani(l.qty/1000)
	c.lines = append(c.lines, l)
}

// pickProduct prefers the front of the menu and takes what the channel offers;
// nil when nothing of that kind turns up.
func pickProduct(g *seeded.RNG, menu []*menuItem, channel int) *menuItem {
	for range 5 {
		u := g.Float()
		if p := menu[int(u*u*float64(len(menu)))]; p.offered[channel] {
			return p
		}
	}
	return nil
}

// fillExtras decides discount, fee and tip.
func (c *content) fillExtras(g *seeded.RNG) {
	items := units.Bani(0)
	for i := range c.lines {
		c.lines[i].price()
		items += c.lines[i].total
	}
	if g.Chance(40) {
		c.discount = items * units.Bani(5*g.Between(1, 6)) / 100
	}
	if c.typ == delivery && (c.channel == channelDirect || c.channel == channelPOS) {
		c.fee = []units.Bani{0, 999, 1200, 1500}[g.N(4)]
	}
	if c.channel == channelPOS && c.typ == dineIn && g.Chance(250) {
		c.tip = items * units.Bani(g.Between(5, 12)) / 100 / 50 * 50
	}
}

// revise applies one edit made at the till after payment.
func (b *Business) revise(c *content, n uint32, rev int, menu []*menuItem) {
	g := seeded.New(b.contentSeed, uint64(n), uint64(rev))
	switch g.N(4) {
	case 0:
		c.tip += 100 * units.Bani(1+g.N(20))
	case 1:
		b.addLine(c, &g, menu)
	case 2:
		c.lines[g.N(len(c.lines))].discount = 500 * (1 + g.N(10))
	default:
		c.lines[g.N(len(c.lines))].qty += 1000
	}
	if len(c.lines) > 1 && g.Chance(200) {
		c.lines = c.lines[:len(c.lines)-1]
	}
}

// price computes a line: quantity x unit_price x (1 - discount) + extras x
// quantity, rounded half up once.
func (l *line) price() {
	extras := units.Bani(0)
	for _, x := range l.extras {
		if x != nil {
			extras += x.price
		}
	}
	for _, x := range l.options {
		extras += x.price
	}
	q := int64(l.qty)
	l.gross = roundHalfUp(q*int64(l.unit+extras), 1000)
	l.total = roundHalfUp(q*(int64(l.unit)*int64(10000-l.discount)+int64(extras)*10000), 1000*10000)
	if l.item != nil {
		l.deposit = l.item.deposit * units.Bani(l.qty/1000)
	}
}

func roundHalfUp(n, d int64) units.Bani { return units.Bani(units.FloorDiv(2*n+d, 2*d)) }

// sum computes the totals: total = items - discount + delivery_fee + tip +
// deposit.
func (c *content) sum() {
	c.items, c.deposit = 0, 0
	for i := range c.lines {
		c.lines[i].price()
		c.items += c.lines[i].total
		c.deposit += c.lines[i].deposit
	}
	c.discount = min(c.discount, c.items)
	c.total = c.items - c.discount + c.fee + c.tip + c.deposit
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

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}
