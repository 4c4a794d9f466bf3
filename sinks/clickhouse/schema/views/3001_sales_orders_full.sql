-- Orders, what they hold, and orders that stopped being sales.

CREATE OR REPLACE VIEW `{{db}}`.`sales_orders_full`{{on_cluster}}
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
    `items.id` Array(String) COMMENT 'Lines: id',
    `items.product_id` Array(LowCardinality(Nullable(String))) COMMENT 'Lines: product id; null when the line has no catalogue product',
    `items.name` Array(LowCardinality(String)) COMMENT 'Lines: name on the receipt',
    `items.variant_id` Array(Nullable(String)) COMMENT 'Lines: variant id; null when there is none',
    `items.variant_name` Array(Nullable(String)) COMMENT 'Lines: variant name',
    `items.quantity` Array(Decimal(38, 10)) COMMENT 'Lines: quantity',
    `items.weight_kg` Array(Nullable(Decimal(38, 10))) COMMENT 'Lines: weight, kg, of a product sold by weight',
    `items.price_per_kg` Array(Nullable(Decimal(18, 2))) COMMENT 'Lines: price per kilogram, RON, of a product sold by weight',
    `items.unit_price` Array(Decimal(18, 2)) COMMENT 'Lines: price of one unit, RON',
    `items.extras_name` Array(Array(LowCardinality(String))) COMMENT 'Lines: names of the extras of each line',
    `items.extras_price` Array(Array(Decimal(18, 2))) COMMENT 'Lines: price of each extra per unit, RON',
    `items.discount_percent` Array(Decimal(38, 10)) COMMENT 'Lines: line discount, percent',
    `items.vat_rate` Array(Nullable(Decimal(38, 10))) COMMENT 'Lines: VAT, percent, included in prices',
    `items.total` Array(Decimal(18, 2)) COMMENT 'Lines: quantity x unit price x (1 - discount) + extras x quantity, RON',
    `payments.method` Array(LowCardinality(String)) COMMENT 'Payments: method (cash, card, card_at_counter, online, voucher, protocol, other)',
    `payments.amount` Array(Decimal(18, 2)) COMMENT 'Payments: amount, RON',
    `payments.at` Array(DateTime64(6, '{{zone}}')) COMMENT 'Payments: when',
    `refunds.amount` Array(Decimal(18, 2)) COMMENT 'Refunds: amount, RON',
    `refunds.method` Array(LowCardinality(String)) COMMENT 'Refunds: method',
    `refunds.at` Array(DateTime64(6, '{{zone}}')) COMMENT 'Refunds: when; a refund counts on its own day in {{zone}}',
    `refunds.item_id` Array(Nullable(String)) COMMENT 'Refunds: line refunded; null when it is not one line',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, business_name, id, `number`, `location_id`, `channel`, `type`, `table_id`, `business_day`, `created_at`, `updated_at`, `paid_at`, location_name,
    if(isNull(paid_at), NULL, round(dateDiff('second', created_at, assumeNotNull(paid_at)) / 60, 1)) AS minutes_to_payment,
    toInt64(length(`items.id`)) AS line_count,
    arraySum(`items.quantity`)::Decimal(38, 10) AS item_count,
    if(totals_items = 0, NULL, round(toFloat64(totals_discount) * 100 / toFloat64(totals_items), 2)) AS discount_percent,
    toBool(notEmpty(`refunds.amount`)) AS has_refund,
    arraySum(`refunds.amount`)::Decimal(38, 2) AS refunds_total,
    `totals_items`, `totals_discount`, `totals_delivery_fee`, `totals_tip`, `totals_deposit`, `totals_total`, `totals_net_sales`, `items.id`, `items.product_id`, `items.name`, `items.variant_id`, `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`, `items.unit_price`, `items.extras_name`, `items.extras_price`, `items.discount_percent`, `items.vat_rate`, `items.total`, `payments.method`, `payments.amount`, `payments.at`, `refunds.amount`, `refunds.method`, `refunds.at`, `refunds.item_id`, `_source`, `_fetched_at`, `_raw`
FROM
(
    SELECT business_id, id, `number`, `location_id`, `channel`, `type`, `table_id`, `business_day`, `created_at`, `updated_at`, `paid_at`, `totals_items`, `totals_discount`, `totals_delivery_fee`, `totals_tip`, `totals_deposit`, `totals_total`, `totals_net_sales`, `items.id`, `items.product_id`, `items.name`, `items.variant_id`, `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`, `items.unit_price`, `items.extras_name`, `items.extras_price`, `items.discount_percent`, `items.vat_rate`, `items.total`, `payments.method`, `payments.amount`, `payments.at`, `refunds.amount`, `refunds.method`, `refunds.at`, `refunds.item_id`, `_source`, `_fetched_at`, `_raw`
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
COMMENT 'One row per restaurant and order, with its lines, payments and refunds as arrays and its JSON; sales_orders is the same without them';
