package memsink

import (
	"encoding/json"
	"math/big"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a refund counts on its day in Bucharest, on any machine

	"github.com/larder-sync/larder/sinks"
)

// sale is what an order counts for in the totals of days.
type sale struct {
	totals []share // of its own day, and one of each refund's
	lines  []share // one of each item
}

// share is what counts on one day, or for one line of it.
type share struct {
	dayLine
	amounts amounts
}

type dayLine struct{ day, line string }

// amounts are figures by name, as integers of their last decimal.
type amounts map[string]*big.Int

func (a amounts) plus(b amounts) amounts {
	if a == nil {
		a = amounts{}
	}
	for name, n := range b {
		if a[name] == nil {
			a[name] = new(big.Int)
		}
		a[name].Add(a[name], n)
	}
	return a
}

// places is how many decimals a figure is kept with.
func places(figure string) int {
	switch figure {
	case "orders", sinks.RoundedLines:
		return 0
	case "quantity", "weight_kg":
		return 10
	}
	return 2
}

func (a amounts) figures() sinks.Figures {
	texts := sinks.Figures{}
	for name, n := range a {
		if n.Sign() == 0 {
			continue
		}
		text := decimal(n, places(name))
		if places(name) > 2 {
			text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		texts[name] = text
	}
	return texts
}

// decimal is an integer of the last decimal as text.
func decimal(n *big.Int, places int) string {
	if places == 0 {
		return n.String()
	}
	digits, sign := n.String(), ""
	if n.Sign() < 0 {
		digits, sign = digits[1:], "-"
	}
	digits = strings.Repeat("0", max(0, places+1-len(digits))) + digits
	return sign + digits[:len(digits)-places] + "." + digits[len(digits)-places:]
}

// scaled is a decimal text as an integer of its last decimal.
func scaled(text string, places int) *big.Int {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > places {
		fraction = fraction[:places] + strings.TrimRight(fraction[places:], "0")
	}
	if len(fraction) > places {
		panic("too many decimals: " + text)
	}
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", places-len(fraction)), 10)
	if !ok {
		panic("no decimal: " + text)
	}
	return n
}

func money(text string) *big.Int { return scaled(text, 2) }

// scalar is a column's value.
func scalar[T any](columns map[string]json.RawMessage, name string) (value T) {
	if err := json.Unmarshal(columns[name], &value); err != nil {
		panic("column " + name + ": " + err.Error())
	}
	return value
}

type columnsOf = map[string]json.RawMessage

func newSale(day string, c columnsOf) *sale {
	own := share{dayLine: dayLine{day: day}, amounts: amounts{"orders": big.NewInt(1)}}
	for figure, column := range map[string]string{
		"net_sales": "totals_net_sales", "items": "totals_items", "discounts": "totals_discount",
		"delivery_fees": "totals_delivery_fee", "tips": "totals_tip", "deposits": "totals_deposit",
	} {
		own.amounts[figure] = money(scalar[string](c, column))
	}
	own.amounts["by_type/"+scalar[string](c, "type")] = own.amounts["net_sales"]
	own.amounts["by_channel/"+scalar[string](c, "channel")] = own.amounts["net_sales"]
	paid := scalar[[]string](c, "payments.amount")
	for i, method := range scalar[[]string](c, "payments.method") {
		own.amounts.plus(amounts{"payments/" + method: money(paid[i])})
	}
	return &sale{totals: append(refundsOf(c), own), lines: linesOf(day, c)}
}

// bucharest is the zone of every restaurant (docs/openapi.yaml, Values).
var bucharest = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("Europe/Bucharest")
	if err != nil {
		panic(err)
	}
	return zone
})

func refundsOf(c columnsOf) (refunds []share) {
	given := scalar[[]string](c, "refunds.amount")
	for i, at := range scalar[[]time.Time](c, "refunds.at") {
		day := at.In(bucharest()).Format(time.DateOnly)
		refunds = append(refunds, share{dayLine{day: day}, amounts{"refunds": money(given[i])}})
	}
	return refunds
}

// unseenRefunds are what a removed order can have been refunded on the day of its removal and
// the day before, beside its known refunds; on any day since its last known values where the service
// does not say when it was removed.
func unseenRefunds(c columnsOf, removed time.Time, said bool) (unseen []share) {
	most, known := money(scalar[string](c, "totals_total")), scalar[time.Time](c, "created_at")
	for _, r := range refundsOf(c) {
		most.Sub(most, r.amounts["refunds"])
	}
	if changed := scalar[*time.Time](c, "updated_at"); changed != nil {
		known = *changed
	}
	back, since := 1, known.In(bucharest()).Format(time.DateOnly)
	if !said {
		back = sinks.MostUnseenDays
	}
	for n := range back + 1 {
		if day := removed.AddDate(0, 0, -n).Format(time.DateOnly); most.Sign() > 0 && day >= since {
			unseen = append(unseen, share{dayLine{day: day}, amounts{sinks.UnseenRefunds: most}})
		}
	}
	return unseen
}

func linesOf(day string, c columnsOf) (lines []share) {
	ids, names := scalar[[]*string](c, "items.product_id"), scalar[[]string](c, "items.name")
	prices, extras := scalar[[]string](c, "items.unit_price"), scalar[[][]string](c, "items.extras_price")
	weights, totals := scalar[[]*string](c, "items.weight_kg"), scalar[[]string](c, "items.total")
	for i, quantity := range scalar[[]string](c, "items.quantity") {
		line := "n/" + names[i]
		if ids[i] != nil {
			line = "p/" + *ids[i]
		}
		unit := money(prices[i])
		for _, extra := range extras[i] {
			unit.Add(unit, money(extra))
		}
		a := amounts{"quantity": scaled(quantity, 10), "net": money(totals[i])}
		a["gross"] = product(a["quantity"], unit)
		a["line_discounts"] = new(big.Int).Sub(a["gross"], a["net"])
		exact := new(big.Int).Mul(a["quantity"], unit)
		if weights[i] != nil || exact.Cmp(new(big.Int).Mul(a["gross"], one)) != 0 {
			a[sinks.RoundedLines] = big.NewInt(1)
		}
		if weights[i] != nil {
			a["weight_kg"] = scaled(*weights[i], 10)
		}
		lines = append(lines, share{dayLine{day, line}, a})
	}
	return lines
}

// one is 1 as quantities are kept.
var one = big.NewInt(1e10)

// product is a quantity times a price, rounded half away from zero.
func product(quantity, unit *big.Int) *big.Int {
	n := new(big.Int).Mul(quantity, unit)
	half := new(big.Int).Quo(one, big.NewInt(2))
	if n.Sign() < 0 {
		half.Neg(half)
	}
	return n.Add(n, half).Quo(n, one)
}
