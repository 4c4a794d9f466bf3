CREATE OR REPLACE VIEW `{{db}}`.`products_ever`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id) while it is in the catalogue',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `product_name` Nullable(String) COMMENT 'Name of the product, of a removed one the last',
    `category_id` Nullable(String) COMMENT 'Menu category of the product',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known',
    `available` Bool COMMENT 'Whether it can be ordered now; of a removed one false',
    `removed` Bool COMMENT 'Whether it was removed from the catalogue'
)
AS SELECT
    business_id, product_id, last.1 AS location_id, nullIf(last.2, '') AS product_name, category_id, category_name,
    toBool(last.4 AND last.5 = 0) AS available, toBool(last.5) AS removed
FROM
(
    SELECT
        business_id, id AS product_id, argMax((products.location_id, products.name, products.category_id, products.available, products._deleted), products._version) AS last,
        last.3 AS category_id
    FROM `{{raw}}`.`products` AS products
    GROUP BY business_id, id
) AS rows
LEFT ANY JOIN (
    SELECT business_id, id AS category_id, nullIf(argMax(name, _version), '') AS category_name
    FROM `{{raw}}`.`categories`
    GROUP BY business_id, id
) AS categories USING (business_id, category_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and product, removed ones included: how it is called and where it belongs. It joins with what was sold, whenever that was';
