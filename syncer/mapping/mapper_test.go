package mapping

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
)

// mapped appends one row to a new batch and closes it.
func mapped(t *testing.T, p *Plan, row string, context ...string) (map[string]any, Result) {
	t.Helper()
	b := sinks.NewBatch(p.Table(), 1)
	r, err := p.NewMapper().Append(b, []byte(row), context...)
	if err != nil {
		t.Fatalf("%v\n%s", err, row)
	}
	if err := b.EndRow(sinks.Row{ID: r.ID}); err != nil {
		t.Fatal(err)
	}
	return Row(b, 0), r
}

func same(t *testing.T, got, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

type (
	list   = []any
	values = map[string]any
)

func TestOrder(t *testing.T) {
	got, r := mapped(t, plan[types.SalesOrder](t, "sales_orders"), orderRow(3))
	same(t, got, values{
		"number": "1042", "location_id": "loc_1", "channel": "pos", "type": "dine_in", "table_id": "t_12",
		"business_day": "2025-03-14", "created_at": "2025-03-14T18:03:11.123456Z",
		"updated_at": "2025-03-14T19:03:11.5Z", "paid_at": "2025-03-14T19:02:00Z",
		"items.id":               list{"itm_01J8ZQ40000", "itm_01J8ZQ40001", "itm_01J8ZQ40002"},
		"items.product_id":       list{"prd_0", "prd_7", "prd_14"},
		"items.name":             list{"Ciorbă de burtă", "Ciorbă de burtă", "Ciorbă de burtă"},
		"items.variant_id":       list{nil, nil, nil},
		"items.variant_name":     list{nil, nil, nil},
		"items.quantity":         list{"1.0000000000", "2.0000000000", "3.0000000000"},
		"items.weight_kg":        list{nil, nil, "0.3500000000"},
		"items.price_per_kg":     list{nil, nil, "120.00"},
		"items.unit_price":       list{"28.50", "28.50", "28.50"},
		"items.extras_name":      list{list{"Smântână", "Ardei iute"}, list{}, list{"Smântână", "Ardei iute"}},
		"items.extras_price":     list{list{"3.00", "1.50"}, list{}, list{"3.00", "1.50"}},
		"items.discount_percent": list{"10.5000000000", "10.5000000000", "10.5000000000"},
		"items.vat_rate":         list{"9.0000000000", "9.0000000000", "9.0000000000"},
		"items.total":            list{"25.65", "50.65", "75.65"},
		"totals_items":           "94.50", "totals_discount": "0.00", "totals_delivery_fee": "0.00", "totals_tip": "5.00",
		"totals_deposit": "0.50", "totals_total": "100.00", "totals_net_sales": "94.50",
		"payments.method": list{"card", "cash"}, "payments.amount": list{"99.50", "0.50"},
		"payments.at":    list{"2025-03-14T19:02:00Z", "2025-03-14T19:02:10Z"},
		"refunds.amount": list{"10.00"}, "refunds.method": list{"card"}, "refunds.at": list{"2025-03-15T09:00:00Z"}, "refunds.item_id": list{nil},
	})
	want := Result{ID: "ord_01J8ZQ4M7T", UpdatedAt: time.Date(2025, 3, 14, 19, 3, 11, 500_000_000, time.UTC)}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestProduct(t *testing.T) {
	got, r := mapped(t, plan[types.Product](t, "products"), productRow)
	same(t, got, values{
		"location_id": "loc_1", "category_id": nil, "name": "Pizza \"Quattro\" – mare", "description": "a\nb", "image_url": nil,
		"price": "32.00", "unit": "piece", "vat_rate": "9.0000000000", "deposit": "0.50", "available": true,
		"allergens.code": list{"gluten", "milk"}, "allergens.name": list{"Gluten", "Lapte"}, "diets": list{"vegetarian"},
		"calories": nil, "prep_minutes": int64(15), "station": "kitchen",
		"channels_enabled": values{"online": true, "platform_a": false}, "channels_price": values{"online": "34.00", "platform_a": "36.50"},
		"variants.id": list{"v_1", "v_2"}, "variants.name": list{"30 cm", "40 cm"},
		"variants.price": list{"32.00", "30.00"}, "variants.price_delta": list{"0.00", "-2.00"},
		"extra_groups.id": list{"g_1", "g_2"}, "extra_groups.name": list{"Sosuri", "Blat"}, "extra_groups.min": list{int64(0), int64(1)},
		"extra_groups.max": list{nil, int64(1)}, "extra_groups.required": list{false, true},
		"extra_groups.options_id": list{list{"x_1"}, list{}}, "extra_groups.options_name": list{list{"Usturoi"}, list{}},
		"extra_groups.options_price": list{list{"2.00"}, list{}},
		"position":                   int64(3), "created_at": nil, "updated_at": "2025-03-14T18:03:11Z",
	})
	if r.ID != "prd_7" || len(r.Drift) > 0 {
		t.Errorf("got id %q, drift %v", r.ID, r.Drift)
	}
}

func TestNullableObjects(t *testing.T) {
	p := plan[types.Location](t, "locations")
	got, _ := mapped(t, p, locationRow)
	if got["opening_hours_monday_open"] != nil || got["opening_hours_sunday_closed"] != nil {
		t.Errorf("null opening hours gave %v, %v", got["opening_hours_monday_open"], got["opening_hours_sunday_closed"])
	}
	if diff := cmp.Diff(list{}, got["opening_hours_exceptions.date"]); diff != "" {
		t.Error(diff)
	}
	day := `{"open":"09:00","close":null,"closed":false}`
	hours := `{"monday":` + day + `,"tuesday":` + day + `,"wednesday":` + day + `,"thursday":` + day + `,"friday":` + day + `,"saturday":` + day +
		`,"sunday":` + day + `,"exceptions":[{"date":"2025-12-25","closed":true,"reason":"Crăciun"},{"date":"2025-12-26","closed":true,"reason":null}]}`
	got, _ = mapped(t, p, strings.Replace(locationRow, `"opening_hours":null`, `"opening_hours":`+hours, 1))
	if got["opening_hours_monday_open"] != "09:00" || got["opening_hours_monday_close"] != nil || got["opening_hours_monday_closed"] != false {
		t.Errorf("got %v %v %v", got["opening_hours_monday_open"], got["opening_hours_monday_close"], got["opening_hours_monday_closed"])
	}
	if diff := cmp.Diff(list{"Crăciun", nil}, got["opening_hours_exceptions.reason"]); diff != "" {
		t.Error(diff)
	}
	got, _ = mapped(t, plan[types.Ingredient](t, "ingredients"), ingredientRow)
	if got["category_name"] != "Uscate" || got["warehouse_name"] != nil || got["stock"] != "-1.2500000000" {
		t.Errorf("got %v %v %v", got["category_name"], got["warehouse_name"], got["stock"])
	}
}

func TestTotalsAndKey(t *testing.T) {
	p := plan[types.SalesDay](t, "sales_daily", sinks.Column{Name: "location_id", Nullable: true})
	got, r := mapped(t, p, dayRow, "loc_1")
	if got["location_id"] != "loc_1" || got["date"] != "2025-03-14" || got["orders"] != int64(2) || r.ID != "" || !r.UpdatedAt.IsZero() {
		t.Errorf("got %v, %+v", got, r)
	}
	if diff := cmp.Diff(values{"cash": "1.00", "card": "199.00"}, got["payments"]); diff != "" {
		t.Error(diff)
	}
	if got, _ := mapped(t, p, dayRow, ""); got["location_id"] != nil {
		t.Errorf("no location gave %v", got["location_id"])
	}
	got, r = mapped(t, plan[types.Me](t, "api_keys"), meRow)
	if r.ID != "app_1" || got["app_id"] != "app_1" || got["rate_limits_per_minute"] != int64(120) || got["business_name"] != "Bistro" {
		t.Errorf("got %v, %+v", got, r)
	}
	got, r = mapped(t, plan[types.Allergen](t, "allergens"), `{"code":"Soia / ß","name":"Soia"}`)
	if r.ID != "Soia / ß" || got["code"] != "Soia / ß" {
		t.Errorf("got %v, %+v", got, r)
	}
}

func TestContextValues(t *testing.T) {
	p := plan[types.Allergen](t, "x", sinks.Column{Name: "via"}, sinks.Column{Name: "etag", Nullable: true})
	row := `{"code":"a","name":"b"}`
	if got, _ := mapped(t, p, row, "poll", `W/"1"`); got["via"] != "poll" || got["etag"] != `W/"1"` {
		t.Errorf("got %v", got)
	}
	if got, _ := mapped(t, p, row, "", ""); got["via"] != "" || got["etag"] != nil {
		t.Errorf("got %v", got)
	}
	b := sinks.NewBatch(p.Table(), 1)
	var bad *RowError
	if _, err := p.NewMapper().Append(b, []byte(row), "poll"); err == nil || errors.As(err, &bad) {
		t.Errorf("a context value missing: got %v", err)
	}
	other := sinks.NewBatch(plan[types.Category](t, "categories").Table(), 1)
	if _, err := p.NewMapper().Append(other, []byte(row), "poll", ""); err == nil || errors.As(err, &bad) {
		t.Errorf("a batch of another table: got %v", err)
	}
}

// Field order is the service's business; ids are any text.
func TestOrderOfFieldsAndOddIDs(t *testing.T) {
	p := plan[types.Category](t, "categories")
	for _, id := range []string{`a/b%2F`, `"quoted"`, `😀 sp ace`, `ABC`, `abc`, "tab\t", `\`, "nul\x00"} {
		literal := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\x00", `\u0000`).Replace(id)
		row := `{"updated_at":null,"position":1,"n\u0061me":"x","location_id":"l","image_url":null,"created_at":null,"deleted":false,"id":"` + literal + `"}`
		if got, r := mapped(t, p, row); r.ID != id || got["name"] != "x" {
			t.Errorf("id %q came as %q with %v", id, r.ID, got)
		}
	}
}

// A live row need not say that it is not deleted, and text may be escaped anywhere.
func TestLenient(t *testing.T) {
	row := strings.NewReplacer(`"deleted":false,`, ``, `"price":"32.00"`, `"price":"\u00332.00"`, `"unit":"piece"`, `"unit":"\u0070iece"`,
		`"2025-03-14T18:03:11Z"`, `"2025-03-14T18\u003a03:11Z"`).Replace(productRow)
	got, r := mapped(t, plan[types.Product](t, "products"), row)
	if got["price"] != "32.00" || got["unit"] != "piece" || got["updated_at"] != "2025-03-14T18:03:11Z" || len(r.Drift) > 0 {
		t.Errorf("got %v %v %v, drift %v", got["price"], got["unit"], got["updated_at"], r.Drift)
	}
}

func TestHugeText(t *testing.T) {
	name := strings.Repeat("ș", 1<<20)
	got, _ := mapped(t, plan[types.Allergen](t, "allergens"), `{"code":"a","name":"`+name+`"}`)
	if got["name"] != name {
		t.Error("a name of 2 MB did not come through")
	}
}

// A good row costs the allocation of its id and no other.
func TestAllocations(t *testing.T) {
	for _, c := range listed(t) {
		m, raw := c.plan.NewMapper(), []byte(c.row)
		b := sinks.NewBatch(c.plan.Table(), 1)
		append1 := func() {
			if _, err := m.Append(b, raw, c.context...); err != nil {
				t.Fatal(err)
			}
			b.Rollback()
		}
		append1()
		if n := testing.AllocsPerRun(100, append1); n > 1 {
			t.Errorf("%s: %v allocations a row", c.plan.Table().Name, n)
		}
	}
}
