package cookbook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

// happen lets happen, in the bubble's time, what the sandbox does not by itself:
// prices change, stock is counted, orders are cancelled and refunded, and two rows
// come that Larder does not understand as a whole.
func (r *restaurant) happen(t *testing.T) {
	t.Helper()
	box := r.box.Restaurant(0)
	products, ingredients := box.IDs(sandbox.StreamProducts), box.IDs(sandbox.StreamIngredients)
	at := func(day time.Month, of, hour int) {
		time.Sleep(time.Until(time.Date(2026, day, of, hour, 0, 0, 0, bucharest)))
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	price := func(product string, percent int64) {
		t.Helper()
		var row struct {
			Price string `json:"price"`
		}
		must(json.Unmarshal(r.fetch(t, "/products/"+product), &row))
		must(box.EditProduct(product, sandbox.ProductChange{Price: int64(bani(row.Price)) * (100 + percent) / 100 / 50 * 50}))
	}
	at(10, 26, 10)
	price(products[0], 10)
	price(products[1], -10)
	at(10, 27, 15)
	price(products[len(products)/2], 15)
	at(10, 29, 10)
	price(products[1], 20)
	at(10, 30, 16)
	must(box.SetStock(ingredients[0], 25_000))
	at(11, 2, 9)
	orders := box.IDs(sandbox.StreamSalesOrders)
	must(box.CancelOrder(orders[len(orders)-3]))
	must(box.CancelOrder(orders[len(orders)-8]))
	must(box.DeleteOrder(orders[len(orders)-11]))
	must(box.UnpayOrder(orders[len(orders)-14]))
	must(box.RefundOrder(orders[len(orders)-20], 2_500))
	must(box.RefundOrder(orders[len(orders)-90], 4_200))
	at(11, 3, 12)
	must(box.SetStock(ingredients[4], 1_200))
	must(box.SetStock(ingredients[9], -400))
	r.spoil(t, box, ingredients[20], `"min_stock":"`, `"supplier":"Piața Obor","min_stock":"`)
	r.spoil(t, box, ingredients[21], `"stock":"`, `"stock":"circa `)
	at(11, 3, 18)
	for i, name := range []string{"Supă de dovleac", "Plăcintă cu dovleac"} {
		added, err := box.AddProduct(box.LocationIDs()[i])
		must(err)
		must(box.EditProduct(added, sandbox.ProductChange{Name: name, Category: box.IDs(sandbox.StreamCategories)[2]}))
	}
}

// spoil serves an ingredient's row with a piece of its JSON replaced.
func (r *restaurant) spoil(t *testing.T, box sandbox.Restaurant, id, from, to string) {
	t.Helper()
	row := r.fetch(t, "/ingredients/"+id)
	spoilt := bytes.Replace(row, []byte(from), []byte(to), 1)
	if slices.Equal(row, spoilt) {
		t.Fatalf("%s has no %s", row, from)
	}
	if err := box.SetRaw(sandbox.StreamIngredients, id, spoilt); err != nil {
		t.Fatal(err)
	}
}

// fetch is what the service answers.
func (r *restaurant) fetch(t *testing.T, path string) []byte {
	t.Helper()
	status, body, err := r.box.Fetch(r.key, path)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s: %v", path, status, body, err)
	}
	return body
}
