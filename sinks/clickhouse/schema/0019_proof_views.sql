-- What reconciliation proved, for dashboards, and rows that contradict the rules of api.md.

CREATE OR REPLACE VIEW {{view "reconciliation"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the totals are of; null is all locations together',
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
    `verdict` String COMMENT 'What reconciliation found, of the daily totals and of the products the worse: proven; healed (it differed and was repaired); drift (it differs, and repairing did not help); unsettled (still moving); unproven (could not be asked or compared). Of several sources the last asked counts for a location, the worst for all together. Where none has asked, the figures beside are compared: equal; differs; or unproven: the service has not been asked about the day, or orders of it came in after it was asked',
    `verdict_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Since when the verdict stands: when reconciliation asked the service (UTC); null when it has not asked',
    `verdict_differences.figure` Array(String) COMMENT 'Differences that reconciliation found, of a healed day those before: the figure, such as net_sales, payments/cash, or p/42: net of a product line',
    `verdict_differences.service` Array(String) COMMENT 'Differences that reconciliation found: the figure as the service reported it',
    `verdict_differences.mirror` Array(String) COMMENT 'Differences that reconciliation found: the figure from the mirrored orders',
    `verdict_order_ids` Array(String) COMMENT 'Orders involved in those differences, at most 100 of each comparison',
    `verdict_reason` String COMMENT 'Why it is unproven or unsettled',
    `differences` Array(String) COMMENT 'Figures beside that differ',
    `service_orders` Int64 COMMENT 'Paid orders that are not cancelled (as the service reports it)',
    `mirror_orders` Int64 COMMENT 'Paid orders that are not cancelled (from the mirrored orders)',
    `service_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - SGR deposit = items - discounts + delivery fees; refunds are not subtracted (as the service reports it)',
    `mirror_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - SGR deposit = items - discounts + delivery fees; refunds are not subtracted (from the mirrored orders)',
    `service_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON (as the service reports it)',
    `mirror_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON (from the mirrored orders)',
    `service_discounts` Decimal(18, 2) COMMENT 'Order-level discounts, RON (as the service reports it)',
    `mirror_discounts` Decimal(18, 2) COMMENT 'Order-level discounts, RON (from the mirrored orders)',
    `service_delivery_fees` Decimal(18, 2) COMMENT 'Delivery fees, RON (as the service reports it)',
    `mirror_delivery_fees` Decimal(18, 2) COMMENT 'Delivery fees, RON (from the mirrored orders)',
    `service_tips` Decimal(18, 2) COMMENT 'Tips, RON; not part of net sales (as the service reports it)',
    `mirror_tips` Decimal(18, 2) COMMENT 'Tips, RON; not part of net sales (from the mirrored orders)',
    `service_deposits` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales (as the service reports it)',
    `mirror_deposits` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales (from the mirrored orders)',
    `service_refunds` Decimal(18, 2) COMMENT 'Refunds made that day, RON; not subtracted from net sales (as the service reports it)',
    `mirror_refunds` Decimal(18, 2) COMMENT 'Refunds made that day, RON; not subtracted from net sales (from the mirrored orders)',
    `service_payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method (cash, card, card_at_counter, online, voucher, protocol, other), RON; tips and deposits included; protocol is on the house (as the service reports it)',
    `mirror_payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method (cash, card, card_at_counter, online, voucher, protocol, other), RON; tips and deposits included; protocol is on the house (from the mirrored orders)',
    `service_by_type` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by order type (dine_in, takeaway, delivery), RON (as the service reports it)',
    `mirror_by_type` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by order type (dine_in, takeaway, delivery), RON (from the mirrored orders)',
    `service_by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON (as the service reports it)',
    `mirror_by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON (from the mirrored orders)',
    `service_fetched_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service reported the totals (UTC); null when it was not asked',
    `mirror_fetched_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service answered with the newest of the orders (UTC); null when there are none'
)
AS SELECT
    business_id, location_id, date,
    multiIf(notEmpty(verdicts), worst[1].2, empty(differences), 'equal', isNull(service_fetched_at) OR mirror_fetched_at > service_fetched_at, 'unproven', 'differs') AS verdict,
    if(empty(worst), NULL, arrayMin(arrayMap(found -> found.3, worst))) AS verdict_at,
    arrayFlatten(arrayMap(found -> found.4, worst)) AS `verdict_differences.figure`,
    arrayFlatten(arrayMap(found -> found.5, worst)) AS `verdict_differences.service`,
    arrayFlatten(arrayMap(found -> found.6, worst)) AS `verdict_differences.mirror`,
    arrayDistinct(arrayFlatten(arrayMap(found -> found.7, worst))) AS verdict_order_ids,
    arrayStringConcat(arrayFilter(reason -> reason != '', arrayMap(found -> found.8, worst)), '; ') AS verdict_reason,
    arrayFilter(figure -> figure != '', [
        if(service_orders = mirror_orders, '', 'orders'), if(service_net_sales = mirror_net_sales, '', 'net_sales'), if(service_items = mirror_items, '', 'items'), if(service_discounts = mirror_discounts, '', 'discounts'),
        if(service_delivery_fees = mirror_delivery_fees, '', 'delivery_fees'), if(service_tips = mirror_tips, '', 'tips'), if(service_deposits = mirror_deposits, '', 'deposits'), if(service_refunds = mirror_refunds, '', 'refunds'),
        if(mapSort(mapFilter((k, v) -> v != 0, service_payments)) = mapSort(mapFilter((k, v) -> v != 0, mirror_payments)), '', 'payments'),
        if(mapSort(mapFilter((k, v) -> v != 0, service_by_type)) = mapSort(mapFilter((k, v) -> v != 0, mirror_by_type)), '', 'by_type'),
        if(mapSort(mapFilter((k, v) -> v != 0, service_by_channel)) = mapSort(mapFilter((k, v) -> v != 0, mirror_by_channel)), '', 'by_channel'),
        if(isNull(service_fetched_at), 'no totals', '')
    ]) AS differences,
    service_orders, mirror_orders, service_net_sales, mirror_net_sales, service_items,
    mirror_items, service_discounts, mirror_discounts, service_delivery_fees,
    mirror_delivery_fees, service_tips, mirror_tips, service_deposits, mirror_deposits,
    service_refunds, mirror_refunds, service_payments, mirror_payments, service_by_type,
    mirror_by_type, service_by_channel, mirror_by_channel, service_fetched_at, mirror_fetched_at
FROM
(
    SELECT
        business_id, location_id, date,
        toInt64(sum(side_service_orders)) AS service_orders, toInt64(sum(side_mirror_orders)) AS mirror_orders,
        toDecimal64(sum(side_service_net_sales), 2) AS service_net_sales, toDecimal64(sum(side_mirror_net_sales), 2) AS mirror_net_sales,
        toDecimal64(sum(side_service_items), 2) AS service_items, toDecimal64(sum(side_mirror_items), 2) AS mirror_items,
        toDecimal64(sum(side_service_discounts), 2) AS service_discounts, toDecimal64(sum(side_mirror_discounts), 2) AS mirror_discounts,
        toDecimal64(sum(side_service_delivery_fees), 2) AS service_delivery_fees, toDecimal64(sum(side_mirror_delivery_fees), 2) AS mirror_delivery_fees,
        toDecimal64(sum(side_service_tips), 2) AS service_tips, toDecimal64(sum(side_mirror_tips), 2) AS mirror_tips,
        toDecimal64(sum(side_service_deposits), 2) AS service_deposits, toDecimal64(sum(side_mirror_deposits), 2) AS mirror_deposits,
        toDecimal64(sum(side_service_refunds), 2) AS service_refunds, toDecimal64(sum(side_mirror_refunds), 2) AS mirror_refunds,
        CAST(sumMap(side_service_payments), 'Map(LowCardinality(String), Decimal(18, 2))') AS service_payments, CAST(sumMap(side_mirror_payments), 'Map(LowCardinality(String), Decimal(18, 2))') AS mirror_payments,
        CAST(sumMap(side_service_by_type), 'Map(LowCardinality(String), Decimal(18, 2))') AS service_by_type, CAST(sumMap(side_mirror_by_type), 'Map(LowCardinality(String), Decimal(18, 2))') AS mirror_by_type,
        CAST(sumMap(side_service_by_channel), 'Map(LowCardinality(String), Decimal(18, 2))') AS service_by_channel, CAST(sumMap(side_mirror_by_channel), 'Map(LowCardinality(String), Decimal(18, 2))') AS mirror_by_channel,
        max(side_service_fetched_at) AS service_fetched_at,
        max(side_mirror_fetched_at) AS mirror_fetched_at,
        groupArrayArray(side_verdicts) AS verdicts,
        arrayFilter(found -> found.1 = arrayMax(arrayMap(other -> other.1, verdicts)), verdicts) AS worst
    FROM
    (
        SELECT
            business_id, location_id, date,
            orders AS side_service_orders, 0 AS side_mirror_orders,
            net_sales AS side_service_net_sales, toDecimal64(0, 2) AS side_mirror_net_sales,
            items AS side_service_items, toDecimal64(0, 2) AS side_mirror_items,
            discounts AS side_service_discounts, toDecimal64(0, 2) AS side_mirror_discounts,
            delivery_fees AS side_service_delivery_fees,
            toDecimal64(0, 2) AS side_mirror_delivery_fees, tips AS side_service_tips,
            toDecimal64(0, 2) AS side_mirror_tips, deposits AS side_service_deposits,
            toDecimal64(0, 2) AS side_mirror_deposits, refunds AS side_service_refunds,
            toDecimal64(0, 2) AS side_mirror_refunds, payments AS side_service_payments,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_payments,
            by_type AS side_service_by_type,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_by_type,
            by_channel AS side_service_by_channel,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_by_channel,
            1 AS side_service, 0 AS side_mirror,
            toNullable(_fetched_at) AS side_service_fetched_at, NULL AS side_mirror_fetched_at,
            CAST([], 'Array(Tuple(UInt8, String, DateTime64(6, \'UTC\'), Array(String), Array(String), Array(String), Array(String), String))') AS side_verdicts
        FROM {{table "sales_daily"}} FINAL

        UNION ALL

        SELECT
            business_id, location_id, date,
            0 AS side_service_orders, orders AS side_mirror_orders,
            toDecimal64(0, 2) AS side_service_net_sales, net_sales AS side_mirror_net_sales,
            toDecimal64(0, 2) AS side_service_items, items AS side_mirror_items,
            toDecimal64(0, 2) AS side_service_discounts, discounts AS side_mirror_discounts,
            toDecimal64(0, 2) AS side_service_delivery_fees,
            delivery_fees AS side_mirror_delivery_fees, toDecimal64(0, 2) AS side_service_tips,
            tips AS side_mirror_tips, toDecimal64(0, 2) AS side_service_deposits,
            deposits AS side_mirror_deposits, toDecimal64(0, 2) AS side_service_refunds,
            refunds AS side_mirror_refunds,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_payments,
            payments AS side_mirror_payments,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_by_type,
            by_type AS side_mirror_by_type,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_by_channel,
            by_channel AS side_mirror_by_channel, 0 AS side_service, 1 AS side_mirror,
            NULL AS side_service_fetched_at, toNullable(_fetched_at) AS side_mirror_fetched_at,
            CAST([], 'Array(Tuple(UInt8, String, DateTime64(6, \'UTC\'), Array(String), Array(String), Array(String), Array(String), String))') AS side_verdicts
        FROM {{name "sales_daily_computed"}}

        UNION ALL

        SELECT
            business_id, CAST(nullIf(proof_location_id, ''), 'LowCardinality(Nullable(String))') AS location_id, date,
            0 AS side_service_orders, 0 AS side_mirror_orders,
            toDecimal64(0, 2) AS side_service_net_sales, toDecimal64(0, 2) AS side_mirror_net_sales,
            toDecimal64(0, 2) AS side_service_items, toDecimal64(0, 2) AS side_mirror_items,
            toDecimal64(0, 2) AS side_service_discounts, toDecimal64(0, 2) AS side_mirror_discounts,
            toDecimal64(0, 2) AS side_service_delivery_fees, toDecimal64(0, 2) AS side_mirror_delivery_fees,
            toDecimal64(0, 2) AS side_service_tips, toDecimal64(0, 2) AS side_mirror_tips,
            toDecimal64(0, 2) AS side_service_deposits, toDecimal64(0, 2) AS side_mirror_deposits,
            toDecimal64(0, 2) AS side_service_refunds, toDecimal64(0, 2) AS side_mirror_refunds,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_payments,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_payments,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_by_type,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_by_type,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_by_channel,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_by_channel,
            0 AS side_service, 0 AS side_mirror,
            NULL AS side_service_fetched_at, NULL AS side_mirror_fetched_at,
            CAST(groupArray(found), 'Array(Tuple(UInt8, String, DateTime64(6, \'UTC\'), Array(String), Array(String), Array(String), Array(String), String))') AS side_verdicts
        FROM
        (
            SELECT
                business_id, location_id AS proof_location_id, day AS date,
                argMax(
                    (rank, verdict, asked_at, `differences.figure`, `differences.service`, `differences.mirror`, order_ids, reason),
                    (if(location_id = '', rank, 0), asked_at)) AS found
            FROM
            (
                SELECT
                    business_id, location_id, day, subject, verdict, asked_at,
                    `differences.figure`, `differences.service`, `differences.mirror`, order_ids, reason,
                    transform(verdict, ['proven', 'healed', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4], 3)::UInt8 AS rank
                FROM {{table "proofs"}} FINAL
                WHERE verdict != 'withdrawn'
            )
            GROUP BY business_id, location_id, day, subject
        )
        GROUP BY business_id, proof_location_id, date
    )
    GROUP BY business_id, location_id, date
)
COMMENT 'The totals of a day side by side: as the service reports them, and as the mirrored orders give them';

CREATE OR REPLACE VIEW {{view "proof"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the proof is of; null is all locations of the source together',
    `first_day` Date32 COMMENT 'Day of the first mirrored order, removed ones included (Europe/Bucharest); where there is none, the first day that was asked about',
    `proven_from` Nullable(Date32) COMMENT 'Every day from this one up to proven_until is proven or healed: all of the mirror is when this is first_day (larder reconcile compares older days); null when proven_until is',
    `proven_until` Nullable(Date32) COMMENT 'Of the 92 days up to the last that was asked about, none up to this one differs or is open; null when the first of them does',
    `days_differing` Int64 COMMENT 'Number of days that differ now: drift that repairing did not help',
    `differing` Array(Date32) COMMENT 'The days that differ now',
    `days_asked` Int64 COMMENT 'Number of days that have a verdict',
    `asked_at` DateTime64(6, 'UTC') COMMENT 'When the service was last asked (UTC)'
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
                (source, first_asked_day, good, bad, days_asked, source_asked_at, last_asked_day)), 'Array(Tuple(LowCardinality(String), Date32, Array(Date32), Array(Date32), Int64, DateTime64(6, \'UTC\'), Date32))') AS asked_by_source
            FROM
            (
                SELECT
                    business_id, source, place,
                    min(day) AS first_asked_day,
                    max(day) AS last_asked_day,
                    arraySort(groupArrayIf(day, worst <= 1 AND daily > 0)) AS good,
                    arraySort(groupArrayIf(day, worst = 4)) AS bad,
                    count() AS days_asked,
                    max(day_asked_at) AS source_asked_at
                FROM
                (
                    SELECT
                        business_id, source, toString(location_id) AS place, day,
                        max(transform(verdict, ['proven', 'healed', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4], 3)::UInt8) AS worst,
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

            SELECT business_id, place, toNullable(min(business_day)) AS order_day, CAST([], 'Array(Tuple(LowCardinality(String), Date32, Array(Date32), Array(Date32), Int64, DateTime64(6, \'UTC\'), Date32))') AS asked_by_source
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
COMMENT 'Until which day each source and location is proven, and which days differ';

CREATE OR REPLACE VIEW {{view "data_quality"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order that contradicts the rule; it is kept as the service gave it',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `business_day` Date32 COMMENT 'Day the order counts on, as the service says',
    `rule` String COMMENT 'net_sales_of_total: net sales = total - tip - deposit; net_sales_of_items: net sales = items - discount + delivery fee; items: the totals of the lines add up to items; item_total: a line is quantity x unit price x (1 - discount) + extras x quantity, to within 0.01; payments: they add up to the total; refunds: they are not more than the total; business_day: it is the Bucharest day of created_at',
    `stated` String COMMENT 'What the order says, RON or a day; of lines, the sum of those that contradict',
    `computed` String COMMENT 'What the rule gives, RON or a day; of refunds, the most that they may be',
    `item_ids` Array(String) COMMENT 'Lines that contradict the rule item_total',
    `fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with the order (UTC)'
)
AS SELECT
    business_id, id AS order_id, location_id, business_day,
    found.1 AS rule, found.2 AS stated, found.3 AS computed, found.4 AS item_ids, order_fetched_at AS fetched_at
FROM
(
    SELECT
        business_id, id, location_id, business_day, order_fetched_at,
        arrayFilter(lines -> NOT lines.5, [
            ('net_sales_of_total', toDecimalString(net_sales, 2), toDecimalString(of_total, 2), no_ids, net_sales = of_total),
            ('net_sales_of_items', toDecimalString(net_sales, 2), toDecimalString(of_items, 2), no_ids, net_sales = of_items),
            ('items', toDecimalString(items, 2), toDecimalString(line_sum, 2), no_ids, items = line_sum),
            ('item_total', toDecimalString(wrong_stated, 2), toDecimalString(wrong_computed, 2), wrong_ids, empty(wrong)),
            ('payments', toDecimalString(paid, 2), toDecimalString(total, 2), no_ids, paid = total),
            ('refunds', toDecimalString(refunded, 2), toDecimalString(total, 2), no_ids, refunded <= total),
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
            toDecimal128(arraySum(`payments.amount`), 2) AS paid,
            toDecimal128(arraySum(`refunds.amount`), 2) AS refunded,
            toDate32(toTimeZone(created_at, 'Europe/Bucharest')) AS bucharest_day,
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
COMMENT 'Live sales orders whose figures contradict the rules of the API, one row per order and rule';
