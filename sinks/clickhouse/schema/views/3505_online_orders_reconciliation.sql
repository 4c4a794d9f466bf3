CREATE OR REPLACE VIEW `{{db}}`.`online_orders_reconciliation`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` LowCardinality(String) COMMENT 'Location',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `date` Date32 COMMENT 'Day in {{zone}}',
    `online_orders` Int64 COMMENT 'Accepted, ready and completed online orders of the day, test orders left out',
    `online_total` Decimal(38, 2) COMMENT 'What their customers pay, RON',
    `sales_orders` Int64 COMMENT 'Paid orders of channel direct of the day',
    `sales_total` Decimal(38, 2) COMMENT 'What their customers paid, RON',
    `difference` Decimal(38, 2) COMMENT 'online_total - sales_total, RON: the API promises no order for an order, so that a difference is no fault by itself'
)
AS SELECT
    business_id, location_id, location_name, date,
    toInt64(sum(online)) AS online_orders, sum(online_value)::Decimal(38, 2) AS online_total,
    toInt64(sum(sold)) AS sales_orders, sum(sold_value)::Decimal(38, 2) AS sales_total,
    online_total - sales_total AS difference
FROM
(
    SELECT business_id, location_id, toDate32(created_at) AS date, 1 AS online, totals_total AS online_value, 0 AS sold, 0::Decimal(18, 2) AS sold_value
    FROM `{{raw}}`.`online_orders` FINAL
    WHERE status IN ('accepted', 'ready', 'completed') AND NOT test
    UNION ALL
    SELECT business_id, location_id, business_day AS date, 0 AS online, 0::Decimal(18, 2) AS online_value, 1 AS sold, totals_total AS sold_value
    FROM `{{raw}}`.`sales_orders` FINAL
    WHERE channel = 'direct'
) AS both
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
GROUP BY business_id, location_id, location_name, date
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and day with online orders or sales of channel direct: the two side by side';
