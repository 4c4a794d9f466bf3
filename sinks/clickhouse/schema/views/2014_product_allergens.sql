CREATE OR REPLACE VIEW `{{db}}`.`product_allergens`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known',
    `position` Int64 COMMENT 'Place among the allergens of the product, from 1',
    `code` String COMMENT 'Allergen code: joins with allergens on (business_id, id)',
    `name` String COMMENT 'Name of the allergen in Romanian, as the product has it'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    toInt64(line) AS position, codes[line] AS code, names[line] AS name
FROM
(
    SELECT
        business_id, id AS product_id, products.name AS product_name, location_id, location_name, category_name, `allergens.code` AS codes, `allergens.name` AS names
    FROM `{{db}}`.`products` AS products
)
ARRAY JOIN arrayEnumerate(codes) AS line
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, product and allergen that it contains';
