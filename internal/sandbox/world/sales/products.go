package sales

import (
	"cmp"
	"slices"
	"sync"

	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// salesKey is what is summed: a product under one name, or a line name.
type salesKey struct {
	loc  uint8
	row  *rows.Row[catalogue.Product] // nil without a product
	name string
}

// salesSum is what was sold under one salesKey.
type salesSum struct {
	row   *rows.Row[catalogue.Product]
	name  string
	kg    bool
	qty   units.Milli
	exact int64 // gross in thousandths of a ban
	net   units.Bani
	last  rows.Change // the newest sale, which names the product
}

// productDay is what a day sold.
type productDay map[salesKey]*salesSum

// productDays are computed when asked for and kept until an order of the day changes.
type productDays struct {
	mu   sync.Mutex // guards kept among readers
	kept map[units.Day]productDay
}

// keptProductDays bounds the memory of days once asked for.
const keptProductDays = 2000

func (p *productDays) forget(day units.Day) { delete(p.kept, day) }

// of is what a day sold, which sum computes.
func (p *productDays) of(day units.Day, sum func() productDay) productDay {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.kept[day]
	if d == nil {
		d = sum()
		if len(p.kept) >= keptProductDays {
			clear(p.kept)
		}
		p.kept[day] = d
	}
	return d
}

// add adds the lines of an order; the gross of each is rounded, unless that is left to the sum.
func (d productDay) add(at rows.Change, loc uint8, c *content, roundSum bool) {
	for i := range c.lines {
		l := &c.lines[i]
		key := salesKey{loc: loc, name: l.name}
		if l.item != nil {
			key = salesKey{loc, l.item.Product, l.item.Name}
		}
		s := d[key]
		if s == nil {
			s = &salesSum{row: key.row, name: key.name, kg: l.item != nil && l.item.ByWeight}
			d[key] = s
		}
		s.qty += l.qty
		if roundSum {
			s.exact += l.exact
		} else {
			s.exact += int64(l.gross) * 1000
		}
		s.net += l.total
		s.last = at
	}
}

// productSum merges days: one row per product, and one per line name for lines
// whose product is none or permanently deleted.
type productSum map[salesKey]*salesSum

func (p productSum) add(d productDay, sees func(loc int) bool) {
	for key, s := range d {
		if !sees(int(key.loc)) {
			continue
		}
		k := salesKey{row: key.row}
		if key.row == nil || key.row.Purged() {
			k = salesKey{name: key.name}
		}
		t := p[k]
		if t == nil {
			t = &salesSum{row: k.row, name: s.name, kg: s.kg, last: s.last}
			p[k] = t
		}
		t.qty += s.qty
		t.exact += s.exact
		t.net += s.net
		if t.last.Compare(s.last) < 0 {
			t.last, t.name = s.last, s.name
		}
	}
}

// sorted is highest net first; names and ids break ties.
func (p productSum) sorted() []*salesSum {
	rows := make([]*salesSum, 0, len(p))
	for _, s := range p {
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
	return s.row.ID
}

func (s *salesSum) append(out []byte) []byte {
	category := ""
	if s.row != nil {
		category = s.row.Val.Category
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
	gross := roundHalfUp(s.exact, 1000)
	out = units.AppendMoney(append(out, `,"gross":`...), gross)
	out = units.AppendMoney(append(out, `,"line_discounts":`...), gross-s.net)
	return units.AppendMoney(append(out, `,"net":`...), s.net)
}

func (p productSum) emit(date []byte, emit rows.Emit) {
	for _, s := range p.sorted() {
		emit(func(out []byte) []byte {
			out = append(out, '{')
			if date != nil {
				out = append(append(append(out, `"date":"`...), date...), `",`...)
			}
			return append(s.append(out), '}')
		})
	}
}
