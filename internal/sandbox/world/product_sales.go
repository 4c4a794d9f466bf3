package world

import (
	"cmp"
	"slices"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// salesKey is what is summed: a product under one name, or a line name.
type salesKey struct {
	loc  uint8
	row  *row[product] // nil without a product
	name string
}

// salesSum is what was sold under one salesKey.
type salesSum struct {
	row        *row[product]
	name       string
	kg         bool
	qty        units.Milli
	gross, net units.Bani
	last       change // the newest sale, which names the product
}

// productDay is what a day sold, computed when asked for and kept until an
// order of that day changes.
type productDay struct{ sums map[salesKey]*salesSum }

// keptProductDays bounds the memory of days once asked for.
const keptProductDays = 2000

// salesOf sums the lines of a day's sales. The caller holds the lock for reading;
// productMu guards the cache among readers.
func (b *Business) salesOf(day units.Day) *productDay {
	b.productMu.Lock()
	defer b.productMu.Unlock()
	if d := b.productDays[day]; d != nil {
		return d
	}
	d := &productDay{sums: map[salesKey]*salesSum{}}
	var c content
	end := b.cal.Start(day + 1)
	for i := b.byCreated.since(b.cal.Start(day)); i < len(b.byCreated.entries) && b.byCreated.entries[i].stamp < end; i++ {
		at := b.byCreated.entries[i]
		if o := &b.orders[at.n]; o.counts() {
			b.fill(&c, at.n)
			d.addOrder(at, o.loc, &c)
		}
	}
	if len(b.productDays) >= keptProductDays {
		clear(b.productDays)
	}
	b.productDays[day] = d
	return d
}

func (d *productDay) addOrder(at change, loc uint8, c *content) {
	for i := range c.lines {
		l := &c.lines[i]
		key := salesKey{loc: loc, name: l.name}
		if l.item != nil {
			key = salesKey{loc, l.item.row, l.item.name}
		}
		s := d.sums[key]
		if s == nil {
			s = &salesSum{row: key.row, name: key.name, kg: l.item != nil && l.item.kg}
			d.sums[key] = s
		}
		s.qty += l.qty
		s.gross += l.gross
		s.net += l.total
		s.last = at
	}
}

// productSum merges days: one row per product, and one per line name for lines
// whose product is none or permanently deleted.
type productSum struct {
	b    *Business
	sums map[salesKey]*salesSum
}

func newProductSum(b *Business) *productSum {
	return &productSum{b: b, sums: map[salesKey]*salesSum{}}
}

func (p *productSum) add(d *productDay, sees func(loc int) bool) {
	for key, s := range d.sums {
		if !sees(int(key.loc)) {
			continue
		}
		k := salesKey{row: key.row}
		if key.row == nil || key.row.purged {
			k = salesKey{name: key.name}
		}
		t := p.sums[k]
		if t == nil {
			t = &salesSum{row: k.row, name: s.name, kg: s.kg, last: s.last}
			p.sums[k] = t
		}
		t.qty += s.qty
		t.gross += s.gross
		t.net += s.net
		if t.last.less(s.last) {
			t.last, t.name = s.last, s.name
		}
	}
}

// sorted is highest net first; names and ids break ties.
func (p *productSum) sorted() []*salesSum {
	rows := make([]*salesSum, 0, len(p.sums))
	for _, s := range p.sums {
		rows = append(rows, s)
	}
	slices.SortFunc(rows, func(a, b *salesSum) int {
		return cmp.Or(cmp.Compare(b.net, a.net), cmp.Compare(a.name, b.name), cmp.Compare(a.id(), b.id()))
	})
	return rows
}

func (s *salesSum) id() string {
	if s.row == nil {
		return ""
	}
	return s.row.id
}

func (s *salesSum) append(out []byte) []byte {
	category := ""
	if s.row != nil {
		category = s.row.val.category
	}
	out = units.AppendStringOrNull(append(out, `"product_id":`...), s.id())
	out = units.AppendString(append(out, `,"name":`...), s.name)
	out = units.AppendStringOrNull(append(out, `,"category_id":`...), category)
	out = units.AppendQuantity(append(out, `,"quantity":`...), s.qty, s.kg)
	if s.kg {
		out = units.AppendQuantity(append(out, `,"weight_kg":`...), s.qty, true)
	} else {
		out = append(out, `,"weight_kg":null`...)
	}
	out = units.AppendMoney(append(out, `,"gross":`...), s.gross)
	out = units.AppendMoney(append(out, `,"line_discounts":`...), s.gross-s.net)
	return units.AppendMoney(append(out, `,"net":`...), s.net)
}
