CREATE OR REPLACE VIEW `{{db}}`.`online_order_items`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order: joins with online_orders on (business_id, id)',
    `external_id` String COMMENT 'Id that the one who placed the order gave it; unique per key',
    `business_day` Date32 COMMENT 'Day the order was placed on: day in {{zone}} of created_at',
    `created_at` DateTime64(6, '{{zone}}') COMMENT 'When the service took the order in',
    `status` LowCardinality(String) COMMENT 'Status of the order now',
    `test` Bool COMMENT 'true: a test order',
    `type` LowCardinality(String) COMMENT 'pickup or delivery',
    `location_id` LowCardinality(String) COMMENT 'Location that it was placed at',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `position` Int64 COMMENT 'Place of the line in the order, from 1',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `name` String COMMENT 'Name of the product as it was ordered',
    `variant_id` Nullable(String) COMMENT 'Variant id; null when there is none',
    `variant_name` Nullable(String) COMMENT 'Name of the variant',
    `quantity` Int64 COMMENT 'Quantity',
    `unit_price` Decimal(18, 2) COMMENT 'Price of one unit without options, RON',
    `options_total` Decimal(38, 2) COMMENT 'Options of the whole line, RON',
    `deposit` Decimal(18, 2) COMMENT 'SGR deposit of the line, RON',
    `total` Decimal(18, 2) COMMENT 'Quantity x (unit price + options), RON; without the deposit',
    `notes` Nullable(String) COMMENT 'Notes for the kitchen; null unless personal_data is keep'
)
AS SELECT
    business_id, order_id, external_id, business_day, created_at, status, test, type, location_id, location_name,
    position, product_id, name, variant_id, variant_name, quantity, unit_price, options_total, deposit, total, notes
FROM
(
    SELECT
        business_id, id AS order_id, external_id, toDate32(created_at) AS business_day, created_at, status, test, type, location_id,
        -- Unfolded, these two are of LowCardinality, and nobody could ask for how long they are alone.
        toInt64(line) AS position, `items.product_id`[line] AS product_id, `items.name`[line] AS name, variant_id, variant_name, quantity, unit_price,
        (quantity * arraySum((number, price) -> number * price, option_quantities, option_prices))::Decimal(38, 2) AS options_total,
        deposit, total, notes
    FROM
    (
        SELECT business_id, id, external_id, created_at, status, test, type, location_id, `items.product_id`, `items.variant_id`, `items.name`, `items.variant_name`, `items.quantity`, `items.unit_price`, `items.options_id`, `items.options_name`, `items.options_quantity`, `items.options_unit_price`, `items.notes`, `items.deposit`, `items.total`
        FROM `{{raw}}`.`online_orders` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1
    )
    ARRAY JOIN
        arrayEnumerate(`items.product_id`) AS line, `items.variant_id` AS variant_id,
        `items.variant_name` AS variant_name, `items.quantity` AS quantity, `items.unit_price` AS unit_price,
        `items.options_quantity` AS option_quantities, `items.options_unit_price` AS option_prices,
        `items.deposit` AS deposit, `items.total` AS total, `items.notes` AS notes
) AS lines
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, online order and line';
