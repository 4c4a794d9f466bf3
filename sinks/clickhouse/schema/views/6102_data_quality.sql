-- Rules that the API's description states, each with its sentence. It does not say that payments add up to
-- the total, nor that refunds are bounded by it: a negative total is no contradiction.

CREATE OR REPLACE VIEW `{{db}}`.`data_quality`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order that contradicts the rule; it is kept as the service gave it',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `business_day` Date32 COMMENT 'Day the order counts on, as the service says',
    `rule` String COMMENT 'net_sales_of_total: net sales = total - tip - deposit; net_sales_of_items: net sales = items - discount + delivery fee; items: the totals of the lines add up to items; item_total: a line is quantity x unit price x (1 - discount) + extras x quantity, to within 0.01; business_day: it is the Bucharest day of created_at',
    `stated` String COMMENT 'What the order says, RON or a day; of lines, the sum of those that contradict',
    `computed` String COMMENT 'What the rule gives, RON or a day',
    `item_ids` Array(String) COMMENT 'Lines that contradict the rule item_total',
    `fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with the order'
)
AS SELECT
    business_id, id AS order_id, location_id, business_day,
    found.1 AS rule, found.2 AS stated, found.3 AS computed, found.4 AS item_ids, order_fetched_at AS fetched_at
FROM
(
    SELECT
        business_id, id, location_id, business_day, order_fetched_at,
        arrayFilter(lines -> NOT lines.5, [
            -- "net_sales = total - tip - SGR deposit" (What the service does)
            ('net_sales_of_total', toDecimalString(net_sales, 2), toDecimalString(of_total, 2), no_ids, net_sales = of_total),
            -- "(equal to items - order discount + delivery fee)" (What the service does)
            ('net_sales_of_items', toDecimalString(net_sales, 2), toDecimalString(of_items, 2), no_ids, net_sales = of_items),
            -- "items: money, line totals after line discounts" (Sales breakdown)
            ('items', toDecimalString(items, 2), toDecimalString(line_sum, 2), no_ids, items = line_sum),
            -- "total = quantity x unit_price x (1 - discount) + extras x quantity" (Sales item)
            ('item_total', toDecimalString(wrong_stated, 2), toDecimalString(wrong_computed, 2), wrong_ids, empty(wrong)),
            -- "business_day: date: Bucharest day of created_at" (Sales order)
            ('business_day', toString(business_day), toString(bucharest_day), no_ids, business_day = bucharest_day)
        ]) AS contradictions
    FROM
    (
        SELECT
            business_id, id, location_id, business_day, _fetched_at AS order_fetched_at,
            emptyArrayString() AS no_ids,
            toDecimal128(totals_net_sales, 2) AS net_sales,
            toDecimal128(totals_total, 2) AS total,
            toDecimal128(totals_items, 2) AS items,
            total - totals_tip - totals_deposit AS of_total,
            items - totals_discount + totals_delivery_fee AS of_items,
            toDecimal128(arraySum(`items.total`), 2) AS line_sum,
            toDate32(created_at) AS bucharest_day,
            arrayMap((quantity, price, percent, extras) ->
                least(greatest(toDecimal256(quantity, 10), toDecimal256('-1000000000000000', 10)), toDecimal256('1000000000000000', 10))
                    * (toDecimal256(price, 2) * (100 - least(greatest(toDecimal256(percent, 10), toDecimal256('-1000000', 10)), toDecimal256('1000000', 10)))
                        + toDecimal256(arraySum(extras), 2) * 100)
                    * toDecimal256('0.01', 2),
                `items.quantity`, `items.unit_price`, `items.discount_percent`, `items.extras_price`) AS line_computed,
            arrayFilter((n, stated, computed) -> abs(toDecimal256(stated, 2) - computed) > toDecimal256('0.01', 2),
                arrayEnumerate(`items.total`), `items.total`, line_computed) AS wrong,
            arrayMap(n -> `items.id`[n], wrong) AS wrong_ids,
            arraySum(arrayMap(n -> toDecimal256(`items.total`[n], 2), wrong)) AS wrong_stated,
            arraySum(arrayMap(n -> toDecimal256(round(line_computed[n], 2), 2), wrong)) AS wrong_computed
        FROM `{{raw}}`.`sales_orders` FINAL
        SETTINGS optimize_move_to_prewhere_if_final = 1
    )
)
ARRAY JOIN contradictions AS found
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, order and rule that it contradicts: live orders whose figures do not add up as the API says';
