-- Until when the mirror is proven, and orders that contradict the rules of the API.

CREATE OR REPLACE VIEW {{view "proof"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the proof is of; null is all locations of the source together',
    `first_day` Date32 COMMENT 'Day of the first mirrored order, removed ones included (Europe/Bucharest); where there is none, the first day that was asked about',
    `proven_from` Nullable(Date32) COMMENT 'Every day from this one up to proven_until is proven, healed or explained: all of the mirror is when this is first_day (larder reconcile compares older days); null when proven_until is',
    `proven_until` Nullable(Date32) COMMENT 'The last day up to which each day is proven, healed or explained, of the 92 days up to the last that was asked about. It is never the running day, whose figures go on; null when the first of the 92 days is none of the three',
    `days_differing` Int64 COMMENT 'Number of days that differ now: drift that repairing did not help',
    `differing` Array(Date32) COMMENT 'The days that differ now',
    `days_asked` Int64 COMMENT 'Number of days that have a verdict',
    `asked_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service was asked for the newest verdict stored; a later one that says the same is not stored'
)
AS SELECT
    business_id, source, CAST(nullIf(place, ''), 'LowCardinality(Nullable(String))') AS location_id,
    first_day,
    if(proven_days = 0, NULL, toNullable(base - toInt32(days_before))) AS proven_from,
    if(proven_days = 0, NULL, toNullable(base + toInt32(proven_days - 1))) AS proven_until,
    toInt64(length(differing)) AS days_differing,
    differing, days_asked, asked_at
FROM
(
    SELECT
        business_id, place,
        asked.1 AS source, asked.4 AS differing, asked.5 AS days_asked, asked.6 AS asked_at,
        ifNull(first_order_day, asked.2) AS first_day,
        greatest(first_day, asked.7 - 91) AS base,
        arrayFilter(day -> day >= base, asked.3) AS good,
        arrayCount((day, n) -> toInt32(day) - toInt32(base) = n - 1, good, arrayEnumerate(good)) AS proven_days,
        arrayReverse(arrayFilter(day -> day >= first_day AND day < base, asked.3)) AS before,
        arrayCount((day, n) -> toInt32(base) - toInt32(day) = n, before, arrayEnumerate(before)) AS days_before
    FROM
    (
        SELECT business_id, place, min(order_day) AS first_order_day, groupArrayArray(asked_by_source) AS asked_by_sources
        FROM
        (
            SELECT business_id, place, NULL::Nullable(Date32) AS order_day, CAST(groupArray(
                (source, first_asked_day, good, bad, days_asked, source_asked_at, last_asked_day)), 'Array(Tuple(LowCardinality(String), Date32, Array(Date32), Array(Date32), Int64, DateTime64(6, \'Europe/Bucharest\'), Date32))') AS asked_by_source
            FROM
            (
                SELECT
                    business_id, source, place,
                    min(day) AS first_asked_day,
                    max(day) AS last_asked_day,
                    -- Of a day that is not over, proven says that the figures were equal when they were asked for.
                    arraySort(groupArrayIf(day, worst <= 2 AND daily > 0 AND day < toDate32(now('Europe/Bucharest')))) AS good,
                    arraySort(groupArrayIf(day, worst = 5)) AS bad,
                    count() AS days_asked,
                    max(day_asked_at) AS source_asked_at
                FROM
                (
                    SELECT
                        business_id, source, toString(location_id) AS place, day,
                        max(transform(verdict, ['proven', 'healed', 'explained', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4, 5], 4)::UInt8) AS worst,
                        countIf(subject = 'daily') AS daily,
                        max(proofs.asked_at) AS day_asked_at
                    FROM {{table "proofs"}} AS proofs FINAL
                    WHERE verdict != 'withdrawn'
                    GROUP BY business_id, source, place, day
                )
                GROUP BY business_id, source, place
            )
            GROUP BY business_id, place

            UNION ALL

            SELECT business_id, place, toNullable(min(business_day)) AS order_day, CAST([], 'Array(Tuple(LowCardinality(String), Date32, Array(Date32), Array(Date32), Int64, DateTime64(6, \'Europe/Bucharest\'), Date32))') AS asked_by_source
            FROM
            (
                SELECT business_id, toString(location_id) AS order_place, business_day
                FROM {{table "sales_orders"}}
                WHERE _deleted = 0 OR location_id != ''
            )
            ARRAY JOIN ['', order_place] AS place
            GROUP BY business_id, place
        )
        GROUP BY business_id, place
    )
    ARRAY JOIN asked_by_sources AS asked
)
{{plain}}
COMMENT 'One row per source and location, and one (location_id null) for all locations of the source together: until which day it is proven, and which days differ';


-- Rules that api.md states, each with its sentence. It does not say that payments add up to
-- the total, nor that refunds are bounded by it: a negative total is no contradiction.

CREATE OR REPLACE VIEW {{view "data_quality"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order that contradicts the rule; it is kept as the service gave it',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `business_day` Date32 COMMENT 'Day the order counts on, as the service says',
    `rule` String COMMENT 'net_sales_of_total: net sales = total - tip - deposit; net_sales_of_items: net sales = items - discount + delivery fee; items: the totals of the lines add up to items; item_total: a line is quantity x unit price x (1 - discount) + extras x quantity, to within 0.01; business_day: it is the Bucharest day of created_at',
    `stated` String COMMENT 'What the order says, RON or a day; of lines, the sum of those that contradict',
    `computed` String COMMENT 'What the rule gives, RON or a day',
    `item_ids` Array(String) COMMENT 'Lines that contradict the rule item_total',
    `fetched_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service answered with the order'
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
        FROM {{table "sales_orders"}} FINAL
        SETTINGS optimize_move_to_prewhere_if_final = 1
    )
)
ARRAY JOIN contradictions AS found
{{plain}}
COMMENT 'One row per restaurant, order and rule that it contradicts: live orders whose figures do not add up as the API says';

