CREATE OR REPLACE VIEW `{{db}}`.`sales_quantities`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order: joins with sales_orders on (business_id, id)',
    `business_day` Date32 COMMENT 'Day the order counts on: day in {{zone}} of created_at',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `position` Int64 COMMENT 'Place of the line in the order, from 1',
    `product_id` Nullable(String) COMMENT 'Product: joins with products on (business_id, id); null when the line has no catalogue product',
    `variant_id` Nullable(String) COMMENT 'Variant id; null when there is none',
    `quantity` Decimal(38, 10) COMMENT 'Quantity: kilograms of a line sold by weight, else pieces. Do not add the two up: pieces and weight_kg can be',
    `is_weighed` Bool COMMENT 'Whether the line was sold by weight',
    `weight_kg` Nullable(Decimal(38, 10)) COMMENT 'Weight, kg, of a line sold by weight; null of any other',
    `pieces` Nullable(Decimal(38, 10)) COMMENT 'Pieces sold; null of a line sold by weight'
)
AS SELECT
    business_id, order_id, business_day, location_id, channel, position,
    -- Of LowCardinality, nobody could ask for those that are null and nothing else.
    CAST(of_product, 'Nullable(String)') AS product_id,
    variant_id, quantity, toBool(isNotNull(weight_kg)) AS is_weighed, weight_kg, if(is_weighed, NULL, quantity) AS pieces
FROM
(
    SELECT business_id, id AS order_id, business_day, location_id, channel, `items.product_id`, `items.variant_id`, `items.quantity`, `items.weight_kg`
    FROM `{{raw}}`.`sales_orders` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1
)
-- All are unfolded, and read: so they are few.
ARRAY JOIN arrayEnumerate(`items.quantity`) AS position, `items.product_id` AS of_product, `items.variant_id` AS variant_id, `items.quantity` AS quantity, `items.weight_kg` AS weight_kg
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, order and line, by ids and without amounts. quantity mixes kilograms and pieces: add up pieces and weight_kg. Plans less than sales_lines';
