CREATE OR REPLACE VIEW `{{db}}`.`product_variants`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known',
    `position` Int64 COMMENT 'Place among the variants of the product, from 1',
    `id` String COMMENT 'Variant id; it changes when the variant is renamed',
    `name` String COMMENT 'Name of the variant',
    `price` Decimal(18, 2) COMMENT 'Point-of-sale price of one unit, RON',
    `price_delta` Decimal(18, 2) COMMENT 'Difference from the price of the product, RON; may be negative'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    toInt64(line) AS position, `variants.id`[line] AS id, `variants.name`[line] AS name,
    `variants.price`[line] AS price, `variants.price_delta`[line] AS price_delta
FROM
(
    SELECT
        business_id, id AS product_id, name AS product_name, location_id, location_name, category_name,
        `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`
    FROM `{{db}}`.`products`
)
ARRAY JOIN arrayEnumerate(`variants.id`) AS line
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, product and variant';
