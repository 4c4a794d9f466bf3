CREATE OR REPLACE VIEW `{{db}}`.`product_options`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known',
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
    business_id, product_id, product_name, location_id, location_name, category_name,
    toInt64(line) AS group_position, `extra_groups.id`[line] AS group_id, `extra_groups.name`[line] AS group_name,
    `extra_groups.min`[line] AS group_min, `extra_groups.max`[line] AS group_max, `extra_groups.required`[line] AS group_required,
    nullIf(toInt64(choice), 0) AS position, if(choice = 0, NULL, `extra_groups.options_id`[line][choice]) AS id,
    if(choice = 0, NULL, `extra_groups.options_name`[line][choice]) AS name, if(choice = 0, NULL, `extra_groups.options_price`[line][choice]) AS price
FROM
(
    SELECT
        business_id, id AS product_id, name AS product_name, location_id, location_name, category_name, line,
        `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`,
        `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`
    FROM `{{db}}`.`products`
    ARRAY JOIN arrayEnumerate(`extra_groups.id`) AS line
)
LEFT ARRAY JOIN arrayEnumerate(`extra_groups.options_id`[line]) AS choice
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, product, group of extras and option; a group without options has one row';
