package cookbook

import (
	"cmp"
	"net/http"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/registry"
)

func orderDiscounts(w *truth) [][]any {
	discounted, discounts, items := map[string]int{}, map[string]amount{}, map[string]amount{}
	w.lately(28, func(o sale) {
		if d := bani(o.Totals.Discount); d > 0 {
			discounted[o.Channel]++
			discounts[o.Channel] += d
		}
		items[o.Channel] += bani(o.Totals.Items)
	})
	var rows [][]any
	for channel, all := range items {
		rows = append(rows, row(channel, discounted[channel], discounts[channel], rounded(discounts[channel].float()*100/all.float(), 2)))
	}
	return sorted(rows, 0, -3)
}

func lineDiscounts(w *truth) [][]any {
	t, percents := newTally[string](), map[string]float64{}
	w.lines(28, func(_ sale, l saleLine) {
		if l.discount > 0 {
			t.add(l.named(), l.discount)
			p, _ := number(l.DiscountPercent).Float64()
			percents[l.named()] += p
		}
	})
	var rows [][]any
	for name, sum := range t.sum {
		rows = append(rows, row(name, t.count[name], sum, rounded(percents[name]/float64(t.count[name]), 1)))
	}
	return sorted(rows, 5, -3, 1)
}

// refunds calls for each refund that was made in the last n whole days.
func (w *truth) refunds(n int, yield func(o sale, f types.Refund)) {
	for _, o := range w.orders {
		for _, f := range o.Refunds {
			if within(dayOf(local(f.At)), n) {
				yield(o, f)
			}
		}
	}
}

func refundsByMethod(w *truth) [][]any {
	t := newTally[string]()
	w.refunds(28, func(_ sale, f types.Refund) { t.add(f.Method, bani(f.Amount)) })
	var rows [][]any
	for method, sum := range t.sum {
		rows = append(rows, row(method, t.count[method], sum))
	}
	return sorted(rows, 0, -3)
}

func refundDelay(w *truth) [][]any {
	t := newTally[int]()
	w.refunds(84, func(o sale, f types.Refund) {
		days := 0
		for day := o.opened; dayOf(day) != dayOf(local(f.At)); day = day.AddDate(0, 0, 1) {
			days++
		}
		t.add(days, bani(f.Amount))
	})
	var rows [][]any
	for days, sum := range t.sum {
		rows = append(rows, row(days, t.count[days], sum))
	}
	return sorted(rows, 0, 1)
}

func notKnown(w *truth) [][]any {
	known, value := 0, amount(0)
	for _, gone := range w.removed {
		if gone.last != nil {
			known++
			value += bani(gone.last.Totals.NetSales)
		}
	}
	return [][]any{row(len(w.removed), known, value)}
}

func cancellations(w *truth) [][]any {
	count, unknown, value := map[string]int{}, map[string]int{}, map[string]amount{}
	for _, gone := range w.removed {
		at := gone.noticed
		if removed := cmp.Or(gone.DeletedAt, gone.UpdatedAt); removed != nil {
			at = local(*removed)
		}
		if dayOf(at) < daysAgo(28) {
			continue
		}
		count[gone.Reason]++
		if gone.last == nil {
			unknown[gone.Reason]++
		} else {
			value[gone.Reason] += bani(gone.last.Totals.NetSales)
		}
	}
	var rows [][]any
	for reason, n := range count {
		var lost any
		if unknown[reason] < n {
			lost = value[reason]
		}
		rows = append(rows, row(reason, n, unknown[reason], lost))
	}
	return sorted(rows, 0, 1)
}

func paymentMix(w *truth) [][]any {
	t := newTally[string]()
	w.lately(28, func(o sale) {
		for _, p := range o.Payments {
			t.add(p.Method, bani(p.Amount))
		}
	})
	var rows [][]any
	for method, sum := range t.sum {
		house := 0
		if method == "protocol" {
			house = 1
		}
		rows = append(rows, row(method, t.count[method], sum, percent(sum, t.all), house))
	}
	return sorted(rows, 0, -3)
}

func vatByRate(w *truth) [][]any {
	net, vat := map[string]amount{}, map[string]amount{}
	for _, o := range w.orders {
		for _, l := range o.lines {
			if !october(string(o.BusinessDay)) {
				continue
			}
			rate := "none" // after all numbers, as NULL is
			if l.vat != nil {
				rate = string(*l.VATRate)
				vat[rate] += *l.vat
			}
			net[rate] += l.net
		}
	}
	var rows [][]any
	for rate, sum := range net {
		rows = append(rows, row(rate, sum, vat[rate], sum-vat[rate]))
	}
	rows = sorted(rows, 0, 1)
	if last := len(rows) - 1; rows[last][0] == "none" {
		rows[last] = row(nil, rows[last][1], nil, nil)
	}
	return rows
}

func deposits(w *truth) [][]any {
	var rows [][]any
	for n := 3; n >= 0; n-- {
		sum := w.sumDays(func(d types.SalesDay) types.Money { return d.Deposits }, func(day string) bool { return day >= month(n) && day < month(n-1) })
		if n == 0 { // today is as the service said last
			today := daysAgo(0)
			sum += bani(w.told[today].Deposits) - bani(w.days[today].Deposits)
		}
		rows = append(rows, row(month(n), sum))
	}
	return rows
}

func feesAndTips(w *truth) [][]any {
	fees, tips, count := newTally[string](), newTally[string](), map[string]int{}
	w.lately(28, func(o sale) {
		count[o.Type]++
		fees.add(o.Type, bani(o.Totals.DeliveryFee))
		if tip := bani(o.Totals.Tip); tip > 0 {
			tips.add(o.Type, tip)
		}
	})
	var rows [][]any
	for kind, n := range count {
		rows = append(rows, row(kind, fees.sum[kind], tips.sum[kind], tips.count[kind], rounded(float64(tips.count[kind])*100/float64(n), 1)))
	}
	return sorted(rows, 0, 1)
}

func closing(w *truth) [][]any {
	var rows [][]any
	for id, l := range w.locations {
		var net, tips, held, refunded, cashBack amount
		orders, paid := 0, map[string]amount{}
		for _, o := range w.orders {
			if o.LocationID != id {
				continue
			}
			for _, f := range o.Refunds {
				if dayOf(local(f.At)) == daysAgo(1) {
					refunded += bani(f.Amount)
					if f.Method == "cash" {
						cashBack += bani(f.Amount)
					}
				}
			}
			if string(o.BusinessDay) != daysAgo(1) {
				continue
			}
			orders++
			net, tips, held = net+o.net, tips+bani(o.Totals.Tip), held+bani(o.Totals.Deposit)
			for _, p := range o.Payments {
				paid[p.Method] += bani(p.Amount)
			}
		}
		rows = append(rows, row(l.Name, orders, net, tips, held, net+tips+held-paid["protocol"], paid["cash"], paid["card"], paid["voucher"], refunded, paid["cash"]-cashBack, "proven"))
	}
	return sorted(rows, 0, 1)
}

// provenDays: the first deep run came with the first turn of comparing, the day after the
// mirror began, and asked for 92 days up to its own; a day is equal when the service's figures of it are those of its orders.
func provenDays(w *truth) [][]any {
	net, orders := map[string]amount{}, map[string]int64{}
	for _, o := range w.orders {
		day := dayOf(o.opened)
		net[day] += o.net
		orders[day]++
	}
	equal, proven := 0, 0
	filled := epoch.AddDate(0, 0, 1)
	first := dayOf(filled.AddDate(0, 0, -91))
	for day, d := range w.days {
		if day < w.firstDay || day >= daysAgo(0) {
			continue
		}
		if bani(d.NetSales) != net[day] || d.Orders != orders[day] {
			return [][]any{row("differs", day)}
		}
		if day >= first {
			proven++
		} else {
			equal++
		}
	}
	return [][]any{row("equal", equal, w.firstDay, dayOf(filled.AddDate(0, 0, -92))), row("proven", proven, first, daysAgo(1)), row("open", 1, daysAgo(0), daysAgo(0))}
}

func notUnderstood(w *truth) [][]any {
	return [][]any{row("ingredients", "stock", anything, w.spoiltSince.Format(instantForm))}
}

func fresh(w *truth) [][]any {
	newest := func(stream string) string {
		at := time.Time{}
		for _, a := range w.seen.answers {
			if a.path == "/v1"+stream && a.status == http.StatusOK {
				at = latest(at, a.body)
			}
		}
		return at.In(bucharest).Format(instantForm)
	}
	all := registry.All()
	var rows [][]any
	for _, d := range all {
		if d.Kind != registry.ListKind {
			continue
		}
		held := 0
		if d.Name == "ingredients" {
			held = 1
		}
		rows = append(rows, row(d.Name, "running", newest(d.Path), held))
	}
	return sorted(rows, 0, 1)
}
