CREATE OR REPLACE VIEW `{{db}}`.`sales_refunds`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `order_id` String COMMENT 'Order: joins with sales_orders on (business_id, id)',
    `order_number` Nullable(String) COMMENT 'Order number on receipts',
    `business_day` Date32 COMMENT 'Day the order counts on: day in {{zone}} of created_at',
    `created_at` DateTime64(6, '{{zone}}') COMMENT 'When the order was opened',
    `paid_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the order was paid',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `position` Int64 COMMENT 'Place of the refund in the order, from 1',
    `amount` Decimal(18, 2) COMMENT 'Amount, RON',
    `method` LowCardinality(String) COMMENT 'Method',
    `at` DateTime64(6, '{{zone}}') COMMENT 'When it was refunded',
    `refund_day` Date32 COMMENT 'Day the refund counts on: day in {{zone}} of at, whatever the day of the order',
    `days_after_order` Int64 COMMENT 'Days from the day of the order to that of the refund',
    `item_id` Nullable(String) COMMENT 'Line refunded; null when it is not one line',
    `item_name` Nullable(String) COMMENT 'Name on the receipt of the line refunded; null when it is not one line, or not a line of the order',
    `product_id` Nullable(String) COMMENT 'Product of the line refunded'
)
AS SELECT
    business_id, business_name, `order_id`, `order_number`, `business_day`, `created_at`, `paid_at`, `location_id`, `location_name`, `channel`, `type`,
    position, amount, method, at, refund_day, days_after_order, item_id, item_name, product_id
FROM (
    WITH if(isNull(item_id), 0, indexOf(`items.id`, assumeNotNull(item_id))) AS item
    SELECT
        business_id, id AS order_id, number AS order_number, business_day, created_at, paid_at, location_id, channel, type,
        toInt64(line) AS position, `refunds.amount`[line] AS amount, `refunds.method`[line] AS method, `refunds.at`[line] AS at,
        toDate32(at) AS refund_day, dateDiff('day', business_day, refund_day) AS days_after_order,
        `refunds.item_id`[line] AS item_id,
        if(item = 0, NULL, `items.name`[item]) AS item_name,
        if(item = 0, NULL, `items.product_id`[item]) AS product_id
    FROM `{{raw}}`.`sales_orders` FINAL
    ARRAY JOIN arrayEnumerate(`refunds.amount`) AS line
    SETTINGS optimize_move_to_prewhere_if_final = 1
) AS lines
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
LEFT ANY JOIN (
    SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
    FROM `{{raw}}`.`api_keys` AS api_keys
    GROUP BY business_id
) AS businesses USING (business_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, order and refund. Net sales are before refunds; a refund counts on refund_day, not on the day of its order';
