package sandbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// Whatever is sent, the ordering routes answer it: never a 500, never a panic, and what they
// take adds up.
func TestRandomBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("one request after the other: no goroutines of ours meet")
	}
	for _, readings := range []Readings{{}, {StrangeIDs: true, StampPrecision: time.Second}} {
		s := newShop(t, Options{NoLimits: true, ProductsPer: 130, Readings: readings})
		g := rand.New(rand.NewPCG(7, 7))
		answers := map[int]int{}
		for range 4000 {
			s.clock = s.clock.Add(time.Duration(g.IntN(30_000)) * time.Millisecond)
			if s.clock.Hour() > 16 {
				s.clock = s.clock.Add(17 * time.Hour)
			}
			a := s.send("POST", s.key, "/orders", s.scrambled(g))
			answers[a.status]++
			if !slices.Contains([]int{200, 201, 400, 403, 409, 422}, a.status) {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if a.status == 201 {
				s.adds(s.created(a))
			}
			if g.IntN(10) == 0 {
				s.poke(g, answers)
			}
		}
		for _, status := range []int{200, 201, 400, 409, 422} {
			if answers[status] == 0 {
				t.Errorf("no answer %d: %v", status, answers)
			}
		}
	}
}

// scrambled is an order of which some values are others, or the bytes.
func (s *shop) scrambled(g *rand.Rand) string {
	body := s.order("items", s.someItems(g))
	if g.IntN(12) == 0 {
		body["external_id"] = fmt.Sprintf("web-%d", 1+g.IntN(s.n))
	}
	for range g.IntN(3) {
		s.spoil(g, body)
	}
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	for range g.IntN(8) / 6 * 3 {
		text[g.IntN(len(text))] = byte(g.IntN(256))
	}
	return string(text)
}

func (s *shop) someItems(g *rand.Rand) []any {
	var items []any
	for range 1 + g.IntN(4) {
		c := s.menu.Categories[g.IntN(len(s.menu.Categories))]
		p := c.Products[g.IntN(len(c.Products))]
		item := object{"product_id": p.ID, "quantity": 1 + g.IntN(99)}
		if len(p.Variants) > 0 && g.IntN(10) > 0 {
			item["variant_id"] = p.Variants[g.IntN(len(p.Variants))].ID
		}
		if len(p.ExtraGroups) > 0 {
			x := p.ExtraGroups[0].Options
			item["options"] = []any{object{"id": x[g.IntN(len(x))].ID, "quantity": 1 + g.IntN(2)}}
		}
		items = append(items, item)
	}
	return items
}

var oddValues = []any{nil, true, 0, -1, 1.5, 1e300, "", "x", "\x00\u202e", "-0", "0.00", "1e9", strings.Repeat("9", 40), strings.Repeat("z", 700), []any{}, []any{nil}, []any{[]any{}}, object{}, object{"id": nil},
	"9999-12-31T23:59:59+14:00", "2026-03-20T12:30:00", "2026-03-20T25:00:00Z", "pickup", "delivery", "paid", "v_0"}

// spoil puts an odd value somewhere.
func (s *shop) spoil(g *rand.Rand, at any) {
	switch v := at.(type) {
	case object:
		keys := []string{"external_id", "location_id", "type", "scheduled_for", "customer", "delivery", "items", "notes", "allergies", "cutlery", "tip", "payment", "expected_total", "options", "variant_id", "quantity", "product_id"}
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		k := keys[g.IntN(len(keys))]
		if inner := v[k]; inner != nil && g.IntN(2) == 0 {
			switch inner.(type) {
			case object, []any:
				s.spoil(g, inner)
				return
			}
		}
		v[k] = oddValues[g.IntN(len(oddValues))]
	case []any:
		if len(v) == 0 {
			return
		}
		i := g.IntN(len(v))
		if g.IntN(2) == 0 {
			s.spoil(g, v[i])
			return
		}
		v[i] = oddValues[g.IntN(len(oddValues))]
	}
}

// poke asks the other routes for odd things.
func (s *shop) poke(g *rand.Rand, answers map[int]int) {
	odd := func() string { return url.QueryEscape(fmt.Sprint(oddValues[g.IntN(len(oddValues))])) }
	id := url.PathEscape(fmt.Sprint(oddValues[6+g.IntN(8)]))
	for _, c := range [][3]string{
		{"GET", "/orders?updated_since=" + odd() + "&limit=" + odd(), ""}, {"GET", "/orders?external_id=" + odd(), ""}, {"GET", "/orders/" + id, ""},
		{"POST", "/orders/" + id + "/cancel", s.scrambled(g)}, {"GET", "/locations/" + id + "/menu", ""}, {"POST", "/webhooks/test", s.scrambled(g)},
	} {
		a := s.send(c[0], s.key, c[1], c[2])
		answers[a.status]++
		if a.status >= 500 {
			s.t.Fatalf("%s %s: %d %s", c[0], c[1], a.status, a.body)
		}
	}
}

// adds checks the API's sums: a line is quantity x (unit_price + sum of option unit_price x
// option quantity), deposit excluded; total = items + deposit + tip.
func (s *shop) adds(o types.OnlineOrder) {
	s.t.Helper()
	items, deposit := lei(s.t, "0"), lei(s.t, "0")
	for i := range o.Items {
		l := &o.Items[i]
		each := lei(s.t, l.UnitPrice)
		for _, x := range l.Options {
			each += lei(s.t, x.UnitPrice) * lei(s.t, types.Money(fmt.Sprint(x.Quantity))) / 100
		}
		if total := lei(s.t, l.Total); total != each*lei(s.t, types.Money(fmt.Sprint(l.Quantity)))/100 {
			s.t.Fatalf("line %+v", l)
		}
		items += lei(s.t, l.Total)
		deposit += lei(s.t, l.Deposit)
	}
	if t := o.Totals; lei(s.t, t.Items) != items || lei(s.t, t.Deposit) != deposit || lei(s.t, t.Total) != items+deposit+lei(s.t, t.Tip) {
		s.t.Fatalf("totals %+v", t)
	}
}
