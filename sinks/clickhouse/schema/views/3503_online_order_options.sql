CREATE OR REPLACE VIEW `{{db}}`.`online_order_options`{{on_cluster}}
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
    `item_position` Int64 COMMENT 'Place of the line in the order, from 1: joins with online_order_items on (business_id, order_id, position)',
    `product_id` String COMMENT 'Product of the line',
    `item_name` String COMMENT 'Name of the product as it was ordered',
    `item_quantity` Int64 COMMENT 'Quantity of the line',
    `position` Int64 COMMENT 'Place of the option in the line, from 1',
    `id` String COMMENT 'Option id',
    `name` String COMMENT 'Name of the option',
    `quantity` Int64 COMMENT 'Quantity, per unit of the product',
    `unit_price` Decimal(18, 2) COMMENT 'Price of one, RON',
    `amount` Decimal(38, 2) COMMENT 'What the option sold for, RON: unit price x quantity x quantity of the line'
)
AS SELECT
    business_id, order_id, external_id, business_day, created_at, status, test, type, location_id, location_name,
    item_position, product_id, item_name, item_quantity, position, id, name, quantity, unit_price, amount
FROM
(
    SELECT
        business_id, order_id, external_id, business_day, created_at, status, test, type, location_id, item_position, product_id, item_name, item_quantity,
        toInt64(option) AS position, id, name, quantity, unit_price, (item_quantity * quantity * unit_price)::Decimal(38, 2) AS amount
    FROM
    (
        SELECT
            business_id, id AS order_id, external_id, toDate32(created_at) AS business_day, created_at, status, test, type, location_id,
            toInt64(line) AS item_position, `items.product_id`[line] AS product_id, `items.name`[line] AS item_name, `items.quantity`[line] AS item_quantity,
            `items.options_id`[line] AS ids, `items.options_name`[line] AS names, `items.options_quantity`[line] AS quantities, `items.options_unit_price`[line] AS prices
        FROM (SELECT business_id, id, external_id, created_at, status, test, type, location_id, `items.product_id`, `items.variant_id`, `items.name`, `items.variant_name`, `items.quantity`, `items.unit_price`, `items.options_id`, `items.options_name`, `items.options_quantity`, `items.options_unit_price`, `items.notes`, `items.deposit`, `items.total` FROM `{{raw}}`.`online_orders` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1)
        ARRAY JOIN arrayFilter(n -> notEmpty(`items.options_id`[n]), arrayEnumerate(`items.options_id`)) AS line
    )
    ARRAY JOIN arrayEnumerate(ids) AS option, ids AS id, names AS name, quantities AS quantity, prices AS unit_price
) AS lines
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, online order, line and option';
