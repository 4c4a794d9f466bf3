package clickhouse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/clickhouse"
)

// A column is written down in its table and in each view of its rows. The views show every column
// of the API, and describe it as the table does. Two views of the same rows describe them alike.
func TestViewsDescribeTheColumnsOfTheirTables(t *testing.T) {
	s, database := migrated(t, clickhouse.Options{})
	const history = "^(removed|removed_reason|valid_from|seen_at)$"
	for _, c := range []struct{ table, view, except string }{
		{"locations", "locations", ""},
		{"allergens", "allergens", ""},
		{"categories", "categories", ""},
		{"products", "products", ""},
		{"api_keys", "api_keys", ""},
		{"ingredients", "ingredients", ""},
		{"menus", "menus", ""},
		{"sales_orders", "sales_orders_full", ""},
		{"sales_orders", "sales_orders", `^(items|payments|refunds)\.`}, // they have views of their own
		{"sales_orders", "sales_orders_removed", ""},
		{"sales_daily", "sales_daily", "^(id|location_id)$"}, // the day, and the location in one of the two views
		{"sales_daily", "sales_daily_by_location", "^(id|location_id)$"},
		{"sales_products", "sales_products", "^(id|location_id)$"},
		{"sales_products", "sales_products_by_location", "^(id|location_id)$"},
		{"online_orders", "online_orders", ""},
		{"product_history", "product_history", history}, // the view works these out anew
		{"stock_history", "stock_history", history},
		{"menu_states", "menu_history", "^(id|product_id)$"}, // they are named as the view's keys
		{"menu_states", "menu_products", "^(id|product_id)$"},
		{"order_transitions", "order_events", "^order_id$"},
		{"sales_daily", "sales_daily_computed", "^(id|location_id|date|updated_at)$"},
		{"view sales_daily_computed", "sales_daily_computed_by_location", ""},
		{"view sales_lines", "sales_items", ""},
		{"view sales_quantities", "sales_lines", ""},
		{"view price_changes_by_id", "price_changes", ""},
		{"view availability_by_id", "availability", ""},
		{"view days_compared", "days_compared_by_location", "^service$"}, // while a day runs, single locations have no figures of the service
	} {
		from, table := database+"_raw", c.table
		if view, ok := strings.CutPrefix(table, "view "); ok {
			from, table = database, view
		}
		typ := "v.type"
		if c.view == "sales_orders_removed" { // what a removed order was may be unknown
			typ = `if(position(r.type, 'Nullable') > 0, v.type, replaceRegexpOne(v.type, 'Nullable\\((.*)\\)', '\\1'))`
		}
		answer := query(t, s, fmt.Sprintf(`SELECT name, r.type, v.type, r.comment, v.comment FROM
(SELECT name, type, comment FROM system.columns WHERE database = %s AND table = %s AND name NOT LIKE '\\_%%' AND (%s = '' OR NOT match(name, %[3]s))) AS r
LEFT JOIN (SELECT name, type, comment FROM system.columns WHERE database = %s AND table = %s) AS v USING (name)
WHERE r.type != %s OR r.comment != v.comment`, sqlText(from), sqlText(table), sqlText(c.except), sqlText(database), sqlText(c.view), typ), "TSVRaw")
		for line := range strings.Lines(answer) {
			t.Errorf("%s in the view %s (name, types, comments): %s", c.table, c.view, line)
		}
	}
}
