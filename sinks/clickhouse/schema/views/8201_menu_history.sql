-- What was offered online, and since and until when, read from the versions of the menus.

CREATE OR REPLACE VIEW `{{db}}`.`menu_history`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` String COMMENT 'Location whose menu it is',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `valid_from` DateTime64(6, '{{zone}}') COMMENT 'Since when it was offered so: the change as the service dates it, or when Larder first saw it',
    `valid_to` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Until when: it was changed, taken off the menu, or the menu was removed; null while it is offered so',
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
    `extra_groups.options_price` Array(Array(Decimal(18, 2))) COMMENT 'Groups of extras: price of each option, RON, added per unit of the product'
)
AS SELECT
    business_id, location_id, location_name, product_id, valid_from, valid_to, `category_id`, `category_name`, `name`, `price`, `deposit`, `available`, `variants.id`, `variants.name`, `variants.price`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`
FROM
(
    -- What a product begins to be and what it ceases to be take turns.
    SELECT
        business_id, id AS location_id, change.1 AS _state, change.2 AS began, changed_at AS valid_from,
        leadInFrame(toNullable(changed_at)) OVER (PARTITION BY business_id, id, change.1 ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to
    FROM
    (
        SELECT
            business_id, id, _version, changes,
            max(if(isNull(newest_before) OR dated_at > newest_before, dated_at, seen_at)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS changed_at
        FROM
        (
            -- Of both lists together, sorted, those have changed that are there once. Lambdas that
            -- look into another list would copy it for each of their elements, and blocks of
            -- thousands of lists take hundreds of megabytes.
            SELECT
                business_id, id, _version, dated_at, seen_at, newest_before,
                arraySort(side -> side.1, arrayConcat(arrayMap(state -> (state, true), _states), arrayMap(state -> (state, false), states_before))) AS both,
                arrayMap(side -> side.1, both) AS states,
                arrayFilter((side, left, right) -> side.1 != left AND side.1 != right, both, arrayPushFront(arrayPopBack(states), 0), arrayPushBack(arrayPopFront(states), 0)) AS changes
            FROM
            (
                SELECT
                    business_id, id, _version, _states, menu_versions.valid_from AS dated_at, seen_at,
                    max(toNullable(dated_at)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_before,
                    lagInFrame(_states) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS states_before
                FROM `{{raw}}`.`menu_versions` AS menu_versions FINAL
            )
            WHERE _states != states_before
            SETTINGS max_block_size = 256
        )
    )
    ARRAY JOIN changes AS change
) AS rows
-- What a lost part of menu_states held has no product.
LEFT ANY JOIN (SELECT business_id, id AS location_id, product_id, _state, `category_id`, `category_name`, `name`, `price`, `deposit`, `available`, `variants.id`, `variants.name`, `variants.price`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price` FROM `{{raw}}`.`menu_states`) AS states USING (business_id, location_id, _state)
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
WHERE began AND product_id != ''
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location, product and state in which Larder saw it on the menu, with when it was offered so';
