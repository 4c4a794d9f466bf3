-- The totals of a day side by side: as the service reports them, and as the mirrored orders
-- give them.

CREATE OR REPLACE VIEW `{{db}}`.`reconciliation`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `date` Date32 COMMENT 'Day ({{zone}})',
    `verdict` LowCardinality(String) COMMENT 'open: the day is not over. Of days that reconciliation has compared it is the worse of the daily totals and the products. proven: it is equal. healed: it differed and was repaired. explained: it differs by what the API leaves open (refunds of orders removed since, the rounding of the gross of products), and counts as proven. drift: it differs, and repairing did not help. unsettled: it kept changing while it was compared. unproven: it could not be compared, or has changed since. Of other days: equal or differs, when the service was asked after the last order came in; else unproven',
    `verdict_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Since when the verdict stands: when reconciliation asked the service; null when it has not asked',
    `verdict_differences.figure` Array(String) COMMENT 'Differences that reconciliation found, of a healed day those before: the figure, such as net_sales, payments/cash, or p/42: net of a product line',
    `verdict_differences.service` Array(String) COMMENT 'Differences that reconciliation found: the figure as the service reported it',
    `verdict_differences.mirror` Array(String) COMMENT 'Differences that reconciliation found: the figure from the mirrored orders',
    `verdict_order_ids` Array(String) COMMENT 'Orders involved in those differences, at most 100 of each comparison',
    `verdict_reason` String COMMENT 'Why it is explained, unproven or unsettled',
    `differences` Array(String) COMMENT 'Figures beside that differ now; no totals when the service was not asked',
    `service_orders` Nullable(Int64) COMMENT 'Paid orders that are not cancelled (as the service reports it; null when it was not asked)',
    `mirror_orders` Int64 COMMENT 'Paid orders that are not cancelled (from the mirrored orders)',
    `service_net_sales` Nullable(Decimal(18, 2)) COMMENT 'Net sales, RON: total - tip - SGR deposit = items - discounts + delivery fees; refunds are not subtracted (as the service reports it; null when it was not asked)',
    `mirror_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - SGR deposit = items - discounts + delivery fees; refunds are not subtracted (from the mirrored orders)',
    `service_items` Nullable(Decimal(18, 2)) COMMENT 'Line totals after line discounts, RON (as the service reports it; null when it was not asked)',
    `mirror_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON (from the mirrored orders)',
    `service_discounts` Nullable(Decimal(18, 2)) COMMENT 'Order-level discounts, RON (as the service reports it; null when it was not asked)',
    `mirror_discounts` Decimal(18, 2) COMMENT 'Order-level discounts, RON (from the mirrored orders)',
    `service_delivery_fees` Nullable(Decimal(18, 2)) COMMENT 'Delivery fees, RON (as the service reports it; null when it was not asked)',
    `mirror_delivery_fees` Decimal(18, 2) COMMENT 'Delivery fees, RON (from the mirrored orders)',
    `service_tips` Nullable(Decimal(18, 2)) COMMENT 'Tips, RON; not part of net sales. They are part of payments, but the service gives no method of a tip (as the service reports it; null when it was not asked)',
    `mirror_tips` Decimal(18, 2) COMMENT 'Tips, RON; not part of net sales. They are part of payments, but the service gives no method of a tip (from the mirrored orders)',
    `service_deposits` Nullable(Decimal(18, 2)) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales (as the service reports it; null when it was not asked)',
    `mirror_deposits` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales (from the mirrored orders)',
    `service_refunds` Nullable(Decimal(18, 2)) COMMENT 'Refunds made that day, RON; not subtracted from net sales (as the service reports it; null when it was not asked)',
    `mirror_refunds` Decimal(18, 2) COMMENT 'Refunds made that day, RON; not subtracted from net sales (from the mirrored orders)',
    `service_payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method (cash, card, card_at_counter, online, voucher, protocol, other), RON; tips and deposits included; protocol is on the house (as the service reports it; empty when it was not asked)',
    `mirror_payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method (cash, card, card_at_counter, online, voucher, protocol, other), RON; tips and deposits included; protocol is on the house (from the mirrored orders)',
    `service_by_type` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by order type (dine_in, takeaway, delivery), RON (as the service reports it; empty when it was not asked)',
    `mirror_by_type` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by order type (dine_in, takeaway, delivery), RON (from the mirrored orders)',
    `service_by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON (as the service reports it; empty when it was not asked)',
    `mirror_by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON (from the mirrored orders)',
    `service_fetched_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service reported the totals; null when it was not asked',
    `mirror_fetched_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service answered with the newest of the orders; null when there are none'
)
AS WITH
    date >= toDate32(now('{{zone}}')) AS running,
    seen_at[1] > 0 AS mirrored, seen_at[2] > 0 AS asked, seen_at[3] > 0 AS begun, asked AS shown,
    asked AND notEmpty(unequal) AS moved,
    if(empty(worst), NULL, arrayMin(worst.3)) AS worst_at,
    multiIf(
        running, 'open',
        notEmpty(worst) AND NOT (moved AND (worst[1].2 IN ('proven', 'healed')
            OR worst[1].2 = 'explained' AND NOT hasAll(arrayFlatten(worst.4), unequal))), worst[1].2,
        NOT asked, 'unproven',
        empty(unequal), 'equal',
        seen_at[1] > greatest(seen_at[2], ifNull(worst_at, seen_at[2])), 'unproven',
        'differs') AS judgement,
    -- A day before the first order is left out, unless the service has something there.
    begun AND (mirrored OR asked OR notEmpty(worst)) OR moved OR judgement = 'drift' AS counts
SELECT
    business_id, business_name, date, judgement AS verdict, worst_at AS verdict_at,
    arrayFlatten(worst.4) AS `verdict_differences.figure`,
    arrayFlatten(worst.5) AS `verdict_differences.service`,
    arrayFlatten(worst.6) AS `verdict_differences.mirror`,
    arrayDistinct(arrayFlatten(worst.7)) AS verdict_order_ids,
    arrayStringConcat(arrayFilter(reason -> reason != '', worst.8), '; ') AS verdict_reason,
    if(shown, arrayFilter(figure -> arrayExists(name -> name = figure OR startsWith(name, concat(figure, '/')), unequal), ['orders', 'net_sales', 'items', 'discounts', 'delivery_fees', 'tips', 'deposits', 'refunds', 'payments', 'by_type', 'by_channel']), ['no totals']) AS differences,
    if(shown, service_side['orders'], NULL) AS service_orders, mirror_side['orders'] AS mirror_orders,
    if(shown, service_side['net_sales'], NULL) AS service_net_sales, mirror_side['net_sales'] AS mirror_net_sales,
    if(shown, service_side['items'], NULL) AS service_items, mirror_side['items'] AS mirror_items,
    if(shown, service_side['discounts'], NULL) AS service_discounts, mirror_side['discounts'] AS mirror_discounts,
    if(shown, service_side['delivery_fees'], NULL) AS service_delivery_fees, mirror_side['delivery_fees'] AS mirror_delivery_fees,
    if(shown, service_side['tips'], NULL) AS service_tips, mirror_side['tips'] AS mirror_tips,
    if(shown, service_side['deposits'], NULL) AS service_deposits, mirror_side['deposits'] AS mirror_deposits,
    if(shown, service_side['refunds'], NULL) AS service_refunds, mirror_side['refunds'] AS mirror_refunds,
    if(shown, mapApply((name, amount) -> (substring(name, length('payments/') + 1), amount), mapFilter((name, amount) -> startsWith(name, 'payments/') AND amount != 0, service_side)), map()) AS service_payments, mapApply((name, amount) -> (substring(name, length('payments/') + 1), amount), mapFilter((name, amount) -> startsWith(name, 'payments/') AND amount != 0, mirror_side)) AS mirror_payments,
    if(shown, mapApply((name, amount) -> (substring(name, length('by_type/') + 1), amount), mapFilter((name, amount) -> startsWith(name, 'by_type/') AND amount != 0, service_side)), map()) AS service_by_type, mapApply((name, amount) -> (substring(name, length('by_type/') + 1), amount), mapFilter((name, amount) -> startsWith(name, 'by_type/') AND amount != 0, mirror_side)) AS mirror_by_type,
    if(shown, mapApply((name, amount) -> (substring(name, length('by_channel/') + 1), amount), mapFilter((name, amount) -> startsWith(name, 'by_channel/') AND amount != 0, service_side)), map()) AS service_by_channel, mapApply((name, amount) -> (substring(name, length('by_channel/') + 1), amount), mapFilter((name, amount) -> startsWith(name, 'by_channel/') AND amount != 0, mirror_side)) AS mirror_by_channel,
    if(shown, seen_at[2], NULL) AS service_fetched_at,
    if(mirrored, seen_at[1], NULL) AS mirror_fetched_at
FROM (
    SELECT
        business_id, date,
        -- The figures of a side are in a map by name: as columns of their own, each would be planned anew on
        -- every level below, which took longer than reading the rows of a restaurant. Levels are few for the
        -- same reason, and the first day is one side more, with a row for each day since: a join takes longer
        -- to plan.
        sumMap(of_mirror) AS mirror_side, sumMap(of_service) AS service_side, maxForEach(seen) AS seen_at,
        groupArrayArray(found) AS findings, arrayFilter(finding -> finding.1 = arrayMax(findings.1), findings) AS worst,
        arrayFilter(name -> NOT startsWith(name, 'refunds/'), mapKeys(mapFilter((name, amount) -> amount != 0, mapSubtract(mirror_side, service_side)))) AS unequal
    FROM
    (
        SELECT business_id, date, of_mirror, map() AS of_service, seen, [] AS found
        FROM (
            WITH
                -- Orders count on their own day, refunds on theirs. Each has a read of its own, so that a filter on the
                -- day reaches the orders.
                sum(totals_net_sales) AS net_sales,
                sumMap(`payments.method`, `payments.amount`) AS by_method
            SELECT
                business_id, business_day AS date,
                CAST((
                    arrayConcat(['orders', 'net_sales', 'items', 'discounts', 'delivery_fees', 'tips', 'deposits', 'refunds', concat('by_type/', type), concat('by_channel/', channel)],
                        arrayMap(method -> concat('payments/', method), by_method.1)),
                    arrayConcat([toDecimal128(count(), 2), net_sales, sum(totals_items), sum(totals_discount),
                        sum(totals_delivery_fee), sum(totals_tip), sum(totals_deposit), toDecimal128(0, 2), net_sales, net_sales], by_method.2)), 'Map(String, Decimal(38, 2))') AS of_mirror,
                [max(_fetched_at)] AS seen
            FROM `{{raw}}`.`sales_orders` FINAL
            GROUP BY business_id, date, type, channel

            UNION ALL

            SELECT
                business_id, toDate32(refund_at) AS date,
                CAST((['refunds', concat('refunds/', method)], [sum(amount), sum(amount)]), 'Map(String, Decimal(38, 2))') AS of_mirror,
                [max(_fetched_at)] AS seen
            FROM `{{raw}}`.`sales_orders` FINAL
            ARRAY JOIN `refunds.at` AS refund_at, `refunds.method` AS method, `refunds.amount` AS amount
            GROUP BY business_id, date, method
        )

        UNION ALL

        SELECT
            business_id, date, map() AS of_mirror,
            CAST((
                arrayConcat(['orders', 'net_sales', 'items', 'discounts', 'delivery_fees', 'tips', 'deposits', 'refunds'], arrayMap(name -> concat('payments/', name), mapKeys(payments)), arrayMap(name -> concat('by_type/', name), mapKeys(by_type)), arrayMap(name -> concat('by_channel/', name), mapKeys(by_channel))),
                arrayConcat([toDecimal128(orders, 2), net_sales, items, discounts, delivery_fees, tips, deposits, refunds], mapValues(payments), mapValues(by_type), mapValues(by_channel))),
                'Map(String, Decimal(38, 2))') AS of_service,
            [toDateTime64(0, 6, '{{zone}}'), _fetched_at] AS seen, [] AS found
        FROM `{{raw}}`.`sales_daily` AS totals FINAL
        WHERE isNull(totals.location_id)
        SETTINGS optimize_move_to_prewhere_if_final = 1
        UNION ALL

        -- Of several sources the worst verdict about all locations counts, and the newest about one.
        SELECT
            business_id, day AS date, map() AS of_mirror, map() AS of_service, [] AS seen,
            [argMax(
                (transform(verdict, ['proven', 'healed', 'explained', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4, 5], 4)::UInt8 AS rank, toString(verdict), asked_at,
                    `differences.figure`, `differences.service`, `differences.mirror`, order_ids, reason),
                (rank, asked_at))] AS found
        FROM `{{raw}}`.`proofs` FINAL
        WHERE verdict != 'withdrawn' AND proofs.location_id = ''
        GROUP BY business_id, day, subject

        UNION ALL

        -- No side is of a day a year from now.
        SELECT
            business_id, arrayJoin(arrayMap(day -> toDate32(day), range(toInt32(min(business_day)), toInt32(today()) + 366))) AS date,
            map() AS of_mirror, map() AS of_service, [toDateTime64(0, 6, '{{zone}}'), toDateTime64(0, 6, '{{zone}}'), toDateTime64(1, 6, '{{zone}}')] AS seen, [] AS found
        FROM `{{raw}}`.`sales_orders`
        WHERE _deleted = 0 OR sales_orders.location_id != ''
        GROUP BY business_id
    )
    GROUP BY business_id, date
) AS days
LEFT ANY JOIN (
    SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
    FROM `{{raw}}`.`api_keys` AS api_keys
    GROUP BY business_id
) AS businesses USING (business_id)
WHERE counts
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and day, all locations together: the service totals and those of the mirrored orders side by side, with the verdict';
