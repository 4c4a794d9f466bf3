package clickhouse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/mapping"
)

// pizza is a product of a menu, with holes for what the tests vary.
func pizza(id, price, available string) string {
	return fmt.Sprintf(`{"id":%q,"name":"Pizza %[1]s","description":"bună","image_url":null,"price":%q,"vat_rate":11,"available":%s,
"allergens":[{"code":"A1","name":"gluten"},{"code":"A7","name":"lapte"}],"diets":["vegetarian"],"calories":0,"prep_minutes":15,"deposit":"0.50",
"variants":[{"id":"v_1","name":"mică","price":%[2]q},{"id":"v_2","name":"mare","price":"40.00"}],
"extra_groups":[{"id":"g_1","name":"Sosuri","min":0,"max":null,"required":false,"options":[{"id":"x_1","name":"alb","price":"2.00"},{"id":"x_2","name":"roșu","price":"2.50"}]},
 {"id":"g_2","name":"Blat","min":1,"max":1,"required":true,"options":[{"id":"x_3","name":"subțire","price":"0.00"}]},
 {"id":"g_3","name":"Altele","min":0,"max":null,"required":false,"options":[]}],"position":3}`, id, price, available)
}

// drink is one without variants and extras.
const drink = `{"id":"d","name":"Apă","description":null,"image_url":null,"price":"9.00","vat_rate":null,"available":true,"allergens":[],"diets":[],
"calories":12,"prep_minutes":null,"deposit":null,"variants":[],"extra_groups":[],"position":1}`

// menuOf is a menu: pizzas in one category, a drink in another, and a category without products.
func menuOf(location, stamp string, pizzas ...string) string {
	if stamp != "null" {
		stamp = `"` + stamp + `"`
	}
	return fmt.Sprintf(`{"location_id":%q,"currency":"RON","updated_at":%s,"categories":[
{"id":"c1","name":"Pizza","image_url":"https://img.test/p","position":1,"products":[%s]},
{"id":"c0","name":"Nimic","image_url":null,"position":2,"products":[]},
{"id":"c2","name":"Băuturi","image_url":null,"position":3,"products":[%s]}]}`, location, stamp, strings.Join(pizzas, ","), drink)
}

func emptyMenu(location, stamp string) string {
	return fmt.Sprintf(`{"location_id":%q,"currency":"RON","updated_at":%q,"categories":[]}`, location, stamp)
}

func putMenus(m *mirror, business, etag string, rows ...string) {
	m.t.Helper()
	plan, err := mapping.Compile[types.OrderableMenu]("menus", sinks.Column{Name: "etag", Kind: sinks.Text, Nullable: true})
	if err != nil {
		m.t.Fatal(err)
	}
	m.store(business, "menus", batchOf(m, plan, rows, etag))
}

func TestMenusUnfold(t *testing.T) {
	m := newMirror(t)
	putMenus(m, "biz", `"v1"`, menuOf("l1", "2026-03-01T10:00:00Z", pizza("p1", "25.00", "true"), pizza("p2", "30.00", "false")))
	putMenus(m, "biz", "", emptyMenu("l2", "2026-03-01T10:00:00Z"))
	putMenus(m, "other", "", menuOf("l1", "null", pizza("p1", "99.00", "true")))
	m.expect("SELECT id, location_id, etag, currency, updated_at, length(`categories.id`) FROM menus WHERE business_id = 'biz' ORDER BY id",
		`l1|l1|"v1"|RON|2026-03-01 12:00:00.000000|3`, `l2|l2|\N|RON|2026-03-01 12:00:00.000000|0`)
	m.expect("SELECT location_id, category_position, category_id, category_name, position, product_id, name, price, deposit, available, calories, vat_rate, prep_minutes, description, `allergens.code`, diets FROM menu_products WHERE business_id = 'biz' ORDER BY ALL",
		`l1|1|c1|Pizza|3|p1|Pizza p1|25|0.5|true|\N|11|15|bună|['A1','A7']|['vegetarian']`,
		`l1|1|c1|Pizza|3|p2|Pizza p2|30|0.5|false|\N|11|15|bună|['A1','A7']|['vegetarian']`,
		`l1|3|c2|Băuturi|1|d|Apă|9|\N|true|12|\N|\N|\N|[]|[]`)
	m.expect("SELECT product_id, product_name, category_name, available, position, id, name, price FROM menu_variants WHERE business_id = 'biz' ORDER BY product_id, position",
		"p1|Pizza p1|Pizza|true|1|v_1|mică|25", "p1|Pizza p1|Pizza|true|2|v_2|mare|40", "p2|Pizza p2|Pizza|false|1|v_1|mică|30", "p2|Pizza p2|Pizza|false|2|v_2|mare|40")
	m.expect("SELECT product_id, group_position, group_id, group_name, group_min, group_max, group_required, position, id, name, price FROM menu_options WHERE business_id = 'biz' AND product_id = 'p1' ORDER BY ALL",
		`p1|1|g_1|Sosuri|0|\N|false|1|x_1|alb|2`, `p1|1|g_1|Sosuri|0|\N|false|2|x_2|roșu|2.5`, `p1|2|g_2|Blat|1|1|true|1|x_3|subțire|0`,
		`p1|3|g_3|Altele|0|\N|false|\N|\N|\N|\N`)
	m.expect("SELECT location_id, position, category_id, category_name, image_url, products FROM menu_categories WHERE business_id = 'biz' ORDER BY ALL",
		"l1|1|c1|Pizza|https://img.test/p|2", `l1|2|c0|Nimic|\N|0`, `l1|3|c2|Băuturi|\N|1`)
	m.expect("SELECT business_id, price FROM menu_products WHERE product_id = 'p1' ORDER BY price", "biz|25", "other|99")
	m.remove("biz", "menus", "l1", "no_access")
	for _, view := range []string{"menu_categories", "menu_products", "menu_variants", "menu_options"} {
		m.expect("SELECT count() FROM "+view+" WHERE business_id = 'biz'", "0")
	}
}

// Each state of a product once, with when it was on the menu: a menu that is stored again
// changes nothing, what is taken off ends, and what returns begins anew.
func TestWhatAMenuOfferedAndWhen(t *testing.T) {
	m := newMirror(t)
	putMenus(m, "biz", "a", menuOf("l1", "2026-03-01T10:00:00Z", pizza("p1", "25.00", "true"), pizza("p2", "30.00", "true")))
	putMenus(m, "biz", "b", menuOf("l1", "2026-03-01T10:00:00Z", pizza("p1", "25.00", "true"), pizza("p2", "30.00", "true"))) // a full resync
	putMenus(m, "biz", "c", menuOf("l1", "2026-03-02T10:00:00Z", pizza("p1", "27.00", "true"), pizza("p2", "30.00", "true")))
	putMenus(m, "biz", "d", menuOf("l1", "2026-03-03T10:00:00Z", pizza("p1", "27.00", "true")))                                // p2 is taken off
	putMenus(m, "biz", "e", menuOf("l1", "2026-03-04T10:00:00Z", pizza("p1", "27.00", "false"), pizza("p2", "30.00", "true"))) // and returns; p1 is sold out
	putMenus(m, "biz", "f", menuOf("l1", "2026-03-04T10:00:00Z", pizza("p1", "27.00", "true"), pizza("p2", "30.00", "true")))  // without a new stamp
	putMenus(m, "biz", "g", menuOf("l2", "2026-03-01T10:00:00Z", pizza("p9", "1.00", "true")))
	putMenus(m, "other", "h", menuOf("l1", "2026-03-01T10:00:00Z", pizza("p1", "25.00", "true")))
	const columns = "SELECT product_id, price, available, toString(valid_from, 'UTC'), toString(valid_to, 'UTC') FROM menu_history WHERE business_id = 'biz' AND location_id = "
	m.expect(columns+"'l1' ORDER BY product_id, valid_from",
		`d|9|true|2026-03-01 10:00:00.000000|\N`,
		`p1|25|true|2026-03-01 10:00:00.000000|2026-03-02 10:00:00.000000`,
		`p1|27|true|2026-03-02 10:00:00.000000|2026-03-04 10:00:00.000000`,
		`p1|27|false|2026-03-04 10:00:00.000000|2026-04-01 12:06:00.000000`, // seen then, dated before
		`p1|27|true|2026-04-01 12:06:00.000000|\N`,
		`p2|30|true|2026-03-01 10:00:00.000000|2026-03-03 10:00:00.000000`,
		`p2|30|true|2026-03-04 10:00:00.000000|\N`)
	m.expect(columns+"'l2' ORDER BY product_id", `d|9|true|2026-03-01 10:00:00.000000|\N`, `p9|1|true|2026-03-01 10:00:00.000000|\N`)

	m.remove("biz", "menus", "l1", "no_access")
	m.expect(columns+"'l1' AND valid_to IS NULL", []string(nil)...)
	putMenus(m, "biz", "i", emptyMenu("l2", "2026-03-05T10:00:00Z"))
	m.expect(columns+"'l2' ORDER BY product_id", `d|9|true|2026-03-01 10:00:00.000000|2026-03-05 10:00:00.000000`, `p9|1|true|2026-03-01 10:00:00.000000|2026-03-05 10:00:00.000000`)
	putMenus(m, "biz", "j", menuOf("l1", "2026-03-04T10:00:00Z", pizza("p1", "27.00", "true")))
	m.expect(columns+"'l1' AND valid_to IS NULL ORDER BY product_id", `d|9|true|2026-04-01 12:11:00.000000|\N`, `p1|27|true|2026-04-01 12:11:00.000000|\N`)
	// As guests saw it at an instant.
	m.expect("SELECT product_id, price FROM menu_history WHERE business_id = 'biz' AND location_id = 'l1' AND valid_from <= toDateTime('2026-03-02 12:00:00', 'UTC') AND ifNull(valid_to > toDateTime('2026-03-02 12:00:00', 'UTC'), true) ORDER BY product_id",
		"d|9", "p1|27", "p2|30")
}

// A year of a menu that changes several times a day is 2,000 versions of hundreds of
// products: what has changed between two is told without a copy of one list for each
// element of the other, which took gigabytes.
func TestTheHistoryOfABusyMenuTakesLittleMemory(t *testing.T) {
	const versions, products = 2000, 400
	s, database := migratedAnew(t, clickhouse.Options{FlushInterval: time.Millisecond})
	conn := enginetest.Conn(t, database)
	for _, sql := range []string{
		// In each version one product is sold out, and back in the next one.
		`INSERT INTO %[1]s_raw.menu_versions (business_id, id, _states, valid_from, seen_at, _version)
			SELECT 'biz', 'l1', arraySort(arrayMap(i -> i * 10 + (i = number %% %[3]d) + 1, range(%[3]d))), toDateTime('2026-01-01') + number * 3600, toDateTime('2026-01-01') + number * 3600, number + 1 FROM numbers(%[2]d)`,
		`INSERT INTO %[1]s_raw.menu_states (business_id, id, product_id, name, available, _state)
			SELECT 'biz', 'l1', toString(intDiv(number, 2)), 'Pizza', number %% 2 = 0, intDiv(number, 2) * 10 + number %% 2 + 1 FROM numbers(%[3]d * 2)`,
	} {
		if err := conn.Exec(t.Context(), fmt.Sprintf(sql, database, versions, products)); err != nil {
			t.Fatal(err)
		}
	}
	got := query(t, s, "SELECT count(), countIf(available), countIf(valid_to IS NULL) FROM menu_history SETTINGS max_memory_usage = 300000000, max_threads = 2", "TSV")
	// Sold out: one product in each version. Available: before, between and after, but for the
	// product of the first version and that of the last one.
	available := products*(versions/products+1) - 2
	if want := fmt.Sprintf("%d\t%d\t%d\n", versions+available, available, products); got != want {
		t.Errorf("states, with the product available, that hold now: %q, want %q", got, want)
	}
}
