-- What can be ordered online now: the menus, unfolded.

CREATE OR REPLACE VIEW {{view "menus"}}
(
{{shown "business" "business_name" "menu" "location_name" "origin" "raw"}}
)
AS SELECT
    business_id, business_name, {{names "menu" "location_name" "origin" "raw"}}
FROM (SELECT business_id, {{names "menu" "origin" "raw"}} FROM {{table "menus"}} FINAL {{quick}}) AS rows
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and location: its orderable menu. While online ordering is off it stays as it was';

CREATE OR REPLACE VIEW {{view "menu_categories"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location whose menu it is',
{{shown "location_name"}},
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
        FROM {{table "menus"}} FINAL {{quick}}
    )
    ARRAY JOIN `categories.id` AS category_id, `categories.name` AS category_name, `categories.image_url` AS image_url, `categories.position` AS position, `categories.products_id` AS of_category
) AS rows
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
{{joined}}
COMMENT 'One row per restaurant, location and category of its orderable menu, those without products included';

CREATE OR REPLACE VIEW {{view "menu_products"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location whose menu it is',
{{shown "location_name"}},
    `category_position` Int64 COMMENT 'Place of the category on the menu',
    `position` Int64 COMMENT 'Place of the product in its category',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
{{shown "menu_offer" "menu_product_rest"}}
)
AS SELECT
    business_id, location_id, location_name, category_position, position, product_id, {{names "menu_offer" "menu_product_rest"}}
FROM
(
    SELECT business_id, id AS location_id, category_position, position, product_id, {{names "menu_offer" "menu_product_rest"}}
    FROM ({{template "menu_dishes" (printf "(SELECT * FROM %s FINAL %s)" (table "menus") (quick))}})
    WHERE product_id != ''
) AS rows
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
{{joined}}
COMMENT 'One row per restaurant, location, category and product offered online now, sold out or not';

CREATE OR REPLACE VIEW {{view "menu_variants"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location whose menu it is',
{{shown "location_name"}},
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
    FROM {{name "menu_products"}} AS menu_products
)
ARRAY JOIN arrayEnumerate(ids) AS line, ids AS id, names AS name, prices AS price
{{plain}}
COMMENT 'One row per restaurant, location, category, product and variant offered online now';

CREATE OR REPLACE VIEW {{view "menu_options"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location whose menu it is',
{{shown "location_name"}},
    `category_name` String COMMENT 'Name of the category, as the menu has it',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product, as the menu has it',
    `group_position` Int64 COMMENT 'Place of the group among the groups of extras, from 1',
    `group_id` String COMMENT 'Group of extras',
    `group_name` String COMMENT 'Name of the group',
    `group_min` Int64 COMMENT 'How many options must be chosen',
    `group_max` Nullable(Int64) COMMENT 'How many options may be chosen; null is no limit',
    `group_required` Bool COMMENT 'Whether a choice is required',
    `position` Nullable(Int64) COMMENT 'Place of the option in its group, from 1; null, as the rest of the option, of a group without options',
    `id` Nullable(String) COMMENT 'Option id; it changes when the option is renamed',
    `name` Nullable(String) COMMENT 'Name of the option',
    `price` Nullable(Decimal(18, 2)) COMMENT 'Price, RON, added per unit of the product'
)
AS SELECT
    business_id, location_id, location_name, category_name, product_id, product_name,
    group_position, group_id, group_name, group_min, group_max, group_required, nullIf(toInt64(line), 0) AS position,
    if(line = 0, NULL, ids[line]) AS id, if(line = 0, NULL, names[line]) AS name, if(line = 0, NULL, prices[line]) AS price
FROM
(
    SELECT
        business_id, location_id, location_name, category_name, product_id, product_name,
        toInt64(group_line) AS group_position, group_id, group_name, group_min, group_max, group_required, ids, names, prices
    FROM
    (
        SELECT
            business_id, location_id, location_name, category_name, product_id, menu_products.name AS product_name,
            `extra_groups.id` AS group_ids, `extra_groups.name` AS group_names, `extra_groups.min` AS group_mins, `extra_groups.max` AS group_maxs,
            `extra_groups.required` AS group_requireds, `extra_groups.options_id` AS options_ids, `extra_groups.options_name` AS options_names, `extra_groups.options_price` AS options_prices
        FROM {{name "menu_products"}} AS menu_products
    )
    ARRAY JOIN
        arrayEnumerate(group_ids) AS group_line, group_ids AS group_id, group_names AS group_name, group_mins AS group_min, group_maxs AS group_max, group_requireds AS group_required,
        options_ids AS ids, options_names AS names, options_prices AS prices
)
LEFT ARRAY JOIN arrayEnumerate(ids) AS line
{{plain}}
COMMENT 'One row per restaurant, location, category, product, group of extras and option offered online now; a group without options has one row';
