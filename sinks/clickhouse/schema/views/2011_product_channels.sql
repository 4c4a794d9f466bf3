CREATE OR REPLACE VIEW `{{db}}`.`product_channels`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known',
    `channel` LowCardinality(String) COMMENT 'Sales channel, as orders name it: direct (online ordering, which the API calls online here), platform_a, platform_b',
    `enabled` Bool COMMENT 'Whether the product is sold there',
    `price` Decimal(18, 2) COMMENT 'Price there, RON'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    if(name_of = 'online', 'direct', name_of) AS channel, enabled, channels_price[name_of] AS price
FROM (SELECT business_id, id AS product_id, name AS product_name, location_id, location_name, category_name, channels_enabled, channels_price FROM `{{db}}`.`products`)
ARRAY JOIN mapKeys(channels_enabled) AS name_of, mapValues(channels_enabled) AS enabled
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, product and sales channel';
