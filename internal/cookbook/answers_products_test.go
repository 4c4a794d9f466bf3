package cookbook

import (
	"math/big"
	"slices"
)

// dish is a product by name, as the cookbook groups them.
type dish struct{ name, family, variant string }

type dishes struct {
	tally[dish]
	sold map[dish]*big.Rat
	with map[dish]int // lines with extras
}

func newDishes() dishes { return dishes{newTally[dish](), map[dish]*big.Rat{}, map[dish]int{}} }

func (d *dishes) sell(k dish, l saleLine, a amount) {
	d.add(k, a)
	if d.sold[k] == nil {
		d.sold[k] = new(big.Rat)
	}
	d.sold[k].Add(d.sold[k], l.quantity)
	if len(l.Extras) > 0 {
		d.with[k]++
	}
}

// lines calls for each line of the last n whole days.
func (w *truth) lines(n int, yield func(o sale, l saleLine)) {
	w.lately(n, func(o sale) {
		for _, l := range o.lines {
			yield(o, l)
		}
	})
}

// named is the product's name, or that of a line that has no product.
func (l saleLine) named() string {
	if l.ProductID != nil {
		return l.product
	}
	return l.Name
}

// orNull is a text, or nothing.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func bestProducts(w *truth) [][]any {
	d := newDishes()
	w.lines(28, func(_ sale, l saleLine) { d.sell(dish{name: l.named(), family: l.family}, l, l.net) })
	var rows [][]any
	for k, net := range d.sum {
		rows = append(rows, row(k.name, orNull(k.family), d.sold[k], net))
	}
	return sorted(rows, 5, -4, 1)
}

func worstProducts(w *truth) [][]any {
	d := newDishes()
	w.lines(28, func(_ sale, l saleLine) {
		if l.ProductID != nil {
			d.sell(dish{name: l.product, family: l.family}, l, l.net)
		}
	})
	var rows [][]any
	for k, net := range d.sum {
		rows = append(rows, row(k.name, k.family, d.sold[k], net))
	}
	return sorted(rows, 5, 4, 1)
}

func neverSold(w *truth) [][]any {
	sold := map[string]bool{}
	for _, o := range w.orders {
		for _, l := range o.lines {
			if l.ProductID != nil && string(o.BusinessDay) >= daysAgo(28) {
				sold[*l.ProductID] = true
			}
		}
	}
	var rows [][]any
	for id, p := range w.products {
		if !sold[id] {
			rows = append(rows, row(p.location, p.name, p.category, p.price, p.created))
		}
	}
	return sorted(rows, 5, 1, 2)
}

func variants(w *truth) [][]any {
	d, of := newDishes(), map[string]*big.Rat{}
	w.lines(28, func(_ sale, l saleLine) {
		if l.VariantName != nil {
			d.sell(dish{name: l.product, variant: *l.VariantName}, l, l.net)
			add(of, l.product, l.quantity)
		}
	})
	var rows [][]any
	for k, sold := range d.sold {
		part, _ := sold.Float64()
		whole, _ := of[k.name].Float64()
		rows = append(rows, row(k.name, k.variant, sold, rounded(part*100/whole, 1)))
	}
	return sorted(rows, 6, 1, -3, 2)
}

func byCategory(w *truth) [][]any {
	t := newTally[string]()
	w.lines(28, func(_ sale, l saleLine) { t.add(l.family, l.net) })
	var rows [][]any
	for family, net := range t.sum {
		rows = append(rows, row(orNull(family), net, percent(net, t.all)))
	}
	return sorted(rows, 5, -2)
}

func extrasRevenue(w *truth) [][]any {
	sold, revenue := map[string]*big.Rat{}, map[string]amount{}
	w.lines(28, func(_ sale, l saleLine) {
		for _, x := range l.Extras {
			add(sold, x.Name, l.quantity)
			revenue[x.Name] += toBani(new(big.Rat).Mul(number(x.Price), l.quantity))
		}
	})
	var rows [][]any
	for name, a := range revenue {
		rows = append(rows, row(name, sold[name], a))
	}
	return sorted(rows, 5, -3, 1)
}

func attachRate(w *truth) [][]any {
	d := newDishes()
	w.lines(28, func(_ sale, l saleLine) {
		if l.ProductID != nil && w.products[*l.ProductID].extras {
			d.sell(dish{name: l.product}, l, l.net)
		}
	})
	var rows [][]any
	for k, n := range d.count {
		rows = append(rows, row(k.name, n, d.with[k], rounded(float64(d.with[k])*100/float64(n), 1)))
	}
	return sorted(rows, 5, -4, 1)
}

func pairs(w *truth) [][]any {
	together, all := map[[2]string]int{}, 0
	for _, o := range w.orders {
		if string(o.BusinessDay) < daysAgo(84) {
			continue
		}
		all++
		var names []string
		for _, l := range o.lines {
			names = append(names, l.Name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
		for i, one := range names {
			for _, other := range names[i+1:] {
				together[[2]string{one, other}]++
			}
		}
	}
	var rows [][]any
	for p, n := range together {
		rows = append(rows, row(p[0], p[1], n, rounded(float64(n)*100/float64(all), 2)))
	}
	return sorted(rows, 5, -3, 1, 2)
}

func partsOfDay(w *truth) [][]any {
	t := newTally[[2]string]()
	w.lines(28, func(o sale, l saleLine) {
		part := "4 evening"
		switch hour := o.opened.Hour(); {
		case hour < 12:
			part = "1 morning"
		case hour < 16:
			part = "2 lunch"
		case hour < 19:
			part = "3 afternoon"
		}
		if l.family != "" {
			t.add([2]string{part, l.family}, l.net)
		}
	})
	var rows, best [][]any
	for k, net := range t.sum {
		rows = append(rows, row(k[0], k[1], net))
	}
	of := map[string]int{}
	for _, r := range sorted(rows, 0, 1, -3) {
		if part := r[0].(string); of[part] < 2 {
			of[part]++
			best = append(best, r)
		}
	}
	return best
}
