package sandbox

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
)

// Every row has exactly the fields of the API's description: decoding it into the type refuses
// unknown ones, and encoding it again loses nothing and adds nothing.
func TestRowsHaveTheFieldsOfTheAPI(t *testing.T) {
	h := newHarness(t, Options{NoLimits: true, Orders: 3000, ProductsPer: 130})
	sameShape[types.Me](t, h.get("/me").body)
	for _, row := range h.walk("/products?limit=200") {
		sameShape[types.Product](t, row)
	}
	for _, row := range h.walk("/categories?limit=200") {
		sameShape[types.Category](t, row)
	}
	for _, row := range h.walk("/ingredients?limit=200") {
		sameShape[types.Ingredient](t, row)
	}
	tombstones, orders := 0, 0
	for _, row := range h.walk("/sales/orders?limit=200&updated_since=2020-01-01T00:00:00Z") {
		if bytes.Contains(row, []byte(`"deleted":true`)) {
			tombstones++
			sameShape[types.Tombstone](t, row)
			continue
		}
		orders++
		sameShape[types.SalesOrder](t, row)
	}
	if orders < 2800 || tombstones < 10 {
		t.Errorf("%d orders and %d tombstones", orders, tombstones)
	}
	for _, row := range ok[struct{ Data []json.RawMessage }](h, "/locations").Data {
		sameShape[types.Location](t, row)
	}
	for _, row := range ok[struct{ Data []json.RawMessage }](h, "/allergens").Data {
		sameShape[types.Allergen](t, row)
	}
	daily := ok[dailySales](h, "/sales/daily")
	for _, d := range daily.Data {
		sameShape[types.SalesDay](t, d)
	}
	for _, row := range ok[productSales](h, "/sales/products?group_by=day").Data {
		sameShape[types.ProductSales](t, row)
	}
}

type dailySales struct {
	Currency string
	From, To string
	Data     []json.RawMessage
	Totals   types.Breakdown
}

type productSales struct {
	Currency string
	From, To string
	GroupBy  string `json:"group_by"`
	Data     []json.RawMessage
}

func sameShape[T any](t *testing.T, row []byte) {
	t.Helper()
	v := strict[T](t, row)
	again, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(row, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("row %s\nbecame %s", row, again)
	}
}
