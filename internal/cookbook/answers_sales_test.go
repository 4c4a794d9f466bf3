package cookbook

import (
	"math/big"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// answers are those to the questions of the cookbook, computed from the truth.
var answers = map[string]func(w *truth) [][]any{
	"Dividing amounts cuts the decimals off":                     decimalsCut,
	"Averages do not add up":                                     averages,
	"Refunds count on their own day":                             refundDays,
	"An hour comes twice in autumn":                              hourTwice,
	"A day's figures come twice: the service's and the mirror's": twoWords,
	"What is not known is NULL":                                  notKnown,
	"1. Net sales by day":                                        netByDay,
	"2. Net sales by week":                                       netByWeek,
	"3. Net sales by month":                                      netByMonth,
	"4. Net sales by location":                                   netByLocation,
	"5. Sales by channel and type":                               byChannelAndType,
	"6. The best hours of the week":                              bestHours,
	"7. Orders by hour and weekday":                              heatMap,
	"8. The average ticket":                                      averageTicket,
	"9. This year against last":                                  yearOverYear,
	"10. The same weekdays a year ago":                           sameWeekdays,
	"11. How long guests stay":                                   howLong,
	"12. What sells best":                                        bestProducts,
	"13. What sells worst":                                       worstProducts,
	"14. What never sells":                                       neverSold,
	"15. Which variant they take":                                variants,
	"16. Sales by category":                                      byCategory,
	"17. What extras bring":                                      extrasRevenue,
	"18. How often an extra goes along":                          attachRate,
	"19. What goes together":                                     pairs,
	"20. What sells when":                                        partsOfDay,
	"21. Discounts on whole orders":                              orderDiscounts,
	"22. Discounts on single lines":                              lineDiscounts,
	"23. Refunds by method":                                      refundsByMethod,
	"24. How late refunds come":                                  refundDelay,
	"25. Cancellations and the value lost":                       cancellations,
	"26. How guests pay":                                         paymentMix,
	"27. VAT by rate":                                            vatByRate,
	"28. SGR deposits":                                           deposits,
	"29. Delivery fees and tips":                                 feesAndTips,
	"30. Closing yesterday":                                      closing,
	"31. What is below its minimum":                              belowMinimum,
	"32. What was used most":                                     mostUsed,
	"33. How long the stock lasts":                               cover,
	"34. What came in":                                           cameIn,
	"35. What prices have changed":                               priceChanges,
	"36. What a new price did":                                   priceEffect,
	"37. What was sold out, and for how long":                    soldOut,
	"38. What can be ordered online":                             onlineNow,
	"39. The online menu a week ago":                             menuLastWeek,
	"40. What is not offered online":                             notOnline,
	"41. Which prices have changed online":                       onlinePrices,
	"42. What became of the orders":                              ordersByStatus,
	"43. How late they were ready":                               lateOrders,
	"44. Why orders were rejected":                               rejections,
	"45. Who cancelled":                                          cancelledBy,
	"46. What is ordered online":                                 soldOnline,
	"47. Which options they take":                                optionsTaken,
	"48. What happened when":                                     transitions,
	"49. How fast they are answered":                             answered,
	"50. The till beside them":                                   besideTheTill,
	"51. How soon Larder knew":                                   howSoon,
	"52. How fresh it is":                                        fresh,
	"53. Which days are proven":                                  provenDays,
	"54. What could not be understood":                           notUnderstood,
	"55. In how many dishes an allergen is":                      withAllergen,
	"56. On which days a location is closed":                     closedDays,
}

// row is a table's row.
func row(cells ...any) []any { return cells }

// sumDays adds up a figure of the service's days that are wanted.
func (w *truth) sumDays(figure func(types.SalesDay) types.Money, wanted func(day string) bool) (sum amount) {
	for day, d := range w.days {
		if wanted(day) {
			sum += bani(figure(d))
		}
	}
	return sum
}

func netOf(d types.SalesDay) types.Money { return d.NetSales }

func (w *truth) netBetween(from, before string) amount {
	return w.sumDays(netOf, func(day string) bool { return day >= from && day < before })
}

func october(day string) bool { return day[:7] == "2026-10" }

func decimalsCut(w *truth) [][]any {
	discounts := w.sumDays(func(d types.SalesDay) types.Money { return d.Discounts }, october)
	items := w.sumDays(func(d types.SalesDay) types.Money { return d.Items }, october)
	return [][]any{row(0, rounded(discounts.float()/items.float(), 4))}
}

func averages(w *truth) [][]any {
	var ofDays, net float64
	var days, orders int
	for day, d := range w.days {
		if october(day) && d.Orders > 0 {
			ofDays += rounded(bani(d.NetSales).float()/float64(d.Orders), 2)
			net += bani(d.NetSales).float()
			days, orders = days+1, orders+int(d.Orders)
		}
	}
	return [][]any{row(rounded(ofDays/float64(days), 2), rounded(net/float64(orders), 2))}
}

func refundDays(w *truth) [][]any {
	var made, of amount
	for _, o := range w.orders {
		for _, f := range o.Refunds {
			if dayOf(local(f.At)) == "2026-11-02" {
				made += bani(f.Amount)
			}
			if o.BusinessDay == "2026-11-02" {
				of += bani(f.Amount)
			}
		}
	}
	return [][]any{row(made, of)}
}

func hourTwice(*truth) [][]any {
	var rows [][]any
	for _, hour := range []int{0, 1} {
		at := time.Date(2026, 10, 25, hour, 30, 0, 0, time.UTC).In(bucharest)
		rows = append(rows, row(at.Hour(), at.Format("-0700")))
	}
	return rows
}

func twoWords(w *truth) [][]any {
	// The service was last asked when the totals of the evening were.
	asked, count := time.Time{}, 0
	for _, a := range w.seen.answers {
		if a.path == "/v1/sales/daily" && a.at().After(asked) {
			asked = a.at()
		}
	}
	for _, o := range w.orders {
		if string(o.BusinessDay) == daysAgo(0) {
			count++
		}
	}
	return [][]any{row(int(w.told[daysAgo(0)].Orders), asked.Format(instantForm), count)}
}

func netByDay(w *truth) [][]any {
	var rows [][]any
	for n := 1; n <= 7; n++ {
		day := evening.AddDate(0, 0, -n)
		d := w.days[dayOf(day)]
		net, before := bani(d.NetSales), bani(w.days[daysAgo(n+7)].NetSales)
		rows = append(rows, row(dayOf(day), day.Format("Mon"), int(d.Orders), net, before, change(net, before)))
	}
	return rows
}

func netByWeek(w *truth) [][]any {
	var rows [][]any
	monday := evening.AddDate(0, 0, -1) // the evening is a Tuesday's
	for n := 1; n <= 4; n++ {
		week := func(back int) string { return dayOf(monday.AddDate(0, 0, -7*back)) }
		net, before := w.netBetween(week(n), week(n-1)), w.netBetween(week(n+1), week(n))
		rows = append(rows, row(week(n), net, before, change(net, before)))
	}
	return rows
}

func month(back int) string {
	return dayOf(time.Date(2026, time.Month(11-back), 1, 0, 0, 0, 0, time.UTC))
}

func netByMonth(w *truth) [][]any {
	var rows [][]any
	for n := 1; n <= 3; n++ {
		net, before := w.netBetween(month(n), month(n-1)), w.netBetween(month(n+1), month(n))
		rows = append(rows, row(month(n), net, before, change(net, before)))
	}
	return rows
}

func netByLocation(w *truth) [][]any {
	var rows [][]any
	for id, l := range w.locations {
		var last, before amount
		for _, o := range w.orders {
			if day := string(o.BusinessDay); o.LocationID == id && within(day, 14) {
				if within(day, 7) {
					last += o.net
				} else {
					before += o.net
				}
			}
		}
		rows = append(rows, row(l.Name, last, before, change(last, before)))
	}
	return sorted(rows, 0, -2)
}

// tally counts orders and adds up amounts by a key.
type tally[K comparable] struct {
	count map[K]int
	sum   map[K]amount
	all   amount
}

func newTally[K comparable]() tally[K] { return tally[K]{map[K]int{}, map[K]amount{}, 0} }

func (t *tally[K]) add(key K, a amount) {
	t.count[key]++
	t.sum[key] += a
	t.all += a
}

// lately calls for each order of the last n whole days.
func (w *truth) lately(n int, yield func(o sale)) {
	for _, o := range w.orders {
		if within(o.BusinessDay, n) {
			yield(o)
		}
	}
}

func byChannelAndType(w *truth) [][]any {
	t := newTally[[2]string]()
	w.lately(28, func(o sale) { t.add([2]string{o.Channel, o.Type}, o.net) })
	var rows [][]any
	for k, net := range t.sum {
		rows = append(rows, row(k[0], k[1], t.count[k], net, percent(net, t.all)))
	}
	return sorted(rows, 0, -4)
}

// weekday counts from Monday, 1.
func weekday(at time.Time) int { return (int(at.Weekday())+6)%7 + 1 }

func bestHours(w *truth) [][]any {
	t := newTally[[2]int]()
	w.lately(28, func(o sale) { t.add([2]int{weekday(o.opened), o.opened.Hour()}, o.net) })
	var rows [][]any
	for k, net := range t.sum {
		rows = append(rows, row(k[0], k[1], t.count[k], net))
	}
	return sorted(rows, 5, -4, 1, 2)
}

func heatMap(w *truth) [][]any {
	var counts [24][8]int
	w.lately(84, func(o sale) { counts[o.opened.Hour()][weekday(o.opened)]++ })
	var rows [][]any
	for hour := 11; hour <= 22; hour++ {
		r := row(hour)
		for _, n := range counts[hour][1:] {
			r = append(r, n)
		}
		rows = append(rows, r)
	}
	return rows
}

func averageTicket(w *truth) [][]any {
	tickets, lines := map[string][]amount{}, map[string]int{}
	w.lately(28, func(o sale) {
		tickets[o.Channel] = append(tickets[o.Channel], o.net)
		lines[o.Channel] += len(o.lines)
	})
	var rows [][]any
	for channel, all := range tickets {
		sum := amount(0)
		for _, a := range all {
			sum += a
		}
		slices.Sort(all)
		n := float64(len(all))
		rows = append(rows, row(channel, len(all), rounded(sum.float()/n, 2), all[len(all)/2], rounded(float64(lines[channel])/n, 2)))
	}
	return sorted(rows, 0, -3)
}

func yearOverYear(w *truth) [][]any {
	var rows [][]any
	for m := 9; m <= 10; m++ {
		year := func(y int) amount {
			first := time.Date(y, time.Month(m), 1, 0, 0, 0, 0, time.UTC)
			return w.netBetween(dayOf(first), dayOf(first.AddDate(0, 1, 0)))
		}
		rows = append(rows, row(m, year(2025), year(2026), change(year(2026), year(2025))))
	}
	return rows
}

func sameWeekdays(w *truth) [][]any {
	now, before := w.netBetween(daysAgo(28), daysAgo(0)), w.netBetween(daysAgo(28+364), daysAgo(364))
	return [][]any{row(now, before, change(now, before))}
}

func howLong(w *truth) [][]any {
	minutes := map[string][]float64{}
	w.lately(28, func(o sale) {
		seconds := local(*o.PaidAt).Unix() - o.opened.Unix()
		minutes[o.Type] = append(minutes[o.Type], rounded(float64(seconds)/60, 1))
	})
	var rows [][]any
	for kind, all := range minutes {
		sum := 0.0
		for _, m := range all {
			sum += m
		}
		rows = append(rows, row(kind, len(all), rounded(sum/float64(len(all)), 1), slices.Max(all)))
	}
	return sorted(rows, 0, 1)
}

func add(sums map[string]*big.Rat, key string, n *big.Rat) {
	if sums[key] == nil {
		sums[key] = new(big.Rat)
	}
	sums[key].Add(sums[key], n)
}
