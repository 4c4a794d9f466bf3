CREATE OR REPLACE VIEW `{{db}}`.`days_compared_by_location`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` LowCardinality(String) COMMENT 'Location the totals are of',
    `date` Date32 COMMENT 'Day ({{zone}})',
    `verdict` LowCardinality(String) COMMENT 'As reconciliation has it',
    `mirror` Map(String, Decimal(38, 2)) COMMENT 'Figures from the mirrored orders, RON: orders (their number), net_sales, items, discounts, delivery_fees, tips, deposits, refunds, payments/<method>, by_type/<type>, by_channel/<channel>; and refunds/<method>, refunds made that day by method, which the service does not report',
    `service` Map(String, Decimal(38, 2)) COMMENT 'The same figures as the service reports them, without refunds/<method>; empty when it was not asked, and while the day runs'
)
AS WITH
    date >= toDate32(now('{{zone}}')) AS running,
    seen_at[1] > 0 AS mirrored, seen_at[2] > 0 AS asked, seen_at[3] > 0 AS begun, asked AND NOT running AS shown,
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
SELECT business_id, location_id, date, judgement AS verdict, mirror_side AS mirror, if(shown, service_side, map()) AS service
FROM (
    SELECT
        business_id, location_id, date,
        -- The figures of a side are in a map by name: as columns of their own, each would be planned anew on
        -- every level below, which took longer than reading the rows of a restaurant. Levels are few for the
        -- same reason, and the first day is one side more, with a row for each day since: a join takes longer
        -- to plan.
        sumMap(of_mirror) AS mirror_side, sumMap(of_service) AS service_side, maxForEach(seen) AS seen_at,
        groupArrayArray(found) AS findings, arrayFilter(finding -> finding.1 = arrayMax(findings.1), findings) AS worst,
        arrayFilter(name -> NOT startsWith(name, 'refunds/'), mapKeys(mapFilter((name, amount) -> amount != 0, mapSubtract(mirror_side, service_side)))) AS unequal
    FROM
    (
        SELECT business_id, location_id, date, of_mirror, map() AS of_service, seen, [] AS found
        FROM (
            WITH
                -- Orders count on their own day, refunds on theirs. Each has a read of its own, so that a filter on the
                -- day reaches the orders.
                sum(totals_net_sales) AS net_sales,
                sumMap(`payments.method`, `payments.amount`) AS by_method
            SELECT
                business_id, location_id, business_day AS date,
                CAST((
                    arrayConcat(['orders', 'net_sales', 'items', 'discounts', 'delivery_fees', 'tips', 'deposits', 'refunds', concat('by_type/', type), concat('by_channel/', channel)],
                        arrayMap(method -> concat('payments/', method), by_method.1)),
                    arrayConcat([toDecimal128(count(), 2), net_sales, sum(totals_items), sum(totals_discount),
                        sum(totals_delivery_fee), sum(totals_tip), sum(totals_deposit), toDecimal128(0, 2), net_sales, net_sales], by_method.2)), 'Map(String, Decimal(38, 2))') AS of_mirror,
                [max(_fetched_at)] AS seen
            FROM `{{raw}}`.`sales_orders` FINAL
            GROUP BY business_id, location_id, date, type, channel

            UNION ALL

            SELECT
                business_id, location_id, toDate32(refund_at) AS date,
                CAST((['refunds', concat('refunds/', method)], [sum(amount), sum(amount)]), 'Map(String, Decimal(38, 2))') AS of_mirror,
                [max(_fetched_at)] AS seen
            FROM `{{raw}}`.`sales_orders` FINAL
            ARRAY JOIN `refunds.at` AS refund_at, `refunds.method` AS method, `refunds.amount` AS amount
            GROUP BY business_id, location_id, date, method
        )

        UNION ALL

        SELECT
            business_id, assumeNotNull(totals.location_id) AS location_id, date, map() AS of_mirror,
            CAST((
                arrayConcat(['orders', 'net_sales', 'items', 'discounts', 'delivery_fees', 'tips', 'deposits', 'refunds'], arrayMap(name -> concat('payments/', name), mapKeys(payments)), arrayMap(name -> concat('by_type/', name), mapKeys(by_type)), arrayMap(name -> concat('by_channel/', name), mapKeys(by_channel))),
                arrayConcat([toDecimal128(orders, 2), net_sales, items, discounts, delivery_fees, tips, deposits, refunds], mapValues(payments), mapValues(by_type), mapValues(by_channel))),
                'Map(String, Decimal(38, 2))') AS of_service,
            [toDateTime64(0, 6, '{{zone}}'), _fetched_at] AS seen, [] AS found
        FROM `{{raw}}`.`sales_daily` AS totals FINAL
        WHERE isNotNull(totals.location_id)
        SETTINGS optimize_move_to_prewhere_if_final = 1
        UNION ALL

        -- Of several sources the worst verdict about all locations counts, and the newest about one.
        SELECT
            business_id, location_id, day AS date, map() AS of_mirror, map() AS of_service, [] AS seen,
            [argMax(
                (transform(verdict, ['proven', 'healed', 'explained', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4, 5], 4)::UInt8 AS rank, toString(verdict), asked_at,
                    `differences.figure`, `differences.service`, `differences.mirror`, order_ids, reason),
                asked_at)] AS found
        FROM `{{raw}}`.`proofs` FINAL
        WHERE verdict != 'withdrawn' AND proofs.location_id != ''
        GROUP BY business_id, location_id, day, subject

        UNION ALL

        -- No side is of a day a year from now.
        SELECT
            business_id, location_id, arrayJoin(arrayMap(day -> toDate32(day), range(toInt32(min(business_day)), toInt32(today()) + 366))) AS date,
            map() AS of_mirror, map() AS of_service, [toDateTime64(0, 6, '{{zone}}'), toDateTime64(0, 6, '{{zone}}'), toDateTime64(1, 6, '{{zone}}')] AS seen, [] AS found
        FROM `{{raw}}`.`sales_orders`
        WHERE _deleted = 0 OR sales_orders.location_id != ''
        GROUP BY business_id, location_id
    )
    GROUP BY business_id, location_id, date
) AS days
WHERE counts
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and day: reconciliation_by_location with the figures of a side in one map and without names, for adding up, which plans less';
