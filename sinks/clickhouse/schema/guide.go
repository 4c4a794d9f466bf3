package schema

import (
	"fmt"
	"maps"
	"strings"
)

// Guide is what the data dictionary says of a view beside its columns.
type Guide struct {
	Key   []string // what tells its rows apart
	Joins []Join
	Query string // to begin with
}

// Join says how a view meets another one, whose rows the columns tell apart.
type Join struct {
	Columns []string // here; business_id goes before them
	View    string
	On      []string // there
}

// Guides are those of all views, by name.
func Guides() map[string]Guide { return maps.Clone(guides) }

func joins(column, view string) Join { return Join{[]string{column}, view, []string{"id"}} }

func onDay(view string) Join { return Join{[]string{"date"}, view, []string{"date"}} }

func onPlaceAndDay(view string) Join {
	both := []string{"location_id", "date"}
	return Join{both, view, both}
}

var (
	toLocation = joins("location_id", "locations")
	toCategory = joins("category_id", "categories")
	toProduct  = joins("product_id", "products")
	toOrder    = joins("order_id", "sales_orders")

	toLocationEver = Join{[]string{"location_id"}, "locations_ever", []string{"location_id"}}

	toOnlineOrder = joins("order_id", "online_orders")
	toStock       = joins("ingredient_id", "ingredients")
)

var guides = map[string]Guide{
	"allergens": {
		Key:   []string{"business_id", "id"},
		Query: "SELECT code, name FROM allergens ORDER BY code",
	},
	"allergens_ever": {
		Key:   []string{"business_id", "code"},
		Joins: []Join{joins("code", "allergens")},
		Query: "SELECT removed, count() AS allergens FROM allergens_ever GROUP BY removed",
	},
	"api_keys": {
		Key:   []string{"business_id", "id"},
		Query: "SELECT business_name, app_name, app_mode, scopes FROM api_keys",
	},
	"availability": {
		Key:   []string{"business_id", "product_id", "sold_out_from"},
		Joins: []Join{toProduct, toCategory, toLocation},
		Query: "SELECT product_name, location_name, sold_out_from FROM availability WHERE sold_out_to IS NULL",
	},
	"availability_by_id": {
		Key:   []string{"business_id", "product_id", "sold_out_from"},
		Joins: []Join{toProduct, toCategory, toLocation},
		Query: "SELECT product_id, sum(minutes) AS out_minutes FROM availability_by_id GROUP BY product_id ORDER BY out_minutes DESC LIMIT 20",
	},
	"categories": {
		Key:   []string{"business_id", "id"},
		Joins: []Join{toLocation},
		Query: "SELECT name, location_name FROM categories ORDER BY position",
	},
	"categories_ever": {
		Key:   []string{"business_id", "category_id"},
		Joins: []Join{toCategory, toLocation},
		Query: "SELECT removed, count() AS categories FROM categories_ever GROUP BY removed",
	},
	"data_quality": {
		Key:   []string{"business_id", "order_id", "rule"},
		Joins: []Join{toOrder, toLocation},
		Query: "SELECT rule, count() AS orders FROM data_quality GROUP BY rule",
	},
	"day_close": {
		Key:   []string{"business_id", "location_id", "date"},
		Joins: []Join{toLocation, onPlaceAndDay("reconciliation_by_location")},
		Query: "SELECT location_name, taken, cash, card, refunds, verdict FROM day_close WHERE date = today() - 1",
	},
	"days_compared": {
		Key:   []string{"business_id", "date"},
		Joins: []Join{onDay("reconciliation"), onDay("sales_daily")},
		Query: "SELECT date, verdict, mirror['net_sales'] AS net_sales, service['net_sales'] AS of_service FROM days_compared WHERE date >= today() - 7 ORDER BY date",
	},
	"days_compared_by_location": {
		Key:   []string{"business_id", "location_id", "date"},
		Joins: []Join{toLocation, toLocationEver, onPlaceAndDay("reconciliation_by_location")},
		Query: "SELECT location_id, sum(mirror['payments/cash'] - mirror['refunds/cash']) AS drawer FROM days_compared_by_location WHERE date = today() GROUP BY location_id",
	},
	"days_mirrored_by_location": {
		Key:   []string{"business_id", "location_id", "date"},
		Joins: []Join{toLocation, toLocationEver, onPlaceAndDay("sales_daily_computed_by_location")},
		Query: "SELECT sumMap(mirror) AS figures FROM days_mirrored_by_location WHERE date >= today() - 7",
	},
	"ingredient_allergens": {
		Key:   []string{"business_id", "ingredient_id", "position"},
		Joins: []Join{toStock, joins("code", "allergens"), toLocation},
		Query: "SELECT name, count() AS ingredients FROM ingredient_allergens GROUP BY name ORDER BY ingredients DESC",
	},
	"ingredients": {
		Key:   []string{"business_id", "id"},
		Joins: []Join{toLocation},
		Query: "SELECT location_name, name, stock, min_stock, unit FROM ingredients WHERE below_min",
	},
	"location_exceptions": {
		Key:   []string{"business_id", "location_id", "position"},
		Joins: []Join{toLocation},
		Query: "SELECT date, location_name, reason FROM location_exceptions WHERE closed ORDER BY date",
	},
	"location_hours": {
		Key:   []string{"business_id", "location_id", "weekday"},
		Joins: []Join{toLocation},
		Query: "SELECT location_name, weekday, open, close FROM location_hours WHERE NOT closed ORDER BY location_name, weekday",
	},
	"locations": {
		Key:   []string{"business_id", "id"},
		Query: "SELECT name, city, ordering_status FROM locations ORDER BY name",
	},
	"locations_ever": {
		Key:   []string{"business_id", "location_id"},
		Joins: []Join{toLocation},
		Query: "SELECT location_name, removed, removed_reason FROM locations_ever ORDER BY location_name",
	},
	"menu_categories": {
		Key:   []string{"business_id", "location_id", "position", "category_id"},
		Joins: []Join{toCategory, toLocation},
		Query: "SELECT location_name, category_name, products FROM menu_categories ORDER BY location_name, position",
	},
	"menu_history": {
		Key:   []string{"business_id", "location_id", "category_id", "product_id", "valid_from", "valid_to"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT location_name, category_name, name, price, available FROM menu_history WHERE valid_from <= now() - INTERVAL 7 DAY AND ifNull(valid_to > now() - INTERVAL 7 DAY, true)",
	},
	"menu_options": {
		Key:   []string{"business_id", "location_id", "category_name", "product_id", "group_position", "position"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT name, min(price) AS lowest, max(price) AS highest FROM menu_options WHERE position IS NOT NULL GROUP BY name ORDER BY name",
	},
	"menu_products": {
		Key:   []string{"business_id", "location_id", "category_id", "product_id"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT location_name, category_name, name, price, available FROM menu_products ORDER BY location_name, category_position, position",
	},
	"menu_variants": {
		Key:   []string{"business_id", "location_id", "category_name", "product_id", "position"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT product_name, name, price FROM menu_variants ORDER BY product_name, price",
	},
	"menus": {
		Key:   []string{"business_id", "id"},
		Joins: []Join{toLocation},
		Query: "SELECT location_name, updated_at, length(`categories.id`) AS categories, length(arrayFlatten(`categories.products_id`)) AS products FROM menus",
	},
	"online_order_items": {
		Key:   []string{"business_id", "order_id", "position"},
		Joins: []Join{toOnlineOrder, toProduct, toLocation},
		Query: "SELECT name, sum(quantity) AS sold, sum(total) AS sales FROM online_order_items WHERE status = 'completed' AND NOT test GROUP BY name ORDER BY sales DESC LIMIT 10",
	},
	"online_order_options": {
		Key:   []string{"business_id", "order_id", "item_position", "position"},
		Joins: []Join{toOnlineOrder, toProduct, toLocation},
		Query: "SELECT name, sum(amount) AS sales FROM online_order_options WHERE status = 'completed' AND NOT test GROUP BY name ORDER BY sales DESC LIMIT 10",
	},
	"online_orders": {
		Key:   []string{"business_id", "id"},
		Joins: []Join{toLocation},
		Query: "SELECT status, count() AS orders, sum(totals_total) AS total FROM online_orders WHERE business_day = today() AND NOT test GROUP BY status",
	},
	"online_orders_reconciliation": {
		Key:   []string{"business_id", "location_id", "date"},
		Joins: []Join{toLocation, onPlaceAndDay("sales_daily_by_location")},
		Query: "SELECT date, location_name, online_orders, sales_orders, difference FROM online_orders_reconciliation ORDER BY date DESC LIMIT 7",
	},
	"order_events": {
		Key:   []string{"business_id", "order_id", "status"},
		Joins: []Join{toOnlineOrder, toLocation},
		Query: "SELECT status, via, count() AS events, round(median(delay_seconds), 1) AS delay FROM order_events WHERE at >= now() - INTERVAL 1 DAY AND NOT test GROUP BY status, via",
	},
	"price_changes": {
		Key:   []string{"business_id", "product_id", "channel", "variant_id", "since"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT since, product_name, channel, old_price, new_price FROM price_changes ORDER BY since DESC LIMIT 10",
	},
	"price_changes_by_id": {
		Key:   []string{"business_id", "product_id", "channel", "variant_id", "since"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT product_id, count() AS changes FROM price_changes_by_id GROUP BY product_id ORDER BY changes DESC LIMIT 20",
	},
	"product_allergens": {
		Key:   []string{"business_id", "product_id", "position"},
		Joins: []Join{toProduct, joins("code", "allergens"), toLocation},
		Query: "SELECT name, count() AS products FROM product_allergens GROUP BY name ORDER BY products DESC",
	},
	"product_channels": {
		Key:   []string{"business_id", "product_id", "channel"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT channel, countIf(enabled) AS offered, count() AS products FROM product_channels GROUP BY channel",
	},
	"product_history": {
		Key:   []string{"business_id", "id", "valid_from", "valid_to"},
		Joins: []Join{joins("id", "products"), toCategory, toLocation},
		Query: "SELECT id, name, price FROM product_history WHERE valid_from <= now() - INTERVAL 7 DAY AND ifNull(valid_to > now() - INTERVAL 7 DAY, true)",
	},
	"product_options": {
		Key:   []string{"business_id", "product_id", "group_position", "position"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT name, min(price) AS lowest, max(price) AS highest FROM product_options WHERE position IS NOT NULL GROUP BY name ORDER BY name",
	},
	"product_variants": {
		Key:   []string{"business_id", "product_id", "position"},
		Joins: []Join{toProduct, toLocation},
		Query: "SELECT product_name, name, price, price_delta FROM product_variants ORDER BY product_name, price",
	},
	"products": {
		Key:   []string{"business_id", "id"},
		Joins: []Join{toCategory, toLocation},
		Query: "SELECT location_name, category_name, count() AS products, countIf(available) AS available_now FROM products GROUP BY ALL",
	},
	"products_ever": {
		Key:   []string{"business_id", "product_id"},
		Joins: []Join{toProduct, toCategory, toLocation},
		Query: "SELECT removed, count() AS products FROM products_ever GROUP BY removed",
	},
	"proof": {
		Key:   []string{"business_id", "source", "location_id"},
		Joins: []Join{toLocation},
		Query: "SELECT source, proven_from, proven_until, days_differing, asked_at FROM proof WHERE location_id IS NULL",
	},
	"quarantine": {
		Key:   []string{"business_id", "source", "stream", "row_id", "raw"},
		Joins: []Join{{[]string{"source", "stream"}, "sync_streams", []string{"source", "stream"}}},
		Query: "SELECT stream, row_id, field, reason FROM quarantine ORDER BY fetched_at DESC",
	},
	"reconciliation": {
		Key:   []string{"business_id", "date"},
		Joins: []Join{onDay("sales_daily"), onDay("sales_daily_computed")},
		Query: "SELECT verdict, count() AS days FROM reconciliation GROUP BY verdict",
	},
	"reconciliation_by_location": {
		Key:   []string{"business_id", "location_id", "date"},
		Joins: []Join{toLocation, onPlaceAndDay("sales_daily_by_location"), onPlaceAndDay("sales_daily_computed_by_location")},
		Query: "SELECT location_name, verdict, count() AS days FROM reconciliation_by_location GROUP BY ALL",
	},
	"sales_daily": {
		Key:   []string{"business_id", "date"},
		Joins: []Join{onDay("sales_daily_computed"), onDay("reconciliation")},
		Query: "SELECT date, orders, net_sales, average_order FROM sales_daily WHERE date >= today() - 7 ORDER BY date",
	},
	"sales_daily_by_location": {
		Key:   []string{"business_id", "location_id", "date"},
		Joins: []Join{toLocation, onPlaceAndDay("sales_daily_computed_by_location"), onPlaceAndDay("reconciliation_by_location")},
		Query: "SELECT date, location_name, net_sales FROM sales_daily_by_location WHERE date >= today() - 7 ORDER BY date, location_name",
	},
	"sales_daily_computed": {
		Key:   []string{"business_id", "date"},
		Joins: []Join{onDay("sales_daily"), onDay("reconciliation")},
		Query: "SELECT orders, net_sales, payments FROM sales_daily_computed WHERE date = today()",
	},
	"sales_daily_computed_by_location": {
		Key:   []string{"business_id", "location_id", "date"},
		Joins: []Join{toLocation, onPlaceAndDay("sales_daily_by_location"), onPlaceAndDay("reconciliation_by_location")},
		Query: "SELECT location_name, orders, net_sales FROM sales_daily_computed_by_location WHERE date = today()",
	},
	"sales_item_extras": {
		Key: []string{"business_id", "order_id", "item_position", "position"},
		Joins: []Join{
			{[]string{"order_id", "item_position"}, "sales_items", []string{"order_id", "position"}},
			toOrder, toProduct, toLocation,
		},
		Query: "SELECT name, sum(amount) AS revenue FROM sales_item_extras WHERE business_day >= today() - 28 GROUP BY name ORDER BY revenue DESC",
	},
	"sales_items": {
		Key:   []string{"business_id", "order_id", "position"},
		Joins: []Join{toOrder, toProduct, toCategory, toLocation},
		Query: "SELECT category_name, sum(net) AS net_sales FROM sales_items WHERE business_day >= today() - 28 GROUP BY category_name ORDER BY net_sales DESC",
	},
	"sales_lines": {
		Key: []string{"business_id", "order_id", "position"},
		Joins: []Join{
			{[]string{"product_id"}, "products_ever", []string{"product_id"}},
			{[]string{"order_id", "position"}, "sales_items", []string{"order_id", "position"}},
			toOrder, toLocation,
		},
		Query: "SELECT product_name, lines, sold FROM (SELECT business_id, product_id, count() AS lines, sum(net) AS sold FROM sales_lines WHERE business_day >= today() - 28 GROUP BY ALL) AS sums JOIN products_ever USING (business_id, product_id) ORDER BY sold DESC",
	},
	"sales_orders": {
		Key:   []string{"business_id", "id"},
		Joins: []Join{toLocation, joins("id", "sales_orders_full")},
		Query: "SELECT channel, count() AS orders, sum(totals_net_sales) AS net FROM sales_orders WHERE business_day >= today() - 7 GROUP BY channel",
	},
	"sales_orders_full": {
		Key:   []string{"business_id", "id"},
		Joins: []Join{toLocation, joins("id", "sales_orders")},
		Query: "SELECT number, items.name, items.total, payments.method FROM sales_orders_full ORDER BY created_at DESC LIMIT 3",
	},
	"sales_orders_removed": {
		Key:   []string{"business_id", "id"},
		Joins: []Join{toLocation},
		Query: "SELECT reason, count() AS orders, sum(totals_net_sales) AS known_value FROM sales_orders_removed GROUP BY reason",
	},
	"sales_payments": {
		Key:   []string{"business_id", "order_id", "position"},
		Joins: []Join{toOrder, toLocation},
		Query: "SELECT method, sum(amount) AS paid FROM sales_payments WHERE business_day >= today() - 7 GROUP BY method ORDER BY paid DESC",
	},
	"sales_products": {
		Key:   []string{"business_id", "date", "product_id", "name"},
		Joins: []Join{toProduct, toCategory},
		Query: "SELECT name, quantity, net FROM sales_products WHERE date = today() - 1 ORDER BY net DESC LIMIT 10",
	},
	"sales_products_by_location": {
		Key:   []string{"business_id", "location_id", "date", "product_id", "name"},
		Joins: []Join{toProduct, toCategory, toLocation},
		Query: "SELECT location_name, name, quantity, net FROM sales_products_by_location WHERE date = today() - 1 ORDER BY net DESC LIMIT 10",
	},
	"sales_quantities": {
		Key:   []string{"business_id", "order_id", "position"},
		Joins: []Join{toOrder, toProduct, toLocation},
		Query: "SELECT product_id, sum(pieces) AS sold FROM sales_quantities WHERE business_day >= today() - 28 GROUP BY product_id HAVING sold > 0 ORDER BY sold DESC LIMIT 20",
	},
	"sales_refunds": {
		Key:   []string{"business_id", "order_id", "position"},
		Joins: []Join{toOrder, toProduct, toLocation},
		Query: "SELECT refund_day, sum(amount) AS refunded FROM sales_refunds WHERE refund_day >= today() - 28 GROUP BY refund_day ORDER BY refund_day",
	},
	"schema_drift": {
		Key:   []string{"business_id", "source", "stream", "kind", "path", "example"},
		Joins: []Join{{[]string{"source", "stream"}, "sync_streams", []string{"source", "stream"}}},
		Query: "SELECT stream, kind, path, example, first_seen_at FROM schema_drift ORDER BY first_seen_at DESC",
	},
	"stock_cover": {
		Key:   []string{"business_id", "ingredient_id"},
		Joins: []Join{toStock, toLocation},
		Query: "SELECT location_name, ingredient_name, stock, unit, days_left FROM stock_cover WHERE days_left < 3 ORDER BY days_left",
	},
	"stock_history": {
		Key:   []string{"business_id", "id", "valid_from", "valid_to"},
		Joins: []Join{joins("id", "ingredients"), toLocation},
		Query: "SELECT name, stock, unit FROM stock_history WHERE valid_from <= today() AND ifNull(valid_to > today(), true)",
	},
	"stock_movements": {
		Key:   []string{"business_id", "ingredient_id", "at"},
		Joins: []Join{toStock, toLocation},
		Query: "SELECT ingredient_name, direction, sum(difference) AS moved, unit FROM stock_movements WHERE at >= today() - 1 AND kind IS NULL GROUP BY ALL",
	},
	"sync_runs": {
		Key:   []string{"business_id", "source", "stream", "walk", "started_at"},
		Joins: []Join{{[]string{"source", "stream"}, "sync_streams", []string{"source", "stream"}}},
		Query: "SELECT started_at, stream, walk, rows, error FROM sync_runs ORDER BY started_at DESC LIMIT 10",
	},
	"sync_streams": {
		Key:   []string{"business_id", "source", "stream"},
		Query: "SELECT source, stream, state, watermark FROM sync_streams ORDER BY source, stream",
	},
}

// WriteGuide writes what is known of a view beside its columns. Its grain is how its
// comment begins.
func WriteGuide(text *strings.Builder, g Guide) {
	fmt.Fprintf(text, "\n- Key: `%s`\n", strings.Join(g.Key, "`, `"))
	if len(g.Joins) > 0 {
		var joins []string
		for _, j := range g.Joins {
			var equal []string
			for i, column := range j.Columns {
				equal = append(equal, fmt.Sprintf("`%s` = `%s`", column, j.On[i]))
			}
			joins = append(joins, fmt.Sprintf("[`%s`](#views-%s) (%s)", j.View, j.View, strings.Join(equal, ", ")))
		}
		fmt.Fprintf(text, "- Joins, by `business_id` and: %s\n", strings.Join(joins, ", "))
	}
	fmt.Fprintf(text, "\n```sql\n%s\n```\n", g.Query)
}
