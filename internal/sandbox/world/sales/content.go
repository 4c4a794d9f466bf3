package sales

import (
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
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
	item     *catalogue.Item // nil for a line without a product
	name     string          // of a line without a product
	variant  *catalogue.ItemVariant
	qty      units.Milli
	unit     units.Bani
	extras   [3]*catalogue.ItemExtra
	options  []*catalogue.ItemExtra // of an online order, which may have many
	discount int                    // basis points
	deposit  units.Bani
	exact    int64 // gross before it is rounded, in thousandths of a ban
	gross    units.Bani
	total    units.Bani
}

type payment struct {
	method int
	amount units.Bani
}

// The values of the API's description, and one each that it does not know (Readings.NewMapKeys).
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

// price computes a line: quantity x unit_price x (1 - discount) + extras x
// quantity, rounded half up once.
func (l *line) price() {
	extras := units.Bani(0)
	for _, x := range l.extras {
		if x != nil {
			extras += x.Price
		}
	}
	for _, x := range l.options {
		extras += x.Price
	}
	q := int64(l.qty)
	l.exact = q * int64(l.unit+extras)
	l.gross = roundHalfUp(l.exact, 1000)
	l.total = roundHalfUp(q*(int64(l.unit)*int64(10000-l.discount)+int64(extras)*10000), 1000*10000)
	if l.item != nil {
		l.deposit = l.item.Deposit * units.Bani(l.qty/1000)
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

// unmappedLines are names of lines without a product: free text at the till, and
// platform lines that the restaurant has not mapped.
var unmappedLines = []string{"Diverse bucătărie", "Meniul zilei", "Taxă ambalaj", "Meniu Family Box", "Promo 1+1 pizza", "Porție specială"}
