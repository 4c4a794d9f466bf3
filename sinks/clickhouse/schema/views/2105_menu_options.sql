CREATE OR REPLACE VIEW `{{db}}`.`menu_options`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` String COMMENT 'Location whose menu it is',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
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
        FROM `{{db}}`.`menu_products` AS menu_products
    )
    ARRAY JOIN
        arrayEnumerate(group_ids) AS group_line, group_ids AS group_id, group_names AS group_name, group_mins AS group_min, group_maxs AS group_max, group_requireds AS group_required,
        options_ids AS ids, options_names AS names, options_prices AS prices
)
LEFT ARRAY JOIN arrayEnumerate(ids) AS line
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location, category, product, group of extras and option offered online now; a group without options has one row';
