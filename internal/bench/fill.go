package main

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// What is made of each restaurant: two locations, each with products of its own.
const (
	shopProducts    = 150
	shopIngredients = 120
	stockDays       = 60 // watched
	stockChanges    = 12 // of an ingredient, a day
)

// filling is how many orders are made, of how many restaurants, and what their ids are.
type filling struct {
	orders, shops int
	// byTime gives ids that begin with the time, such as ULIDs, and makes the oldest order
	// first, as a backfill does. Without it ids are random: the orders of each day lie all
	// over the table, which is the worst that there is.
	byTime bool
}

// A hundred restaurants with a hundred thousand orders each.
var (
	queryFilling = filling{orders: 10_000_000, shops: 100}
	queryByTime  = filling{orders: 10_000_000, shops: 100, byTime: true}
)

// tenth has as many orders of each restaurant, and fewer restaurants.
func (f filling) tenth() filling {
	f.orders, f.shops = f.orders/10, f.shops/10
	return f
}

// opened is when an order was opened, in seconds before the last instant.
func (f filling) opened() string {
	const seconds = queryYears * 365 * 86400
	if f.byTime {
		return fmt.Sprintf("intDiv((%d - 1 - number) * %d, %[1]d)", f.orders, seconds)
	}
	return fmt.Sprintf("modulo(intHash32(number), %d)", seconds)
}

// id is the id of an order.
func (f filling) id() string {
	if f.byTime {
		return "lower(concat(leftPad(hex(toUnixTimestamp64Milli(toDateTime64(opened, 3))), 12, '0'), hex(h)))"
	}
	return "lower(hex(h))"
}

// fillOrders makes orders inside the engine: 3 to 5 lines each, spread over two years
// and the restaurants. Some lines have extras, variants or a weight; some orders a
// discount, a tip, a deposit, two payments, a refund; one in two hundred was cancelled.
// %[1]s is the last instant.
const fillOrders = `
INSERT INTO larder_raw.sales_orders (
    business_id, id, number, location_id, channel, type, business_day, created_at, updated_at, paid_at,
    items.id, items.product_id, items.name, items.variant_id, items.variant_name, items.quantity, items.weight_kg,
    items.price_per_kg, items.unit_price, items.extras_name, items.extras_price, items.discount_percent, items.vat_rate, items.total,
    totals_items, totals_discount, totals_delivery_fee, totals_tip, totals_deposit, totals_total, totals_net_sales,
    payments.method, payments.amount, payments.at, refunds.amount, refunds.method, refunds.at, refunds.item_id,
    _source, _version, _fetched_at, _deleted, _deleted_at, _delete_reason, _raw)
WITH
    cityHash64(number) AS h,
    3 + modulo(h, 3) AS lines,
    modulo(h, 2) AS place,
    %[1]s - toIntervalSecond(%[2]s) AS opened,
    opened + toIntervalMinute(40) AS paid,
    ['dine_in', 'takeaway', 'delivery'][1 + modulo(h, 3)] AS order_type,
    ['cash', 'card', 'card', 'online', 'voucher'][1 + modulo(intDiv(h, 7), 5)] AS method,
    -- Each location has products of its own; an odd one is of the second.
    arrayMap(i -> modulo(cityHash64(number, i), intDiv(%[6]d, 2)) * 2 + place, range(lines)) AS products,
    arrayMap(p -> toDecimal64(8 + modulo(p, 60), 2), products) AS prices,
    arrayMap(p -> modulo(p, 25) = 7, products) AS weighed,
    arrayMap(w -> toDecimal128(if(w, '0.5', '1'), 10), weighed) AS quantities,
    arrayMap(p -> if(modulo(p, 5) = 0 AND modulo(h, 4) < 2, ['Extra ' || toString(modulo(p, 10)), 'Extra mare'], CAST([], 'Array(String)')), products) AS extras,
    arrayMap(names -> arrayMap(name -> toDecimal64(3, 2), names), extras) AS extra_prices,
    arrayMap((price, w, names) -> toDecimal64(if(w, price * 0.5, price) + 3 * length(names), 2), prices, weighed, extras) AS totals,
    toDecimal64(arraySum(totals), 2) AS items,
    toDecimal64(if(modulo(intDiv(h, 11), 10) = 0, 5, 0), 2) AS discount,
    toDecimal64(if(order_type = 'delivery', 10, 0), 2) AS fee,
    toDecimal64(if(modulo(intDiv(h, 13), 20) = 0, 7, 0), 2) AS tip,
    toDecimal64(if(modulo(intDiv(h, 17), 3) = 0, 0.5, 0), 2) AS deposit,
    toDecimal64(items - discount + fee, 2) AS net_sales,
    toDecimal64(net_sales + tip + deposit, 2) AS total,
    modulo(intDiv(h, 19), 20) = 0 AS paid_twice,
    modulo(intDiv(h, 23), 100) = 0 AS refunded,
    modulo(intDiv(h, 29), 200) = 0 AS cancelled
SELECT
    concat('biz_', leftPad(toString(modulo(number, %[3]d)), 3, '0')), concat('ord_', %[7]s), toString(number), concat('loc_', toString(place)),
    ['pos', 'platform_a', 'platform_b', 'direct'][1 + modulo(h, 4)], order_type,
    toDate32(toTimeZone(opened, 'Europe/Bucharest')), opened, paid, paid,
    arrayMap(i -> concat('itm_', toString(i)), range(lines)), arrayMap(p -> concat('prd_', toString(p)), products), arrayMap(p -> concat('Produs ', toString(intDiv(p, 2))), products),
    arrayMap(p -> if(modulo(p, 6) = 1, 'var_' || toString(p) || '_' || toString(modulo(h, 2)), NULL), products), arrayMap(p -> if(modulo(p, 6) = 1, ['mic', 'mare'][1 + modulo(h, 2)], NULL), products),
    quantities, arrayMap(w -> if(w, toDecimal128('0.5', 10), NULL), weighed), arrayMap((price, w) -> if(w, price, NULL), prices, weighed), prices, extras, extra_prices,
    arrayMap(p -> toDecimal128(0, 10), products), arrayMap(p -> toDecimal128(if(modulo(p, 7) = 0, 21, 11), 10), products), totals,
    items, discount, fee, tip, deposit, total, net_sales,
    if(paid_twice, ['cash', 'card'], [method]), if(paid_twice, [toDecimal64(5, 2), toDecimal64(total - 5, 2)], [total]), if(paid_twice, [paid, paid], [paid]),
    if(refunded, [totals[1]], []), if(refunded, [method], []), if(refunded, [paid + toIntervalHour(modulo(h, 72))], []), if(refunded, ['itm_0'], []),
    'bench', number + 1, paid, cancelled, if(cancelled, paid + toIntervalHour(1), NULL), if(cancelled, 'cancelled', ''), ''
FROM numbers(%[4]d, %[5]d)`

// fillOrders makes the orders, the last of them at most at an instant of the engine's SQL,
// in twenty inserts.
func (f filling) fillOrders(ctx context.Context, conn driver.Conn, last string) error {
	batch := f.orders / 20
	for from := 0; from < f.orders; from += batch {
		if err := conn.Exec(ctx, fmt.Sprintf(fillOrders, last, f.opened(), f.shops, from, batch, shopProducts, f.id())); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	return nil
}

// fillAround are the tables beside the orders that panels read, all of each restaurant. They
// have names, opening hours, the menu with a year of its changes, and the stock with its
// movements. They also have the service's totals of every day with what reconciliation found.
// Nothing is left out because a panel is slow with it.
var fillAround = []string{
	`INSERT INTO larder_raw.api_keys (business_id, id, business_name, app_name, all_locations, _source, _version, _fetched_at)
SELECT concat('biz_', leftPad(toString(number), 3, '0')), 'key', concat('Restaurant ', toString(number)), 'bench', true, 'bench', 1, now64(6) FROM numbers(%[1]d)`,

	`INSERT INTO larder_raw.locations (business_id, id, name, timezone,
    opening_hours_monday_open, opening_hours_monday_close, opening_hours_monday_closed, opening_hours_tuesday_open, opening_hours_tuesday_close, opening_hours_tuesday_closed,
    opening_hours_wednesday_open, opening_hours_wednesday_close, opening_hours_wednesday_closed, opening_hours_thursday_open, opening_hours_thursday_close, opening_hours_thursday_closed,
    opening_hours_friday_open, opening_hours_friday_close, opening_hours_friday_closed, opening_hours_saturday_open, opening_hours_saturday_close, opening_hours_saturday_closed,
    opening_hours_sunday_open, opening_hours_sunday_close, opening_hours_sunday_closed, _source, _version, _fetched_at)
SELECT concat('biz_', leftPad(toString(intDiv(number, 2)), 3, '0')), concat('loc_', toString(modulo(number, 2))), ['Centru', 'Gară'][1 + modulo(number, 2)], 'Europe/Bucharest',
    '10:00', '23:00', false, '10:00', '23:00', false, '10:00', '23:00', false, '10:00', '23:00', false, '10:00', '02:00', false, '10:00', '02:00', false, '10:00', '23:00', false, 'bench', 1, now64(6)
FROM numbers(%[1]d * 2)`,

	`INSERT INTO larder_raw.categories (business_id, id, name, position, _source, _version, _fetched_at)
SELECT concat('biz_', leftPad(toString(intDiv(number, 12)), 3, '0')), concat('cat_', toString(modulo(number, 12))), concat('Categoria ', toString(modulo(number, 12))), modulo(number, 12), 'bench', 1, now64(6)
FROM numbers(%[1]d * 12)`,

	// A product is stored 25 times in a year: prices rise, and it is sold out for half a day
	// now and then; the feed writes its history.
	`INSERT INTO larder_raw.products (business_id, id, location_id, category_id, name, price, unit, available, channels_enabled, channels_price,
    variants.id, variants.name, variants.price, variants.price_delta, created_at, updated_at, _source, _version, _fetched_at)
WITH
    intDiv(number, %[2]d * 25) AS shop, modulo(intDiv(number, 25), %[2]d) AS p, modulo(number, 25) AS nth,
    now64(6) - toIntervalHour((24 - nth) * 15 * 24 + modulo(cityHash64(shop, p), 360)) + toIntervalHour(if(modulo(nth, 4) = 3, -354, 0)) AS changed,
    toDecimal64(8 + modulo(p, 60) + intDiv(nth, 6), 2) AS now_price
SELECT
    concat('biz_', leftPad(toString(shop), 3, '0')), concat('prd_', toString(p)), concat('loc_', toString(modulo(p, 2))), concat('cat_', toString(modulo(p, 12))), concat('Produs ', toString(intDiv(p, 2))),
    now_price, if(modulo(p, 25) = 7, 'kg', 'piece'), modulo(nth, 4) != 2 AND NOT (nth = 24 AND modulo(p, 30) = 0), map('online', true, 'platform_a', true), map('online', now_price, 'platform_a', now_price + 2),
    if(modulo(p, 6) = 1, ['var_' || toString(p) || '_0', 'var_' || toString(p) || '_1'], []), if(modulo(p, 6) = 1, ['mic', 'mare'], []), if(modulo(p, 6) = 1, [now_price, now_price + 4], []), if(modulo(p, 6) = 1, [0, 4], []),
    changed, changed, 'bench', nth + 1, changed
FROM numbers(%[1]d * %[2]d * 25)`,

	`INSERT INTO larder_raw.stock_history (business_id, id, location_id, name, unit, stock, min_stock, below_min, removed, removed_reason, valid_from, seen_at, _version, _state)
WITH
    %[4]d * %[5]d AS states,
    intDiv(number, %[3]d * states) AS shop, modulo(intDiv(number, states), %[3]d) AS ingredient, modulo(number, states) AS nth,
    now64(6) - toIntervalSecond((states - nth) * intDiv(86400, %[5]d)) AS changed,
    toDecimal128(40 - modulo(nth, 60), 10) AS left
SELECT
    concat('biz_', leftPad(toString(shop), 3, '0')), concat('ing_', toString(ingredient)), concat('loc_', toString(modulo(ingredient, 2))), concat('Ingredient ', toString(intDiv(ingredient, 2))), ['kg', 'l', 'buc'][1 + modulo(ingredient, 3)],
    left, 5, left <= 5, false, '', changed, changed, toUnixTimestamp64Micro(changed), cityHash64(left)
FROM numbers(%[1]d * %[3]d * %[4]d * %[5]d)`,

	`INSERT INTO larder_raw.ingredients (business_id, id, location_id, name, unit, stock, min_stock, below_min, updated_at, _source, _version, _fetched_at)
WITH intDiv(number, %[3]d) AS shop, modulo(number, %[3]d) AS ingredient, toDecimal128(toInt64(modulo(cityHash64(number), 60)) - 4, 10) AS left
SELECT concat('biz_', leftPad(toString(shop), 3, '0')), concat('ing_', toString(ingredient)), concat('loc_', toString(modulo(ingredient, 2))), concat('Ingredient ', toString(intDiv(ingredient, 2))), ['kg', 'l', 'buc'][1 + modulo(ingredient, 3)],
    left, 5, left <= 5, now64(6), 'bench', toUnixTimestamp64Micro(now64(6)), now64(6)
FROM numbers(%[1]d * %[3]d)`,

	// What the service reports is what the orders give.
	`INSERT INTO larder_raw.sales_daily (business_id, id, location_id, date, orders, net_sales, items, discounts, delivery_fees, tips, deposits, refunds, payments, by_type, by_channel, _source, _version, _fetched_at)
SELECT business_id, toString(date), NULL, date, orders, net_sales, items, discounts, delivery_fees, tips, deposits, refunds, payments, by_type, by_channel, 'bench', 1, now64(6) FROM larder.sales_daily_computed`,

	`INSERT INTO larder_raw.sales_daily (business_id, id, location_id, date, orders, net_sales, items, discounts, delivery_fees, tips, deposits, refunds, payments, by_type, by_channel, _source, _version, _fetched_at)
SELECT business_id, concat(toString(date), '/', location_id), location_id, date, orders, net_sales, items, discounts, delivery_fees, tips, deposits, refunds, payments, by_type, by_channel, 'bench', 1, now64(6) FROM larder.sales_daily_computed_by_location`,

	`INSERT INTO larder_raw.proofs (business_id, source, location_id, day, subject, verdict, requests, asked_at)
SELECT business_id, 'bench', ifNull(location_id, ''), date, subject, 'proven', 1, now64(6)
FROM larder_raw.sales_daily FINAL ARRAY JOIN if(isNull(location_id), ['daily', 'products'], ['daily']) AS subject`,

	`INSERT INTO larder_raw.checkpoints (business_id, source, stream, walk, done, started_at, updated_at)
SELECT '', 'bench', 'sales_daily', 'reconcile_deep', true, now64(6), now64(6)`,
}

func (f filling) fillTables(ctx context.Context, conn driver.Conn) error {
	for _, sql := range fillAround {
		if err := conn.Exec(ctx, fmt.Sprintf(sql+"\n-- %[1]d %[2]d %[3]d %[4]d %[5]d", f.shops, shopProducts, shopIngredients, stockDays, stockChanges)); err != nil {
			return fmt.Errorf("fill: %w\n%s", err, sql)
		}
	}
	return nil
}
