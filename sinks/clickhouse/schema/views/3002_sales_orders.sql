CREATE OR REPLACE VIEW `{{db}}`.`sales_orders`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `id` String COMMENT 'Order id',
    `number` Nullable(String) COMMENT 'Order number on receipts',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `table_id` Nullable(String) COMMENT 'Table',
    `business_day` Date32 COMMENT 'Day the order counts on: day in {{zone}} of created_at',
    `created_at` DateTime64(6, '{{zone}}') COMMENT 'When the order was opened',
    `updated_at` DateTime64(6, '{{zone}}') COMMENT 'When the order last changed; of one that is removed, before its removal. Sync goes by it',
    `paid_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the order was paid',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `minutes_to_payment` Nullable(Float64) COMMENT 'Minutes from created_at to paid_at, one decimal; null while it is not known when it was paid',
    `line_count` Int64 COMMENT 'Number of lines',
    `item_count` Decimal(38, 10) COMMENT 'Sum of the quantities of the lines, kilograms and pieces together: how large an order was, roughly. line_count counts lines',
    `discount_percent` Nullable(Float64) COMMENT 'Order-level discount as a percentage of the lines (totals_discount of totals_items), two decimals; null when the lines are worth nothing',
    `has_refund` Bool COMMENT 'Whether anything of the order was refunded',
    `refunds_total` Decimal(38, 2) COMMENT 'Refunds of the order on all days together, RON',
    `totals_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON',
    `totals_discount` Decimal(18, 2) COMMENT 'Order-level discount, RON',
    `totals_delivery_fee` Decimal(18, 2) COMMENT 'Delivery fee, RON',
    `totals_tip` Decimal(18, 2) COMMENT 'Tip, RON; not part of net sales',
    `totals_deposit` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales',
    `totals_total` Decimal(18, 2) COMMENT 'What the customer paid, RON',
    `totals_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - deposit; refunds are not subtracted',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row'
)
AS SELECT
    business_id, business_name, id, `number`, `location_id`, `channel`, `type`, `table_id`, `business_day`, `created_at`, `updated_at`, `paid_at`, location_name,
    if(isNull(paid_at), NULL, round(dateDiff('second', created_at, assumeNotNull(paid_at)) / 60, 1)) AS minutes_to_payment,
    toInt64(length(`items.id`)) AS line_count,
    arraySum(`items.quantity`)::Decimal(38, 10) AS item_count,
    if(totals_items = 0, NULL, round(toFloat64(totals_discount) * 100 / toFloat64(totals_items), 2)) AS discount_percent,
    toBool(notEmpty(`refunds.amount`)) AS has_refund,
    arraySum(`refunds.amount`)::Decimal(38, 2) AS refunds_total,
    `totals_items`, `totals_discount`, `totals_delivery_fee`, `totals_tip`, `totals_deposit`, `totals_total`, `totals_net_sales`, `_source`, `_fetched_at`
FROM
(
    SELECT business_id, id, `number`, `location_id`, `channel`, `type`, `table_id`, `business_day`, `created_at`, `updated_at`, `paid_at`, `totals_items`, `totals_discount`, `totals_delivery_fee`, `totals_tip`, `totals_deposit`, `totals_total`, `totals_net_sales`, `_source`, `_fetched_at`, `items.id`, `items.quantity`, `refunds.amount`
    FROM `{{raw}}`.`sales_orders` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1
) AS orders
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
COMMENT 'One row per restaurant and order: paid orders that are not cancelled. Lines, payments and refunds have views of their own. A ratio of two amounts is cut at two decimals: divide toFloat64(amount)';
