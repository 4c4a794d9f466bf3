CREATE OR REPLACE VIEW `{{db}}`.`days_mirrored_by_location`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `date` Date32 COMMENT 'Day ({{zone}}): orders on their own, refunds on the day they were made',
    `mirror` Map(String, Decimal(38, 2)) COMMENT 'Figures from the mirrored orders, RON: orders (their number), net_sales, items, discounts, delivery_fees, tips, deposits, refunds, payments/<method>, by_type/<type>, by_channel/<channel>; and refunds/<method>, refunds made that day by method, which the service does not report'
)
AS SELECT business_id, location_id, date, sumMap(of_mirror) AS mirror
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
GROUP BY business_id, location_id, date
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and day: the figures of the mirrored orders in one map, for adding up, which plans less than sales_daily_computed_by_location';
