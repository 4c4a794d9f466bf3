CREATE OR REPLACE VIEW `{{db}}`.`menu_products`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` String COMMENT 'Location whose menu it is',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `category_position` Int64 COMMENT 'Place of the category on the menu',
    `position` Int64 COMMENT 'Place of the product in its category',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `category_id` String COMMENT 'Category of the menu',
    `category_name` String COMMENT 'Name of the category, as the menu has it',
    `name` String COMMENT 'Name of the product, as the menu has it',
    `price` Decimal(18, 2) COMMENT 'Online price of one unit without extras, RON, VAT included; with variants that of the cheapest',
    `deposit` Nullable(Decimal(18, 2)) COMMENT 'SGR (deposit-return) charge per unit, RON, added to the total',
    `available` Bool COMMENT 'false: temporarily sold out, ordering it fails',
    `variants.id` Array(String) COMMENT 'Variants: ids; an id changes when the variant is renamed. With variants one must be chosen',
    `variants.name` Array(String) COMMENT 'Variants: names',
    `variants.price` Array(Decimal(18, 2)) COMMENT 'Variants: online price of one unit, RON',
    `extra_groups.id` Array(String) COMMENT 'Groups of extras: ids',
    `extra_groups.name` Array(String) COMMENT 'Groups of extras: names',
    `extra_groups.min` Array(Int64) COMMENT 'Groups of extras: how many options must be chosen',
    `extra_groups.max` Array(Nullable(Int64)) COMMENT 'Groups of extras: how many options may be chosen; null is no limit',
    `extra_groups.required` Array(Bool) COMMENT 'Groups of extras: whether a choice is required',
    `extra_groups.options_id` Array(Array(String)) COMMENT 'Groups of extras: ids of the options of each group',
    `extra_groups.options_name` Array(Array(String)) COMMENT 'Groups of extras: names of the options of each group',
    `extra_groups.options_price` Array(Array(Decimal(18, 2))) COMMENT 'Groups of extras: price of each option, RON, added per unit of the product',
    `description` Nullable(String) COMMENT 'Description',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `vat_rate` Nullable(Decimal(38, 10)) COMMENT 'VAT, percent, included in prices; informative',
    `allergens.code` Array(String) COMMENT 'Allergens: codes',
    `allergens.name` Array(String) COMMENT 'Allergens: names in Romanian',
    `diets` Array(String) COMMENT 'Diets the product suits, such as vegetarian, vegan',
    `calories` Nullable(Int64) COMMENT 'Calories, kcal; null when not set',
    `prep_minutes` Nullable(Int64) COMMENT 'Preparation time, minutes; null when not set'
)
AS SELECT
    business_id, location_id, location_name, category_position, position, product_id, `category_id`, `category_name`, `name`, `price`, `deposit`, `available`, `variants.id`, `variants.name`, `variants.price`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, `description`, `image_url`, `vat_rate`, `allergens.code`, `allergens.name`, `diets`, `calories`, `prep_minutes`
FROM
(
    SELECT business_id, id AS location_id, category_position, position, product_id, `category_id`, `category_name`, `name`, `price`, `deposit`, `available`, `variants.id`, `variants.name`, `variants.price`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, `description`, `image_url`, `vat_rate`, `allergens.code`, `allergens.name`, `diets`, `calories`, `prep_minutes`
    FROM (
        SELECT
            business_id, id, _source, _version, _fetched_at, _deleted, _deleted_at, updated_at,
            product_id, category_id, category_name, category_image_url, category_position, name, price, deposit, available,
            variants_id AS `variants.id`, variants_name AS `variants.name`, variants_price AS `variants.price`,
            groups_id AS `extra_groups.id`, groups_name AS `extra_groups.name`, groups_min AS `extra_groups.min`, groups_max AS `extra_groups.max`,
            groups_required AS `extra_groups.required`, options_id AS `extra_groups.options_id`, options_name AS `extra_groups.options_name`, options_price AS `extra_groups.options_price`,
            description, image_url, vat_rate, allergens_code AS `allergens.code`, allergens_name AS `allergens.name`, diets, nullIf(kcal, 0) AS calories, prep_minutes, position
        FROM
        (
            SELECT
                business_id, id, _source, _version, _fetched_at, _deleted, _deleted_at, updated_at, category_id, category_name, category_image_url, category_position,
                ids, names, prices, deposits, availables, variants_ids, variants_names, variants_prices,
                groups_ids, groups_names, groups_mins, groups_maxs, groups_requireds, options_ids, options_names, options_prices,
                descriptions, image_urls, vat_rates, allergens_codes, allergens_names, diets_of, calories_of, prep_minutes_of, positions
            FROM (SELECT * FROM `{{raw}}`.`menus` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1)
            -- One row for each product of a menu; a menu without products is a row without a product. The lists of
            -- the fields of a product are as long as the list of products, since each product has all of them. Were
            -- one shorter, an error would keep every row from being written, hence arrayResize.
            LEFT ARRAY JOIN
                `categories.id` AS category_id, `categories.name` AS category_name, `categories.image_url` AS category_image_url, `categories.position` AS category_position,
                `categories.products_id` AS ids, `categories.products_name` AS names, `categories.products_price` AS prices, `categories.products_deposit` AS deposits, `categories.products_available` AS availables,
                `categories.products_variants_id` AS variants_ids, `categories.products_variants_name` AS variants_names, `categories.products_variants_price` AS variants_prices,
                `categories.products_extra_groups_id` AS groups_ids, `categories.products_extra_groups_name` AS groups_names, `categories.products_extra_groups_min` AS groups_mins,
                `categories.products_extra_groups_max` AS groups_maxs, `categories.products_extra_groups_required` AS groups_requireds,
                `categories.products_extra_groups_options_id` AS options_ids, `categories.products_extra_groups_options_name` AS options_names, `categories.products_extra_groups_options_price` AS options_prices,
                `categories.products_description` AS descriptions, `categories.products_image_url` AS image_urls, `categories.products_vat_rate` AS vat_rates,
                `categories.products_allergens_code` AS allergens_codes, `categories.products_allergens_name` AS allergens_names, `categories.products_diets` AS diets_of,
                `categories.products_calories` AS calories_of, `categories.products_prep_minutes` AS prep_minutes_of, `categories.products_position` AS positions
        ) AS menu_categories
        LEFT ARRAY JOIN
            ids AS product_id, arrayResize(names, length(ids)) AS name, arrayResize(prices, length(ids)) AS price, arrayResize(deposits, length(ids)) AS deposit, arrayResize(availables, length(ids)) AS available,
            arrayResize(variants_ids, length(ids)) AS variants_id, arrayResize(variants_names, length(ids)) AS variants_name, arrayResize(variants_prices, length(ids)) AS variants_price,
            arrayResize(groups_ids, length(ids)) AS groups_id, arrayResize(groups_names, length(ids)) AS groups_name, arrayResize(groups_mins, length(ids)) AS groups_min, arrayResize(groups_maxs, length(ids)) AS groups_max, arrayResize(groups_requireds, length(ids)) AS groups_required,
            arrayResize(options_ids, length(ids)) AS options_id, arrayResize(options_names, length(ids)) AS options_name, arrayResize(options_prices, length(ids)) AS options_price,
            arrayResize(descriptions, length(ids)) AS description, arrayResize(image_urls, length(ids)) AS image_url, arrayResize(vat_rates, length(ids)) AS vat_rate, arrayResize(allergens_codes, length(ids)) AS allergens_code, arrayResize(allergens_names, length(ids)) AS allergens_name,
            arrayResize(diets_of, length(ids)) AS diets, arrayResize(calories_of, length(ids)) AS kcal, arrayResize(prep_minutes_of, length(ids)) AS prep_minutes, arrayResize(positions, length(ids)) AS position
    )
    WHERE product_id != ''
) AS rows
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location, category and product offered online now, sold out or not';
