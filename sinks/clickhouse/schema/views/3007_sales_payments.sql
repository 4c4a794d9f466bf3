CREATE OR REPLACE VIEW `{{db}}`.`sales_payments`{{on_cluster}}
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
    `position` Int64 COMMENT 'Place of the payment in the order, from 1',
    `method` LowCardinality(String) COMMENT 'Method: cash, card, card_at_counter, online, voucher, protocol (on the house), other',
    `amount` Decimal(18, 2) COMMENT 'Amount, RON; tip and deposit included',
    `tip` Nullable(Decimal(18, 2)) COMMENT 'Part of the amount that is the tip of the order, RON; null when the order has a tip and several payments: the service gives no method of a tip. totals_tip of sales_orders has every tip',
    `at` DateTime64(6, '{{zone}}') COMMENT 'When it was paid'
)
AS SELECT
    business_id, business_name, order_id, order_number, business_day, created_at, paid_at,
    location_id, location_name, channel, type,
    position, method, amount, tip, at
FROM
(
    SELECT
        business_id, id AS order_id, number AS order_number, business_day, created_at, paid_at, location_id, channel, type,
        toInt64(line) AS position, `payments.method`[line] AS method, `payments.amount`[line] AS amount,
        if(totals_tip = 0 OR length(`payments.method`) = 1, totals_tip, NULL) AS tip, `payments.at`[line] AS at
    FROM `{{raw}}`.`sales_orders` FINAL
    ARRAY JOIN arrayEnumerate(`payments.method`) AS line
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
COMMENT 'One row per restaurant, order and payment. Amounts include tips and deposits, so they add up to more than net sales, and method protocol is no money';
