package mapping

import (
	"fmt"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
)

// orderItem is the nth line of the orders below.
func orderItem(n int) string {
	weight := `"weight_kg":null,"price_per_kg":null`
	if n%3 == 2 {
		weight = `"weight_kg":"0.350","price_per_kg":"120.00"`
	}
	extras := `[]`
	if n%2 == 0 {
		extras = `[{"name":"Smântână","price":"3.00"},{"name":"Ardei iute","price":"1.50"}]`
	}
	return fmt.Sprintf(`{"id":"itm_01J8ZQ4%04d","product_id":"prd_%d","name":"Ciorbă de burtă","variant_id":null,"variant_name":null,`+
		`"quantity":"%d.00",%s,"unit_price":"28.50","extras":%s,"discount_percent":10.5,"vat_rate":9,"total":"%d.65"}`, n, n*7, n+1, weight, extras, 25*(n+1))
}

// orderRow is a sales order with so many lines.
func orderRow(lines int) string {
	items := make([]string, lines)
	for i := range items {
		items[i] = orderItem(i)
	}
	return `{"id":"ord_01J8ZQ4M7T","deleted":false,"number":"1042","location_id":"loc_1","channel":"pos","type":"dine_in","table_id":"t_12",` +
		`"business_day":"2025-03-14","created_at":"2025-03-14T18:03:11.123456Z","updated_at":"2025-03-14T19:03:11.5Z","paid_at":"2025-03-14T21:02:00+02:00",` +
		`"items":[` + strings.Join(items, ",") + `],` +
		`"totals":{"items":"94.50","discount":"0.00","delivery_fee":"0.00","tip":"5.00","deposit":"0.50","total":"100.00","net_sales":"94.50"},` +
		`"payments":[{"method":"card","amount":"99.50","at":"2025-03-14T19:02:00Z"},{"method":"cash","amount":"0.50","at":"2025-03-14T19:02:10Z"}],` +
		`"refunds":[{"amount":"10.00","method":"card","at":"2025-03-15T09:00:00Z","item_id":null}]}`
}

const productRow = `{"id":"prd_7","deleted":false,"location_id":"loc_1","category_id":null,"name":"Pizza \"Quattro\" \u2013 mare","description":"a\nb",
 "image_url":null,"price":"32.00","unit":"piece","vat_rate":9,"deposit":"0.50","available":true,
 "allergens":[{"code":"gluten","name":"Gluten"},{"code":"milk","name":"Lapte"}],"diets":["vegetarian"],"calories":null,"prep_minutes":15,
 "station":"kitchen","channels":{"online":{"enabled":true,"price":"34.00"},"platform_a":{"enabled":false,"price":"36.50"}},
 "variants":[{"id":"v_1","name":"30 cm","price":"32.00","price_delta":"0.00"},{"id":"v_2","name":"40 cm","price":"30.00","price_delta":"-2.00"}],
 "extra_groups":[{"id":"g_1","name":"Sosuri","min":0,"max":null,"required":false,"options":[{"id":"x_1","name":"Usturoi","price":"2.00"}]},
  {"id":"g_2","name":"Blat","min":1,"max":1,"required":true,"options":[]}],
 "position":3,"created_at":null,"updated_at":"2025-03-14T18:03:11Z"}`

const locationRow = `{"id":"loc_1","name":"Centru","address":null,"city":"Cluj","phone":null,"timezone":"Europe/Bucharest",
 "ordering":{"accepting":true,"status":"open","message":null,"paused_until":null,"next_opening_at":null,"types":["pickup","delivery"],
  "default_prep_minutes":20,"answer_within_minutes":5},"opening_hours":null}`

const ingredientRow = `{"id":"ing_1","location_id":"loc_1","name":"Făină","deleted":false,"unit":"kg","stock":"-1.250","min_stock":"5.000","below_min":true,
 "category":{"id":"c1","name":"Uscate"},"warehouse":null,"sku":null,"barcode":"594","is_prepared":false,"allergens":[],"created_at":null,"updated_at":null}`

const dayRow = `{"date":"2025-03-14","orders":2,"net_sales":"189.00","items":"189.00","discounts":"0.00","delivery_fees":"0.00","tips":"10.00","deposits":"1.00",
 "refunds":"10.00","payments":{"cash":"1.00","card":"199.00"},"by_type":{"dine_in":"189.00"},"by_channel":{"pos":"189.00"}}`

const productSalesRow = `{"date":"2025-03-14","product_id":null,"name":"Diverse","category_id":null,"quantity":"3.00","weight_kg":null,"gross":"30.00",
 "line_discounts":"0.00","net":"30.00"}`

const meRow = `{"app":{"id":"app_1","name":"Larder","mode":"live"},"business":{"id":"biz_1","name":"Bistro"},"scopes":["sales:read","menu:read"],
 "location_ids":["loc_1"],"all_locations":true,"rate_limits":{"per_minute":120,"business_per_minute":600,"heavy_per_minute":30,"orders_per_minute":30},
 "webhook":{"url":null,"configured":false}}`

const categoryRow = `{"id":"cat_1","deleted":false,"location_id":null,"name":"Supe","image_url":null,"position":1,"created_at":null,"updated_at":"2025-03-14T18:03:11Z"}`

func plan[T any](t testing.TB, table string, context ...sinks.Column) *Plan {
	t.Helper()
	p, err := Compile[T](table, context...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// listed are the plans of every list, with a good row of each.
func listed(t testing.TB) []struct {
	plan    *Plan
	row     string
	context []string
} {
	location := sinks.Column{Name: "location_id", Kind: sinks.Text, Nullable: true}
	return []struct {
		plan    *Plan
		row     string
		context []string
	}{
		{plan[types.SalesOrder](t, "sales_orders"), orderRow(4), nil},
		{plan[types.Product](t, "products"), productRow, nil},
		{plan[types.Category](t, "categories"), categoryRow, nil},
		{plan[types.Ingredient](t, "ingredients"), ingredientRow, nil},
		{plan[types.Allergen](t, "allergens"), `{"code":"gluten","name":"Gluten"}`, nil},
		{plan[types.Location](t, "locations"), locationRow, nil},
		{plan[types.SalesDay](t, "sales_daily", location), dayRow, []string{"loc_1"}},
		{plan[types.ProductSales](t, "sales_products"), productSalesRow, nil},
		{plan[types.Me](t, "api_keys"), meRow, nil},
	}
}
