package cookbook

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
)

// truth is what the service says of the restaurant that evening, read from its JSON
// alone: what a question of the cookbook is answered with is computed from it once more.
type truth struct {
	orders      []sale
	days        map[string]types.SalesDay
	told        map[string]types.SalesDay // as the daemon was told last
	products    map[string]product
	categories  map[string]string
	locations   map[string]types.Location
	firstDay    string
	seen        *recording
	removed     map[string]tombstone // orders that are no sales any more, as the daemon was told
	states      map[string][]state   // of products and ingredients, as the daemon was told
	spoiltSince time.Time            // of a row that cannot be understood

	placed map[string]types.OnlineOrder // what online has found
	menus  map[string][]menu            // what onMenus has found
}

type product struct {
	id, name, category, location, created string
	price                                 amount
	extras                                bool
	allergens                             []types.Allergen
}

// sale is an order with what the API does not say of it.
type sale struct {
	types.SalesOrder
	opened time.Time
	net    amount
	lines  []saleLine
}

type saleLine struct {
	types.SalesItem
	quantity        *big.Rat
	extras          amount // of the whole line
	discount        amount // of the line
	net             amount // after all discounts
	vat             *amount
	product, family string // of the catalogue; empty when there is none
}

type tombstone struct {
	ID        string         `json:"id"`
	Deleted   bool           `json:"deleted"`
	DeletedAt *types.Instant `json:"deleted_at"`
	UpdatedAt *types.Instant `json:"updated_at"`
	Reason    string         `json:"reason"`
	noticed   time.Time
	last      *types.SalesOrder
}

// state is a row of a product or an ingredient as the service answered it.
type state struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	LocationID string         `json:"location_id"`
	Price      types.Money    `json:"price"`
	Available  bool           `json:"available"`
	Stock      types.Quantity `json:"stock"`
	MinStock   types.Quantity `json:"min_stock"`
	BelowMin   bool           `json:"below_min"`
	Unit       string         `json:"unit"`
	UpdatedAt  types.Instant  `json:"updated_at"`
	at         time.Time
}

func local[T ~string](instant T) time.Time {
	at, err := time.Parse(time.RFC3339Nano, string(instant))
	if err != nil {
		panic(err)
	}
	return at.In(bucharest)
}

func dayOf(at time.Time) string { return at.Format(time.DateOnly) }

// daysAgo is a day before that of the evening.
func daysAgo(n int) string { return dayOf(evening.AddDate(0, 0, -n)) }

// within tells the last n whole days.
func within[T ~string](day T, n int) bool {
	return string(day) >= daysAgo(n) && string(day) < daysAgo(0)
}

func (r *restaurant) truth(t *testing.T) *truth {
	t.Helper()
	w := &truth{days: map[string]types.SalesDay{}, products: map[string]product{}, categories: map[string]string{}, locations: map[string]types.Location{}, seen: r.seen}
	each(t, r, sandbox.StreamLocations, func(l types.Location) { w.locations[l.ID] = l })
	each(t, r, sandbox.StreamCategories, func(c types.Category) { w.categories[c.ID] = c.Name })
	each(t, r, sandbox.StreamProducts, func(p types.Product) {
		w.products[p.ID] = product{p.ID, p.Name, w.categories[*p.CategoryID], w.locations[p.LocationID].Name, dayOf(local(*p.CreatedAt)), bani(p.Price), len(p.ExtraGroups) > 0, p.Allergens}
	})
	each(t, r, sandbox.StreamSalesOrders, func(o types.SalesOrder) { w.orders = append(w.orders, w.sale(o)) })
	w.told = map[string]types.SalesDay{}
	for _, a := range r.seen.answers {
		if a.path == "/v1/sales/daily" && a.status == http.StatusOK && !strings.Contains(a.query, "location_id") {
			for _, d := range daysIn(t, a.body) {
				w.told[string(d.Date)] = d
			}
		}
	}
	for from := evening.AddDate(0, 0, -459); !from.After(evening); from = from.AddDate(0, 0, 92) {
		for _, d := range daysIn(t, r.fetch(t, fmt.Sprintf("/sales/daily?from=%s&to=%s", dayOf(from), dayOf(from.AddDate(0, 0, 91))))) {
			w.days[string(d.Date)] = d
		}
	}
	w.tellApart(t)
	return w
}

// daysIn are the days of an answer of /sales/daily.
func daysIn(t *testing.T, body []byte) []types.SalesDay {
	t.Helper()
	var answer struct {
		Data []types.SalesDay `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Data
}

func each[T any](t *testing.T, r *restaurant, stream string, yield func(T)) {
	t.Helper()
	err := r.box.Truth(r.key, stream, func(row sandbox.TruthRow) error {
		if row.Row == nil {
			return nil
		}
		var v T
		if err := json.Unmarshal(row.Row, &v); err != nil {
			return err
		}
		yield(v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sale spreads the discount of an order over its lines by value: what falls on the
// lines up to one is rounded, so that all of them together bear all of it.
func (w *truth) sale(o types.SalesOrder) sale {
	s := sale{SalesOrder: o, opened: local(o.CreatedAt), net: bani(o.Totals.NetSales)}
	var all, upTo, borne amount
	for _, i := range o.Items {
		all += max(bani(i.Total), 0)
	}
	discount := bani(o.Totals.Discount)
	for n, i := range o.Items {
		l := saleLine{SalesItem: i, quantity: number(i.Quantity)}
		extras := new(big.Rat)
		for _, x := range i.Extras {
			extras.Add(extras, number(x.Price))
		}
		l.extras = toBani(new(big.Rat).Mul(extras, l.quantity))
		gross := toBani(new(big.Rat).Mul(new(big.Rat).Add(extras, number(i.UnitPrice)), l.quantity))
		l.discount = gross - bani(i.Total)
		upTo += max(bani(i.Total), 0)
		share := amount(0)
		switch {
		case all > 0:
			share = toBani(big.NewRat(int64(discount)*int64(upTo), int64(all)*100)) - borne
		case n == 0:
			share = discount
		}
		borne += share
		l.net = bani(i.Total) - share
		if i.VATRate != nil {
			rate := number(*i.VATRate)
			part := new(big.Rat).Quo(rate, new(big.Rat).Add(rate, big.NewRat(100, 1)))
			vat := toBani(part.Mul(part, l.net.rat()))
			l.vat = &vat
		}
		if i.ProductID != nil {
			l.product, l.family = w.products[*i.ProductID].name, w.products[*i.ProductID].category
		}
		s.lines = append(s.lines, l)
	}
	return s
}

// tellApart reads what the daemon was told of rows that changed, and of orders that
// went away.
func (w *truth) tellApart(t *testing.T) {
	t.Helper()
	w.removed, w.states, w.firstDay = map[string]tombstone{}, map[string][]state{}, "9"
	alive := map[string]*types.SalesOrder{}
	for _, a := range w.seen.answers {
		stream := strings.TrimPrefix(a.path, "/v1")
		if a.status != http.StatusOK || !slices.Contains([]string{"/sales/orders", "/products", "/ingredients"}, stream) {
			continue
		}
		var page struct {
			Data []json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Data {
			if stream == "/sales/orders" {
				w.tellOrder(t, row, alive, a.at())
				continue
			}
			var s state
			if err := json.Unmarshal(row, &s); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(s.Stock), "circa") { // what Larder does not understand, it does not keep
				if w.spoiltSince.IsZero() {
					w.spoiltSince = a.at()
				}
				continue
			}
			s.at = local(s.UpdatedAt)
			if known := w.states[s.ID]; len(known) == 0 || known[len(known)-1] != s {
				w.states[s.ID] = append(known, s)
			}
		}
	}
	for _, o := range alive {
		w.firstDay = min(w.firstDay, string(o.BusinessDay))
	}
}

func (w *truth) tellOrder(t *testing.T, row []byte, alive map[string]*types.SalesOrder, at time.Time) {
	t.Helper()
	var gone tombstone
	if err := json.Unmarshal(row, &gone); err != nil {
		t.Fatal(err)
	}
	if gone.Deleted {
		gone.last, gone.noticed = alive[gone.ID], at
		w.removed[gone.ID] = gone
		return
	}
	var o types.SalesOrder
	if err := json.Unmarshal(row, &o); err != nil {
		t.Fatal(err)
	}
	alive[o.ID] = &o
	delete(w.removed, o.ID)
}
