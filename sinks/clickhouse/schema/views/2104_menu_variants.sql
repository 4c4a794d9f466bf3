CREATE OR REPLACE VIEW `{{db}}`.`menu_variants`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` String COMMENT 'Location whose menu it is',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `category_name` String COMMENT 'Name of the category, as the menu has it',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product, as the menu has it',
    `available` Bool COMMENT 'false: the product is temporarily sold out',
    `position` Int64 COMMENT 'Place among the variants of the product, from 1',
    `id` String COMMENT 'Variant id; it changes when the variant is renamed',
    `name` String COMMENT 'Name of the variant',
    `price` Decimal(18, 2) COMMENT 'Online price of one unit, RON'
)
AS SELECT
    business_id, location_id, location_name, category_name, product_id, product_name, available, toInt64(line) AS position, id, name, price
FROM
(
    SELECT
        business_id, location_id, location_name, category_name, product_id, menu_products.name AS product_name, available,
        `variants.id` AS ids, `variants.name` AS names, `variants.price` AS prices
    FROM `{{db}}`.`menu_products` AS menu_products
)
ARRAY JOIN arrayEnumerate(ids) AS line, ids AS id, names AS name, prices AS price
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location, category, product and variant offered online now';
