CREATE OR REPLACE VIEW `{{db}}`.`menu_categories`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` String COMMENT 'Location whose menu it is',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `position` Int64 COMMENT 'Place of the category on the menu',
    `category_id` String COMMENT 'Category of the menu',
    `category_name` String COMMENT 'Name of the category, as the menu has it',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `products` Int64 COMMENT 'Products of the category, sold out or not; menu_products has a row for each'
)
AS SELECT business_id, location_id, location_name, position, category_id, category_name, image_url, products
FROM
(
    SELECT
        business_id, id AS location_id, toInt64(length(of_category)) AS products,
        position, category_id, category_name, image_url
    FROM
    (
        SELECT business_id, id, `categories.id`, `categories.name`, `categories.image_url`, `categories.position`, `categories.products_id`
        FROM `{{raw}}`.`menus` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1
    )
    ARRAY JOIN `categories.id` AS category_id, `categories.name` AS category_name, `categories.image_url` AS image_url, `categories.position` AS position, `categories.products_id` AS of_category
) AS rows
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and category of its orderable menu, those without products included';
