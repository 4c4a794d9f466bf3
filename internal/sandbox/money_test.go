package sandbox

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/url"
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/larder-sync/larder/internal/api/types"
)

// rat is the exact value of a decimal string.
func rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("not a number: %q", s)
	}
	return r
}

// halfUp is the two decimals of a value, rounded half up.
func halfUp(v *big.Rat) string {
	c := new(big.Rat).Add(new(big.Rat).Mul(v, big.NewRat(100, 1)), big.NewRat(1, 2))
	n := new(big.Int).Div(c.Num(), c.Denom()) // Euclidean: down, for a positive divisor
	return new(big.Rat).SetFrac(n, big.NewInt(100)).FloatString(2)
}

func sum(t testing.TB, values ...any) *big.Rat {
	total := new(big.Rat)
	for i := 0; i < len(values); i += 2 {
		v := rat(t, fmt.Sprint(values[i+1]))
		if values[i] == "-" {
			v.Neg(v)
		}
		total.Add(total, v)
	}
	return total
}

// docs/openapi.yaml, Sales: a line is its units less its discount, and its extras; net_sales is
// the total without tip and deposits. Both are computed again here, in rationals.
func TestMoneyOfOrders(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 4000})
	seen := map[string]int{}
	for _, row := range h.walk("/sales/orders?limit=200&from=2026-01-01&to=2026-03-20") {
		o := strict[types.SalesOrder](t, row)
		items := new(big.Rat)
		for _, l := range o.Items {
			q, one := rat(t, string(l.Quantity)), big.NewRat(1, 1)
			keep := one.Sub(one, new(big.Rat).Quo(rat(t, l.DiscountPercent.String()), big.NewRat(100, 1)))
			total := new(big.Rat).Mul(new(big.Rat).Mul(q, rat(t, string(l.UnitPrice))), keep)
			for _, x := range l.Extras {
				total.Add(total, new(big.Rat).Mul(q, rat(t, string(x.Price))))
				seen["extra"]++
			}
			if halfUp(total) != string(l.Total) {
				t.Fatalf("line total %s, want %s: %s", l.Total, halfUp(total), row)
			}
			items.Add(items, rat(t, string(l.Total)))
			note(seen, l)
		}
		m := o.Totals
		net := sum(t, "+", m.Total, "-", m.Tip, "-", m.Deposit)
		for what, pair := range map[string][2]*big.Rat{
			"items":     {items, rat(t, string(m.Items))},
			"net_sales": {net, rat(t, string(m.NetSales))},
			"net again": {sum(t, "+", m.Items, "-", m.Discount, "+", m.DeliveryFee), net},
		} {
			if pair[0].Cmp(pair[1]) != 0 {
				t.Fatalf("%s: %s and %s: %s", what, pair[0].FloatString(2), pair[1].FloatString(2), row)
			}
		}
		paid := new(big.Rat)
		for _, p := range o.Payments {
			paid.Add(paid, rat(t, string(p.Amount)))
		}
		if paid.Cmp(rat(t, string(m.Total))) != 0 {
			t.Fatalf("payments add up to %s: %s", paid.FloatString(2), row)
		}
		seen[o.Channel]++
		seen[o.Type]++
		if len(o.Refunds) > 0 {
			seen["refund"]++
		}
		if m.Deposit != "0.00" {
			seen["deposit"]++
		}
	}
	for _, what := range []string{"extra", "weighed", "discount", "variant", "no product", "refund", "deposit", "pos", "platform_a", "platform_b", "direct", "dine_in", "takeaway", "delivery"} {
		if seen[what] == 0 {
			t.Errorf("no order with %s: %v", what, seen)
		}
	}
}

func note(seen map[string]int, l types.SalesItem) {
	if l.WeightKg != nil {
		seen["weighed"]++
	}
	if l.DiscountPercent != "0" {
		seen["discount"]++
	}
	if l.VariantID != nil {
		seen["variant"]++
	}
	if l.ProductID == nil {
		seen["no product"]++
	}
}

// The service's totals equal what the orders listed add up to, after any
// changes, per day and location, with refunds on their own Bucharest day.
func TestDailyTotalsAreTheSumOfTheOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("one request after the other: no goroutines of ours meet")
	}
	rapid.Check(t, func(rt *rapid.T) {
		// around either change of clock, or a plain week
		epochs := []time.Time{
			time.Date(2026, 3, 29, 4, 30, 0, 0, time.UTC), time.Date(2026, 10, 25, 3, 30, 0, 0, time.UTC), testEpoch,
		}
		h := newHarness(t, Options{
			NoLimits: true, Orders: 150, Days: 5, ProductsPer: 40, Seed: rapid.Int64().Draw(rt, "seed"),
			Epoch:    rapid.SampledFrom(epochs).Draw(rt, "epoch"),
			Readings: Readings{NewMapKeys: rapid.Bool().Draw(rt, "new keys")},
		})
		g := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "mutations"), 0))
		for range rapid.IntRange(0, 60).Draw(rt, "count") {
			if _, err := h.Restaurant(0).Mutate(g, true); err != nil {
				rt.Fatal(err)
			}
			h.clock = h.clock.Add(time.Duration(g.IntN(3600)) * time.Second)
		}
		h.checkTotals(rt, "")
		for _, id := range h.Restaurant(0).LocationIDs() {
			h.checkTotals(rt, "&location_id="+url.QueryEscape(id))
		}
	})
}

// checkTotals adds up the orders listed and compares both aggregates.
func (h *harness) checkTotals(t rapid.TB, filter string) {
	zone, err := time.LoadLocation("Europe/Bucharest")
	if err != nil {
		t.Fatal(err)
	}
	today := h.clock.In(zone).Format(time.DateOnly)
	first := h.clock.In(zone).AddDate(0, 0, -20).Format(time.DateOnly)
	span := "?from=" + first + "&to=" + today + filter
	days := map[string]map[string]*big.Rat{}
	products := map[string]map[string]*big.Rat{}
	add := func(in map[string]map[string]*big.Rat, day, figure, amount string) {
		if in[day] == nil {
			in[day] = map[string]*big.Rat{}
		}
		if in[day][figure] == nil {
			in[day][figure] = new(big.Rat)
		}
		in[day][figure].Add(in[day][figure], rat(h.t, amount))
	}
	// Refunds of the first days may be of orders opened before them.
	before := h.clock.In(zone).AddDate(0, 0, -40).Format(time.DateOnly)
	for _, row := range h.walk("/sales/orders?from=" + before + "&to=" + today + filter + "&limit=200") {
		o := strict[types.SalesOrder](h.t, row)
		day := string(o.BusinessDay)
		if want := bucharestDay(h.t, zone, o.CreatedAt); want != day {
			t.Fatalf("business day %s of %s, want %s", day, o.CreatedAt, want)
		}
		m := o.Totals
		for figure, v := range map[string]types.Money{"items": m.Items, "discounts": m.Discount, "delivery_fees": m.DeliveryFee, "tips": m.Tip, "deposits": m.Deposit,
			"net_sales": m.NetSales, "type " + o.Type: m.NetSales, "channel " + o.Channel: m.NetSales, "orders": "1"} {
			add(days, day, figure, string(v))
		}
		for _, p := range o.Payments {
			add(days, day, "payment "+p.Method, string(p.Amount))
		}
		for _, r := range o.Refunds {
			add(days, bucharestDay(h.t, zone, r.At), "refunds", string(r.Amount))
		}
		for _, l := range o.Items {
			if day < first {
				break
			}
			key := "name " + l.Name
			if l.ProductID != nil {
				key = "id " + *l.ProductID
			}
			add(products, key, "net", string(l.Total))
			add(products, key, "quantity", string(l.Quantity))
		}
	}
	h.compareDays(t, days, ok[dailySales](h, "/sales/daily"+span))
	h.compareProducts(t, products, ok[productSales](h, "/sales/products"+span))
}

func bucharestDay(t testing.TB, zone *time.Location, at types.Instant) string {
	when, err := time.Parse(time.RFC3339, string(at))
	if err != nil {
		t.Fatal(err)
	}
	return when.In(zone).Format(time.DateOnly)
}

func (h *harness) compareDays(t rapid.TB, want map[string]map[string]*big.Rat, got dailySales) {
	if len(got.Data) != 21 {
		t.Fatalf("%d days", len(got.Data))
	}
	totals := map[string]*big.Rat{}
	for i, row := range got.Data {
		d := strict[types.SalesDay](h.t, row)
		figures := figuresOf(h.t, d.Breakdown)
		for name, v := range figures {
			expected := want[string(d.Date)][name]
			if expected == nil {
				expected = new(big.Rat)
			}
			if v.Cmp(expected) != 0 {
				t.Fatalf("day %d %s: %s is %s, the orders say %s", i, d.Date, name, v.FloatString(2), expected.FloatString(2))
			}
			if totals[name] == nil {
				totals[name] = new(big.Rat)
			}
			totals[name].Add(totals[name], v)
		}
		for name := range want[string(d.Date)] {
			if figures[name] == nil {
				t.Fatalf("%s: no %s in the totals", d.Date, name)
			}
		}
	}
	for name, v := range figuresOf(h.t, got.Totals) {
		if v.Cmp(totals[name]) != 0 {
			t.Fatalf("totals: %s is %s, the days say %s", name, v.FloatString(2), totals[name].FloatString(2))
		}
	}
}

func figuresOf(t testing.TB, b types.Breakdown) map[string]*big.Rat {
	out := map[string]*big.Rat{"orders": rat(t, fmt.Sprint(b.Orders))}
	for name, v := range map[string]types.Money{"net_sales": b.NetSales, "items": b.Items, "discounts": b.Discounts, "delivery_fees": b.DeliveryFees, "tips": b.Tips, "deposits": b.Deposits, "refunds": b.Refunds} {
		out[name] = rat(t, string(v))
	}
	for prefix, m := range map[string]map[string]types.Money{"payment ": b.Payments, "type ": b.ByType, "channel ": b.ByChannel} {
		for k, v := range m {
			out[prefix+k] = rat(t, string(v))
		}
	}
	return out
}

func (h *harness) compareProducts(t rapid.TB, want map[string]map[string]*big.Rat, got productSales) {
	if len(got.Data) != len(want) {
		t.Fatalf("%d products, the orders have %d", len(got.Data), len(want))
	}
	var nets []float64
	for _, row := range got.Data {
		p := strict[types.ProductSales](h.t, row)
		key := "name " + p.Name
		if p.ProductID != nil {
			key = "id " + *p.ProductID
		}
		w := want[key]
		if w == nil || rat(h.t, string(p.Net)).Cmp(w["net"]) != 0 || rat(h.t, string(p.Quantity)).Cmp(w["quantity"]) != 0 {
			t.Fatalf("%s: %s, the orders say %v", key, row, w)
		}
		if sum(h.t, "+", p.Gross, "-", p.LineDiscounts).Cmp(rat(h.t, string(p.Net))) != 0 {
			t.Fatalf("gross - line_discounts is not net: %s", row)
		}
		f, _ := rat(h.t, string(p.Net)).Float64()
		nets = append(nets, -f)
	}
	if !sort.Float64sAreSorted(nets) {
		t.Fatal("not highest net first")
	}
}
