package clickhouse_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/mapping"
)

// TestTablesHoldWhatTheSyncerMaps compares the storage tables with the tables
// that the syncer makes of the API's types: no column may be missing on either
// side, and each must hold what it is given.
func TestTablesHoldWhatTheSyncerMaps(t *testing.T) {
	s, _ := migrated(t, clickhouse.Options{})
	stored := tables(t, s)
	mapped := map[string]*sinks.Table{
		"locations": tableOf[api.Location](t, "locations"), "allergens": tableOf[api.Allergen](t, "allergens"),
		"categories": tableOf[api.Category](t, "categories"), "products": tableOf[api.Product](t, "products"),
		"ingredients": tableOf[api.Ingredient](t, "ingredients"), "api_keys": tableOf[api.Me](t, "api_keys"),
		"sales_orders": tableOf[api.SalesOrder](t, "sales_orders"), "sales_products": tableOf[api.ProductSales](t, "sales_products"),
		"sales_daily": tableOf[api.SalesDay](t, "sales_daily", sinks.Column{Name: "location_id", Kind: sinks.Text, Nullable: true}),
	}
	if len(stored) != len(mapped) {
		t.Errorf("%d tables stored, %d mapped", len(stored), len(mapped))
	}
	for name, m := range mapped {
		if diff := cmp.Diff(columnsOf(m), columnsOf(stored[name])); diff != "" {
			t.Errorf("%s (-mapped +stored):\n%s", name, diff)
		}
	}
}

func tableOf[T any](t *testing.T, name string, context ...sinks.Column) *sinks.Table {
	t.Helper()
	plan, err := mapping.Compile[T](name, context...)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Table()
}

func columnsOf(t *sinks.Table) []string {
	if t == nil {
		return nil
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = fmt.Sprintf("%s %s nullable=%t depth=%d map=%t", c.Name, c.Kind, c.Nullable, c.Depth, c.Map)
	}
	slices.Sort(columns)
	return columns
}
