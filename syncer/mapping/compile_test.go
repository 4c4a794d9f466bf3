package mapping

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
)

func TestColumnsAreMechanical(t *testing.T) {
	for _, c := range listed(t) {
		for _, col := range c.plan.Table().Columns {
			if col.Name == "id" || col.Name == "business_id" || col.Name == "deleted" {
				t.Errorf("%s has a column %s", c.plan.Table().Name, col.Name)
			}
		}
	}
	type column = sinks.Column
	for _, c := range []struct {
		plan *Plan
		want []column
	}{
		{plan[types.Allergen](t, "allergens"), []column{{Name: "code"}, {Name: "name"}}},
		{plan[types.SalesOrder](t, "sales_orders"), []column{
			{Name: "business_day", Kind: sinks.Day},
			{Name: "updated_at", Kind: sinks.Instant},
			{Name: "paid_at", Kind: sinks.Instant, Nullable: true},
			{Name: "items.id", Depth: 1},
			{Name: "items.price_per_kg", Kind: sinks.Money, Nullable: true, Depth: 1},
			{Name: "items.discount_percent", Kind: sinks.Quantity, Depth: 1},
			{Name: "items.extras_price", Kind: sinks.Money, Depth: 2},
			{Name: "totals_net_sales", Kind: sinks.Money},
			{Name: "refunds.item_id", Nullable: true, Depth: 1},
		}},
		{plan[types.Product](t, "products"), []column{
			{Name: "channels_enabled", Kind: sinks.Bool, Map: true},
			{Name: "channels_price", Kind: sinks.Money, Map: true},
			{Name: "diets", Depth: 1},
			{Name: "calories", Kind: sinks.Int, Nullable: true},
			{Name: "allergens.code", Depth: 1},
			{Name: "extra_groups.max", Kind: sinks.Int, Nullable: true, Depth: 1},
			{Name: "extra_groups.options_id", Depth: 2},
		}},
		{plan[types.Location](t, "locations"), []column{
			{Name: "ordering_types", Depth: 1},
			{Name: "opening_hours_monday_closed", Kind: sinks.Bool, Nullable: true},
			{Name: "opening_hours_exceptions.date", Kind: sinks.Day, Depth: 1},
		}},
		{plan[types.Ingredient](t, "ingredients"), []column{{Name: "category_id", Nullable: true}, {Name: "stock", Kind: sinks.Quantity}}},
		{plan[types.Me](t, "api_keys"), []column{{Name: "app_id"}, {Name: "business_name"}, {Name: "scopes", Depth: 1}, {Name: "webhook_url", Nullable: true}}},
		{plan[types.SalesDay](t, "sales_daily", column{Name: "location_id", Nullable: true}), []column{
			{Name: "location_id", Nullable: true}, {Name: "date", Kind: sinks.Day}, {Name: "by_channel", Kind: sinks.Money, Map: true},
		}},
		{plan[types.ProductSales](t, "sales_products"), []column{{Name: "date", Kind: sinks.Day}, {Name: "weight_kg", Kind: sinks.Quantity, Nullable: true}}},
	} {
		table := c.plan.Table()
		for _, want := range c.want {
			i := table.Column(want.Name)
			if i < 0 {
				t.Errorf("%s has no column %s", table.Name, want.Name)
			} else if diff := cmp.Diff(want, table.Columns[i]); diff != "" {
				t.Errorf("%s.%s: (-want +got)\n%s", table.Name, want.Name, diff)
			}
		}
	}
}

func TestContextColumnsComeFirst(t *testing.T) {
	p := plan[types.SalesDay](t, "sales_daily", sinks.Column{Name: "location_id"}, sinks.Column{Name: "from"})
	if c := p.Table().Columns; c[0].Name != "location_id" || c[1].Name != "from" || c[2].Name != "date" {
		t.Errorf("columns begin with %s, %s, %s", c[0].Name, c[1].Name, c[2].Name)
	}
}

func TestCompileRefuses(t *testing.T) {
	type inner struct {
		A string `json:"a"`
	}
	refused := func(name, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, want)
		}
	}
	_, err := Compile[struct {
		L []struct {
			A float64 `json:"a"`
		} `json:"l"`
	}]("t")
	refused("float", "l.a: float64 is not a struct", err)
	_, err = Compile[struct{ A string }]("t")
	refused("untagged", "no name in JSON", err)
	_, err = Compile[struct {
		L []struct {
			M map[string]string `json:"m"`
		} `json:"l"`
	}]("t")
	refused("map in an array", "cannot be a map column", err)
	_, err = Compile[struct {
		M map[string]struct {
			L []inner `json:"l"`
		} `json:"m"`
	}]("t")
	refused("array in a map", "cannot be inside a map", err)
	_, err = Compile[struct {
		AB string `json:"a_b"`
		A  struct {
			B string `json:"b"`
		} `json:"a"`
	}]("t")
	refused("one name twice", "two columns are named a_b", err)
	_, err = Compile[struct {
		A string `json:"a" row:"id"`
		B string `json:"b" row:"id"`
	}]("t")
	refused("two ids", "cannot identify the row", err)
	_, err = Compile[inner]("t", sinks.Column{Name: "x", Depth: 1})
	refused("array as context", "not a text", err)
	_, err = Compile[inner]("t", sinks.Column{Name: "x", Kind: sinks.Day})
	refused("day as context", "not a text", err)
	_, err = Compile[string]("t")
	refused("no struct", "the row: string is not a struct", err)
}
